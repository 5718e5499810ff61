"""One sweep through every kind of executor: the stores must be the same, bit for bit.

Run it: python bench/scripts/sweep_executors.py [--neurons 200] [--kinds local pool dask ray]

The layer of `sweep_layer.py` is swept here in one process, by two processes of loky (`local`), by a
ProcessPoolExecutor of two (`pool`), by a Dask Client whose scheduler and workers were started from
the command line (`dask`), and on a Ray cluster of two processors (`ray`, only on request). Prints
one JSON object: for each way how many records it has, how many of them are those of one process
(key and digest), and its seconds.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import closedform as cf
from closedform.basics.optional import require
from closedform.sweeping.execution.store import ResultStore

HERE = Path(__file__).parent
POINTS, EFFORT = 300, cf.Effort(terms=300, evaluations=0)


def digests(store: Path) -> set[tuple[str, str]]:
    """Keys and digests of all records."""
    return {(key, record["digest"]) for key, record in ResultStore(store).records()}


@contextmanager
def dask_client(folder: Path, port: int = 18911) -> Iterator[Any]:
    """A client of a scheduler and two workers, as a user starts them."""
    from distributed import Client
    from sweep_cluster import Cluster

    cluster = Cluster(folder, {**os.environ}, port)
    cluster.start()
    try:
        with Client(cluster.address, timeout=120) as client:
            client.wait_for_workers(2, timeout=300)
            yield client
    finally:
        cluster.stop()


@contextmanager
def ray_cluster() -> Iterator[None]:
    """Ray with two processors of this machine."""
    ray = require("ray", extra="ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        yield
    finally:
        ray.shutdown()


def main(neurons: int, kinds: list[str]) -> dict[str, Any]:
    """Sweep the layer in every way and compare."""
    from sweep_layer import NAMES, Units

    points = np.random.default_rng(0).uniform(-1, 1, (POINTS, len(NAMES)))
    folder = Path(tempfile.mkdtemp(prefix="executors-"))
    found: dict[str, Any] = {}

    def sweep(kind: str, executor: Any) -> None:
        began = time.perf_counter()
        cf.sweep(
            Units(neurons),
            points,
            "output",
            names=NAMES,
            effort=EFFORT,
            store=folder / kind,
            executor=executor,
        )
        made = digests(folder / kind)
        found[kind] = {"records": len(made), "seconds": round(time.perf_counter() - began, 1)}
        found[kind]["as in one process"] = len(made & digests(folder / "one process"))

    sweep("one process", None)
    if "local" in kinds:
        sweep("two local processes", 2)
    if "pool" in kinds:
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            sweep("ProcessPoolExecutor", pool)
    if "dask" in kinds:
        with dask_client(folder) as client:
            sweep("Dask Client", client)
    if "ray" in kinds:
        with ray_cluster():
            sweep("Ray", "ray")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--neurons", type=int, default=200)
    parser.add_argument("--kinds", nargs="+", default=["local", "pool", "dask"])
    chosen = parser.parse_args()
    sys.path.insert(0, str(HERE))
    print(json.dumps(main(chosen.neurons, chosen.kinds), indent=1))
