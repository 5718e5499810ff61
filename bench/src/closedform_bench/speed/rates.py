"""The machine's own rates, measured within the run: bytes, floating-point operations and
functions per second.
"""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from closedform.compiled import OPTIONS
from closedform.expressions.sweeps import BLOCK
from closedform.threads import single_threaded
from closedform_bench.speed.timing import timed

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "division": lambda x: 1.0 / x, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos,
    "exp": math.exp,
}  # fmt: skip
"""What costs more than an addition, each as a function of one number."""

IN_MEMORY, IN_CACHE = 2**23, 13 * BLOCK
"""Numbers in each of the three rows of a triad: far more than caches hold, and together as many as
a tree of 20 nodes works on.
"""

LOOP: dict[str, Any] = {name: value for name, value in OPTIONS.items() if name != "cache"}
"""How the kernel is compiled."""

_ROUNDS = 7
_MATRIX = 512


@dataclass(frozen=True, slots=True)
class Rates:
    """What the machine can do, on one core.

    Attributes
    ----------
    memory, cache : float
        Bytes per second.
    operations : float
        Additions and multiplications per second, in a product of matrices.
    functions : dict of str to float
        Seconds for one value, in a loop compiled as the kernel is.
    """

    memory: float
    cache: float
    operations: float
    functions: dict[str, float]


def measure_rates() -> Rates:
    """Measure them; it takes a few seconds, most of them to compile."""
    return Rates(
        memory=_bandwidth(IN_MEMORY, 1),
        cache=_bandwidth(IN_CACHE, 5000),
        operations=_operations(),
        functions={name: _seconds_of(function) for name, function in FUNCTIONS.items()},
    )


@njit(**LOOP)
def _triad(first: Any, second: Any, out: Any, rounds: int) -> None:
    factor = 1.0
    for _ in range(rounds):
        factor += 1.0
        for k in range(out.shape[0]):
            out[k] = first[k] + factor * second[k]


def _bandwidth(size: int, rounds: int) -> float:
    rows = np.random.default_rng(0).uniform(1, 2, (3, size))
    call = _median(lambda: _triad(rows[0], rows[1], rows[2], rounds))
    return rows.nbytes * rounds / call


@single_threaded
def _operations() -> float:
    matrix = np.random.default_rng(0).uniform(1, 2, (_MATRIX, _MATRIX))
    return 2 * _MATRIX**3 / _median(lambda: matrix @ matrix)


def _seconds_of(function: Callable[[float], float]) -> float:
    """For one value, on a block that stays in the cache."""
    inner = njit(**LOOP)(function) if function is FUNCTIONS["division"] else function
    rounds = 1000

    @njit(**LOOP)
    def loop(values: Any, out: Any) -> None:
        for _ in range(rounds):
            for k in range(values.shape[0]):
                out[k] = inner(values[k])

    values = np.random.default_rng(0).uniform(0.5, 3, BLOCK)
    out = np.empty(BLOCK)
    return _median(lambda: loop(values, out)) / (rounds * BLOCK)


def _median(call: Callable[[], Any]) -> float:
    call()
    return statistics.median(timed(call)[0] for _ in range(_ROUNDS))
