"""Gradients compared in 60-digit arithmetic at single points: what floating-point numbers cannot decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.constraint import Constraint
from closedform.expressions.evaluate import Library, value_and_gradient
from closedform.expressions.expression import Expression

DIGITS = 60
"""Working precision; 50 digits are asked for, and the rest absorbs cancellation."""


def _library() -> tuple[Any, Library]:
    context = mpmath.MPContext()
    context.dps = DIGITS
    names = ("sin", "cos", "tan", "exp", "log", "tanh", "cosh", "atan", "sqrt", "sign", "power", "floor")
    functions = {name: getattr(context, name) for name in names}
    functions |= {"absolute": abs, "choose": lambda condition, first, second: first if condition else second}
    return context, Library(functions, lambda exact: context.mpf(exact.numerator) / exact.denominator)


_CONTEXT, _LIBRARY = _library()

ZERO = _CONTEXT.mpf(10) ** -40
"""A squared sine below this is zero; constants that differ in their 18th digit already give more."""


@dataclass(frozen=True, slots=True)
class Direction:
    """Two functions at one point: their values, the squared sine between their gradients, and the sign of the cosine.

    The sine is None where one of the gradients is zero on the surface of the constraints.
    """

    value_a: Any
    value_b: Any
    zero_a: bool
    zero_b: bool
    squared_sine: Any | None
    sign: int


def compare_at(point: FloatArray, a: Expression, b: Expression, constraints: Sequence[Constraint]) -> Direction | None:
    """Compare two gradients at a point, after moving it onto the surface; None where something is not real or finite."""
    try:
        inputs = [_CONTEXT.mpf(float(coordinate)) for coordinate in point]
        inputs = _onto_surface(inputs, [c.function for c in constraints if c.is_equation])
        value_a, gradient_a = _gradient(a, inputs)
        value_b, gradient_b = _gradient(b, inputs)
        normals = [_gradient(constraint.function, inputs)[1] for constraint in constraints]
    except (ZeroDivisionError, OverflowError, ValueError, TypeError):
        return None
    basis: list[list[Any]] = []
    for normal in normals:
        rest = _without(normal, basis)
        if not _vanishes(rest, normal):
            length = _CONTEXT.sqrt(_dot(rest, rest))
            basis.append([x / length for x in rest])
    tangent_a, tangent_b = _without(gradient_a, basis), _without(gradient_b, basis)
    zero_a, zero_b = _vanishes(tangent_a, gradient_a), _vanishes(tangent_b, gradient_b)
    if zero_a or zero_b:
        return Direction(value_a, value_b, zero_a, zero_b, None, 0)
    product = _dot(tangent_a, tangent_b)
    factor = product / _dot(tangent_a, tangent_a)
    rest = [y - factor * x for x, y in zip(tangent_a, tangent_b, strict=True)]
    sine = _dot(rest, rest) / _dot(tangent_b, tangent_b)
    return Direction(value_a, value_b, False, False, sine, 1 if product > 0 else -1)


def _gradient(expression: Expression, inputs: list[Any]) -> tuple[Any, list[Any]]:
    value, columns = value_and_gradient(expression.tree, inputs, _LIBRARY)
    gradient = [columns.get(index, _CONTEXT.mpf(0)) for index in range(len(inputs))]
    if any(isinstance(x, _CONTEXT.mpc) or not _CONTEXT.isfinite(x) for x in [value, *gradient]):
        raise ValueError("not real and finite")
    return value, gradient


def _onto_surface(inputs: list[Any], equations: Sequence[Expression]) -> list[Any]:
    """Newton steps that double the correct digits until the equations hold at full precision."""
    for _ in range(8 if equations else 0):
        results = [_gradient(equation, inputs) for equation in equations]
        slopes = _CONTEXT.matrix([gradient for _, gradient in results])
        values = _CONTEXT.matrix([value for value, _ in results])
        step = slopes.T * _CONTEXT.lu_solve(slopes * slopes.T, values)
        inputs = [x - step[index] for index, x in enumerate(inputs)]
        if max(abs(x) for x in step) < _CONTEXT.mpf(10) ** -(DIGITS - 5):
            break
    return inputs


def _without(vector: list[Any], basis: list[list[Any]]) -> list[Any]:
    for axis in basis:
        factor = _dot(vector, axis)
        vector = [x - factor * y for x, y in zip(vector, axis, strict=True)]
    return vector


def _vanishes(rest: list[Any], whole: list[Any]) -> bool:
    size = _dot(whole, whole)
    return bool(size == 0 or _dot(rest, rest) < ZERO * size)


def _dot(x: list[Any], y: list[Any]) -> Any:
    return _CONTEXT.fsum(a * b for a, b in zip(x, y, strict=True))


def spread_out(points: FloatArray, count: int) -> FloatArray:
    """A few of the points, taken at even steps."""
    return points[np.linspace(0, len(points) - 1, min(count, len(points))).astype(int)]
