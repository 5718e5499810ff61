"""Processor seconds of calls that take turns, so that a slow moment of the machine meets all of
them.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

R = TypeVar("R")


def timed(call: Callable[[], R]) -> tuple[float, R]:
    """Processor seconds of a call, and what it returned.

    Examples
    --------
    >>> seconds, total = timed(lambda: sum(range(10)))
    >>> total, seconds < 1
    (45, True)
    """
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def in_turn(calls: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The least processor seconds of each call: what else runs on the machine can only add some.

    Parameters
    ----------
    calls : mapping of str to callable
        Each is called once more before the first round, for what is done at a first call only.
    rounds : int

    Examples
    --------
    >>> list(in_turn({"one": list, "two": dict}, 3))
    ['one', 'two']
    """
    for call in calls.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            seconds[name].append(timed(call)[0])
    return {name: min(values) for name, values in seconds.items()}
