"""Operators that users define: what they leave out is derived, and what they state is tried at
once.

A wrong derivative would make every search fail without a word, so slopes are compared with finite
differences when an operator is defined.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ExpressionError
from closedform.expressions.evaluate import NUMPY
from closedform.expressions.operator_entry import Operator
from closedform.expressions.tolerances import SLOPE_TOLERANCE, STEP


def completed(operator: Operator) -> None:
    """Fill in the slopes and bends that an operator was defined without, and try them."""
    name, count = operator.name, operator.arity
    if not operator.slope_forms:
        if callable(operator.value):
            raise ExpressionError(
                f"The operator {name!r} is a function without derivatives: pass slopes=..., one "
                "function for each operand, or define it by a formula such as 'log(1 + exp(a))', "
                "whose derivatives are derived."
            )
        from closedform.expressions.sympy_bridge import derived_slopes

        object.__setattr__(operator, "slopes", derived_slopes(operator))
    if not operator.bend_forms:
        bends = tuple(_Bend(operator, place) for place in range(count))
        object.__setattr__(operator, "bends", bends)
    for what, forms in (("slopes", operator.slope_forms), ("bends", operator.bend_forms)):
        if len(forms) != count:
            raise ExpressionError(
                f"The operator {name!r} has {count} operand(s) and {len(forms)} {what}; give one "
                f"for each operand."
            )
    _try(operator)


class _Bend:
    """How a slope changes along the changes of the operands, by a central difference."""

    is_derived = True

    def __init__(self, operator: Operator, place: int) -> None:
        self.operator, self.place = operator, place

    def __call__(self, *values: Any) -> Any:
        """Of the operands, the value, the changes of the operands, and that of the value."""
        count = self.operator.arity
        operands, changes = values[:count], values[count + 1 : 2 * count + 1]
        largest = np.maximum.reduce([np.abs(change) for change in changes])
        size = np.maximum.reduce([np.abs(operand) for operand in operands])
        step = STEP * np.maximum(size, 1.0) / np.where(largest > 0, largest, 1.0)
        bound, ends = NUMPY.bound(self.operator), []
        for sign in (1, -1):
            moved = [a + sign * step * change for a, change in zip(operands, changes, strict=True)]
            ends.append(bound.slopes[self.place](*moved, bound.value(*moved)))
        return (ends[0] - ends[1]) / (2 * step)


def _try(operator: Operator) -> None:
    """Call the functions around 0, and compare the slopes with differences of the value."""
    points = np.random.default_rng(0).uniform(-2, 2, (operator.arity, 64))
    bound = NUMPY.bound(operator)
    with np.errstate(all="ignore"):
        value = _array(operator, "value", bound.value, *points)
        if not np.isfinite(value).any():
            points = np.abs(points) + 0.5
            value = _array(operator, "value", bound.value, *points)
        for place in range(operator.arity):
            slope = _array(operator, "slope", bound.slopes[place], *points, value)
            above, below = (bound.value(*_moved(points, place, sign * STEP)) for sign in (1, -1))
            expected = (above - below) / (2 * STEP)
            usable = np.isfinite(slope) & np.isfinite(expected)
            wrong = usable & (np.abs(slope - expected) > SLOPE_TOLERANCE * (1 + np.abs(expected)))
            # A kink or a pole may lie between the two points of a difference.
            if wrong.sum() > 0.1 * max(usable.sum(), 1):
                _refuse(operator, place, points, slope, expected, int(np.flatnonzero(wrong)[0]))


def _refuse(
    operator: Operator,
    place: int,
    points: FloatArray,
    slope: FloatArray,
    expected: FloatArray,
    at: int,
) -> None:
    where = ", ".join(f"{name}={x[at]:.4g}" for name, x in zip("ab", points, strict=False))
    raise ExpressionError(
        f"The slope of {operator.name!r} by {'ab'[place]} is {slope[at]:.6g} at {where}, but "
        f"its value changes by "
        f"{expected[at]:.6g} there; correct the slope, or leave it out if the value is a formula."
    )


def _moved(points: FloatArray, place: int, step: float) -> FloatArray:
    moved = points.copy()
    moved[place] += step
    return moved


def _array(
    operator: Operator, what: str, function: Callable[..., Any], *arguments: FloatArray
) -> FloatArray:
    try:
        found = np.asarray(function(*arguments), dtype=np.float64)
        return np.broadcast_to(found, arguments[0].shape)
    except ExpressionError:
        raise
    except Exception as error:
        # Whatever a user's function raises is a fault of the definition, and is named with it.
        raise ExpressionError(
            f"The {what} of the operator {operator.name!r} cannot be evaluated on NumPy "
            f"arrays: {error}. It gets arrays "
            "of numbers and must return one of the same shape."
        ) from error
