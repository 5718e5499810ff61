"""Readings in one long process, in threads, in processes, and in a notebook's kernel."""

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache

import numpy as np
import psutil

import closedform as cf
from closedform_bench.reliability.trial import TrialKind, each

WARM_UP = 20
"""Readings before the memory is measured: compiled code and caches are there then."""

MOST_GROWTH = 50
"""Megabytes that a process may grow by in all the readings after that."""


def read_small(seed: int) -> str:
    """One short reading; the same seed gives the same words."""
    points = np.random.default_rng(seed).uniform(-1, 1, (200, 2))
    slopes = np.stack([np.cos(points[:, 0]), 2 * points[:, 1]], axis=1)
    field = cf.GradientField.from_arrays(points, slopes, names=["x", "v"])
    budget = cf.Budget(evaluations=300)
    found = cf.interpret_field(field, engine="terms", budget=budget, rng=seed, progress=False)
    return f"{found.verdict.status} {found.concept}"


def _megabytes() -> float:
    return psutil.Process().memory_info().rss / 2**20


def _many(numbers: range) -> Iterator[str]:
    for number in range(WARM_UP):
        read_small(number)
    before = _megabytes()
    for number in numbers:
        read_small(number % 50)
        growth = _megabytes() - before
        yield "read" if growth < MOST_GROWTH else f"failed: the process grew by {growth:.0f} MB"


@cache
def _expected(seed: int) -> str:
    return read_small(seed)


def _in_threads(seeds: list[int]) -> list[str]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(read_small, seeds))


def _in_processes(method: str) -> Callable[[list[int]], list[str]]:
    def run(seeds: list[int]) -> list[str]:
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return list(pool.map(read_small, seeds))

    return run


def _in_a_kernel(seeds: list[int]) -> list[str]:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", extra_arguments=[])
    said: list[str] = []

    def hear(message: dict) -> None:
        said.append(message.get("content", {}).get("text", ""))

    try:
        code = f"from {__name__} import read_small\nfor s in {seeds}: print(read_small(s))"
        client.execute_interactive(code, output_hook=hear, timeout=300)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return "".join(said).splitlines()


WAYS: dict[str, Callable[[list[int]], list[str]]] = {
    "threads": _in_threads,
    "fork": _in_processes("fork"),
    "spawn": _in_processes("spawn"),
    "kernel": _in_a_kernel,
}


def _trial(number: int) -> str:
    way = list(WAYS)[number % len(WAYS)]
    if way == "fork" and not sys.platform.startswith("linux"):
        return "not on this system"
    seeds = [2 * number, 2 * number + 1]
    try:
        found = WAYS[way](seeds)
    except ModuleNotFoundError as error:
        return f"not run, {error.name} is missing"
    expected = [_expected(seed) for seed in seeds]
    return f"same in {way}" if found == expected else f"failed: {way} gave {found}, not {expected}"


READINGS = TrialKind(
    "readings",
    f"Readings in one process, which after the first {WARM_UP} grows by less than "
    f"{MOST_GROWTH} MB.",
    500,
    _many,
    in_one_go=True,
)
SURROUNDINGS = TrialKind(
    "surroundings",
    "Two readings at once in two threads, in a forked process, in a spawned one, and in a Jupyter "
    "kernel: the same answers as alone.",
    20,
    each(_trial),
)
