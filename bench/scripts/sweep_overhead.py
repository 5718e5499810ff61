"""What workers cost: throughput of two against one process on tasks of about a second, and
milliseconds for an empty task, by the clock and of the processor.

Run it: python bench/scripts/sweep_overhead.py [--tasks 16] [--empty 300] [--kinds here dask local
pool ray]

`here` is one process without workers; `dask` a scheduler and two workers from the command line;
`local` two processes by loky; `pool` a ProcessPoolExecutor of two; `ray`, only on request, a Ray
cluster of two processors. Tasks count to a fixed number; with `--tasks 0` only empty ones are run.
Ratios are taken within one run, for other work on the machine slows all of them; milliseconds of
the processor, of this process and of the scheduler (of Ray: its raylet and its control service),
depend on that work far less. Prints one JSON object.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import psutil

from closedform.sweeping.execution.coordinator import Coordinator, Tally
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.task import Limits, Task
from closedform.sweeping.execution.workers import open_workers

HERE = Path(__file__).parent
COUNT = 20_000_000


def count(payload: dict[str, Any]) -> dict[str, Any]:
    """Work for about a second."""
    total = 0
    for number in range(payload["count"]):
        total += number
    return {"status": "done", "total": total}


def run(executor: Any, counts: list[int]) -> float:
    """Seconds for tasks."""
    workers = open_workers(executor)
    with tempfile.TemporaryDirectory() as folder:
        tasks = [
            Task(f"k{place}", "sweep_overhead:count", {"count": number})
            for place, number in enumerate(counts)
        ]
        began = time.perf_counter()
        Coordinator(workers, ResultStore(folder), Limits(), Tally(len(tasks))).run(tasks)
        return time.perf_counter() - began


def measure(executor: Any, tasks: int, empty: int) -> dict[str, float]:
    """Throughput on long tasks, and milliseconds for an empty one; the first tasks start the
    workers and do not count.
    """
    run(executor, [0] * 8)
    own, theirs = time.process_time(), scheduler_seconds()
    nothing = run(executor, [0] * empty)
    own, theirs = time.process_time() - own, scheduler_seconds() - theirs
    found = {
        "empty_milliseconds": 1e3 * nothing / empty,
        "own_processor_milliseconds": 1e3 * own / empty,
        "scheduler_processor_milliseconds": 1e3 * theirs / empty,
    }
    if tasks:
        found["tasks_per_second"] = tasks / run(executor, [COUNT] * tasks)
    return found


def scheduler_seconds() -> float:
    """Processor seconds of the schedulers that were started here."""
    times = [
        process.cpu_times()
        for process in psutil.Process().children(recursive=True)
        if process.name() in ("raylet", "gcs_server")
        or "scheduler" in process.cmdline()  # python -m dask scheduler
    ]
    return sum(spent.user + spent.system for spent in times)


def main(tasks: int, empty: int, kinds: list[str]) -> dict[str, Any]:
    """Every kind of worker."""
    from sweep_executors import dask_client, ray_cluster

    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ["PYTHONPATH"] = path
    found: dict[str, Any] = {"here": measure(None, tasks, empty)} if "here" in kinds else {}
    if "dask" in kinds:
        with dask_client(Path(tempfile.mkdtemp(prefix="overhead-")), 18907) as client:
            found["dask"] = measure(client, tasks, empty)
    if "ray" in kinds:
        with ray_cluster():
            found["ray"] = measure("ray", tasks, empty)
    if "local" in kinds:
        from loky import get_reusable_executor

        found["local"] = measure(get_reusable_executor(2), tasks, empty)
    if "pool" in kinds:
        with ProcessPoolExecutor(2) as pool:
            found["pool"] = measure(pool, tasks, empty)
    if "here" in found and tasks:
        one = found["here"]["tasks_per_second"]
        found["ratios"] = {
            kind: found[kind]["tasks_per_second"] / one for kind in found if kind != "here"
        }
    return found | {"load": os.getloadavg()[0]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=16)
    parser.add_argument("--empty", type=int, default=300)
    parser.add_argument("--kinds", nargs="+", default=["here", "dask", "local", "pool"])
    chosen = parser.parse_args()
    sys.path.insert(0, str(HERE))
    print(json.dumps(main(chosen.tasks, chosen.empty, chosen.kinds), indent=1))
