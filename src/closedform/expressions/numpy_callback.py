"""Operators that the compiled sweeps have no branch for: NumPy evaluates them, one block of points
at a time.

A sweep that meets one calls back into Python with the addresses of its arrays. A call takes a few
microseconds for a whole block, about what a sine takes there, and nothing is ever compiled for it:
an operator that was defined a moment ago is as ready as those of the table.
"""

import ctypes
import logging
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
from llvmlite.binding import add_symbol

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import NUMPY
from closedform.expressions.operators import BY_CODE, Operator

_logger = logging.getLogger(__name__)


class Kind(IntEnum):
    """What a sweep wants to know of an operator."""

    VALUES = 0
    ADJOINTS = 1
    CHANGES = 2
    ADJOINT_CHANGES = 3


_SIGNATURE = ctypes.CFUNCTYPE(None, *(ctypes.c_int64,) * 6, *(ctypes.c_void_p,) * 4)
_VALUES, _ADJOINTS, _CHANGES = int(Kind.VALUES), int(Kind.ADJOINTS), int(Kind.CHANGES)


@cache
def link(symbol: str) -> Any:
    """Let compiled code call this room under a name. The callback lives as long as the process."""
    callback = _SIGNATURE(_called)
    add_symbol(symbol, ctypes.cast(callback, ctypes.c_void_p).value)
    return callback


def _called(
    kind: int, code: int, first: int, second: int, own: int, n: int, values: int, adjoints: int,
    changes: int,
    adjoint_changes: int,
) -> None:  # fmt: skip
    """Fill one operator's rows; ``first``, ``second`` and ``own`` say where rows begin."""
    operator = BY_CODE[code]
    places = (first,) if operator.arity == 1 else (first, second)
    targets: list[FloatArray] = []
    try:
        # What is not finite is expected here; the state of errors is this thread's own.
        with np.errstate(all="ignore"):
            operands = [_row(values, place, n) for place in places]
            if kind == _VALUES:
                targets = [_row(values, own, n)]
                targets[0][:] = NUMPY.bound(operator).value(*operands)
                return
            sweep = _Sweep(operator, operands, _row(values, own, n))
            if kind == _ADJOINTS:
                targets = [_row(adjoints, place, n) for place in places]
                results = sweep.adjoints(_row(adjoints, own, n))
            else:
                moved = [_row(changes, place, n) for place in places]
                if kind == _CHANGES:
                    targets = [_row(changes, own, n)]
                    results = [sweep.changes(moved)]
                else:
                    targets = [_row(adjoint_changes, place, n) for place in places]
                    rows = (_row(array, own, n) for array in (adjoints, changes, adjoint_changes))
                    results = sweep.adjoint_changes(moved, *rows)
            for target, result in zip(targets, results, strict=True):
                target[:] = result
    except Exception:
        # Nothing can be raised through compiled code. What is not a number is seen by whoever
        # judges.
        _logger.exception(
            "The operator %r failed on a block of %d points, which count as undefined.",
            operator.name,
            n,
        )
        for target in targets:
            target[:] = np.nan


class _Sweep:
    """An operator at one block of points."""

    def __init__(self, operator: Operator, operands: list[FloatArray], value: FloatArray) -> None:
        self.bound, self.operands, self.value = NUMPY.bound(operator), operands, value
        self.slopes = [slope(*operands, value) for slope in self.bound.slopes]

    def adjoints(self, own: FloatArray) -> list[Any]:
        """Of the operands."""
        return [own * slope for slope in self.slopes]

    def changes(self, moved: list[FloatArray]) -> Any:
        """Of the value; no change stays no change, also where a slope is not a number."""
        return sum(
            np.where(change != 0, slope * change, 0.0)
            for slope, change in zip(self.slopes, moved, strict=True)
        )

    def adjoint_changes(
        self,
        moved: list[FloatArray],
        adjoint: FloatArray,
        change: FloatArray,
        adjoint_change: FloatArray,
    ) -> list[Any]:
        """Of the operands."""
        bends = [bend(*self.operands, self.value, *moved, change) for bend in self.bound.bends]
        return [
            adjoint_change * slope + adjoint * bend
            for slope, bend in zip(self.slopes, bends, strict=True)
        ]


def _row(address: int, start: int, n: int) -> FloatArray:
    return np.frombuffer(_block(n).from_address(address + ctypes.sizeof(ctypes.c_double) * start))


@cache
def _block(n: int) -> Any:
    return ctypes.c_double * n
