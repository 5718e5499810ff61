"""The machine's own rates, measured within the run: bytes, floating-point operations and
functions per second.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from closedform.basics.compiled import OPTIONS
from closedform.basics.threads import single_threaded
from closedform.expressions.sweeps import BLOCK

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

_OFTEN, _MATRIX = 1000, 512


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


def rate_calls() -> dict[str, Callable[[], Any]]:
    """What to time, by name; the first call of each compiles."""
    rng = np.random.default_rng(0)
    far, near = rng.uniform(1, 2, (3, IN_MEMORY)), rng.uniform(1, 2, (3, IN_CACHE))
    matrix = rng.uniform(1, 2, (_MATRIX, _MATRIX))
    calls: dict[str, Callable[[], Any]] = {
        "memory": lambda: _triad(far[0], far[1], far[2], 1),
        "cache": lambda: _triad(near[0], near[1], near[2], _OFTEN),
        "operations": single_threaded(lambda: matrix @ matrix),
    }
    return calls | {name: _loop(function) for name, function in FUNCTIONS.items()}


def rates_of(seconds: Mapping[str, float]) -> Rates:
    """Rates from the seconds of these calls."""
    row = 3 * np.dtype(np.float64).itemsize
    return Rates(
        memory=row * IN_MEMORY / seconds["memory"],
        cache=row * IN_CACHE * _OFTEN / seconds["cache"],
        operations=2 * _MATRIX**3 / seconds["operations"],
        functions={name: seconds[name] / (_OFTEN * BLOCK) for name in FUNCTIONS},
    )


@njit(**LOOP)
def _triad(first: Any, second: Any, out: Any, rounds: int) -> None:
    factor = 1.0
    for _ in range(rounds):
        factor += 1.0
        for k in range(out.shape[0]):
            out[k] = first[k] + factor * second[k]


def _loop(function: Callable[[float], float]) -> Callable[[], None]:
    """The function of a block that stays in the cache, often."""
    inner = njit(**LOOP)(function) if function is FUNCTIONS["division"] else function

    @njit(**LOOP)
    def loop(values: Any, out: Any) -> None:
        for _ in range(_OFTEN):
            for k in range(values.shape[0]):
                out[k] = inner(values[k])

    values, out = np.random.default_rng(0).uniform(0.5, 3, BLOCK), np.empty(BLOCK)
    return lambda: loop(values, out)
