"""Gradients compared at single points in 90 digits: what floating-point numbers cannot decide."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath

from closedform.arrays import FloatArray
from closedform.canonical.tolerances import FINE_DIGITS, PARALLEL_DIGITS, ROUGH_DIGITS
from closedform.expressions.constraint import Constraint
from closedform.expressions.evaluate import value_and_gradient
from closedform.expressions.expression import Expression
from closedform.expressions.libraries import Library
from closedform.expressions.operators import OPERATORS


class _Arithmetic:
    """Real arithmetic at one precision."""

    def __init__(self, digits: int) -> None:
        self.context: Any = mpmath.MPContext()
        self.context.dps = digits
        special = {
            "absolute": abs,
            "choose": lambda condition, first, second: first if condition else second,
        }
        self.library = Library(
            "mpmath",
            self.context,
            lambda exact: self.context.mpf(exact.numerator) / exact.denominator,
            special,
            is_exact=True,
            adapt=self._adapted,
        )

    def _adapted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A user's function computes in mpmath's own context, at this one's precision."""

        def at_this_precision(*operands: Any) -> Any:
            with mpmath.workprec(self.context.prec):
                return self.context.mpf(function(*(mpmath.mpf(operand) for operand in operands)))

        return at_this_precision

    def value_and_gradient(
        self, expression: Expression, inputs: list[Any]
    ) -> tuple[Any, list[Any]]:
        value, columns = value_and_gradient(expression.tree, inputs, self.library)
        gradient = [columns.get(index, self.context.mpf(0)) for index in range(len(inputs))]
        if any(
            isinstance(x, self.context.mpc) or not self.context.isfinite(x)
            for x in [value, *gradient]
        ):
            raise ValueError("not real and finite")
        return value, gradient

    def onto_surface(self, inputs: list[Any], equations: Sequence[Expression]) -> list[Any]:
        """Newton steps, which double the correct digits, until the equations hold fully."""
        for _ in range(9 if equations else 0):
            results = [self.value_and_gradient(equation, inputs) for equation in equations]
            slopes = self.context.matrix([gradient for _, gradient in results])
            values = self.context.matrix([value for value, _ in results])
            step = slopes.T * self.context.lu_solve(slopes * slopes.T, values)
            inputs = [x - step[index] for index, x in enumerate(inputs)]
            if max(abs(x) for x in step) < self.context.mpf(10) ** (5 - self.context.dps):
                break
        return inputs


_ROUGH, _FINE = _Arithmetic(ROUGH_DIGITS), _Arithmetic(FINE_DIGITS)

_SHRINKS = _FINE.context.mpf(10) ** -PARALLEL_DIGITS

ZERO = _SHRINKS**2
"""A squared sine below this is zero."""


@dataclass(frozen=True, slots=True)
class Direction:
    """Two functions at one point: their values, the squared sine between their gradients, and the
    sign of the cosine.

    The sine is None where one of the gradients is zero on the surface of the constraints.
    """

    value_a: Any
    value_b: Any
    zero_a: bool
    zero_b: bool
    squared_sine: Any | None
    sign: int


def check_precision(expression: Expression) -> None:
    """Make sure that every operator can be evaluated at high precision."""
    for name in {
        token for token in expression.tree.tokens if isinstance(token, str) and token in OPERATORS
    }:
        _ = _FINE.library.bound(OPERATORS[name]).value


def compare_at(
    point: FloatArray,
    a: Expression,
    b: Expression,
    constraints: Sequence[Constraint],
    scale: FloatArray | None = None,
) -> Direction | None:
    """Compare two gradients at a point, after moving it onto the surface; None where something is
    not real or finite. With the spread of each input the angle is that in scaled inputs.
    """
    try:
        (value_a, value_b), tangents, sizes = _tangents(point, a, b, constraints, _FINE, scale)
        _, _, rough_sizes = _tangents(point, a, b, constraints, _ROUGH, scale)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError):
        return None
    zero_a, zero_b = (
        rough == 0 or fine <= rough * _SHRINKS
        for fine, rough in zip(sizes, rough_sizes, strict=True)
    )
    if zero_a or zero_b:
        return Direction(value_a, value_b, zero_a, zero_b, None, 0)
    product = _dot(tangents[0], tangents[1])
    factor = product / sizes[0]
    rest = [y - factor * x for x, y in zip(*tangents, strict=True)]
    return Direction(
        value_a, value_b, False, False, _dot(rest, rest) / sizes[1], 1 if product > 0 else -1
    )


def _tangents(
    point: FloatArray,
    a: Expression,
    b: Expression,
    constraints: Sequence[Constraint],
    arithmetic: _Arithmetic,
    scale: FloatArray | None = None,
) -> tuple[list[Any], list[list[Any]], list[Any]]:
    """Values, gradients in the constraints' tangent space, and the gradients' squared lengths."""
    inputs = [arithmetic.context.mpf(float(coordinate)) for coordinate in point]
    inputs = arithmetic.onto_surface(inputs, [c.function for c in constraints if c.is_equation])
    spreads = [1] * len(inputs) if scale is None else [float(spread) for spread in scale]

    def scaled(gradient: list[Any]) -> list[Any]:
        return [slope * spread for slope, spread in zip(gradient, spreads, strict=True)]

    results = [arithmetic.value_and_gradient(expression, inputs) for expression in (a, b)]
    basis: list[list[Any]] = []
    for constraint in constraints:
        normal = scaled(arithmetic.value_and_gradient(constraint.function, inputs)[1])
        rest = _without(normal, basis)
        size = _dot(rest, rest)
        if size > _SHRINKS * _dot(normal, normal):
            length = arithmetic.context.sqrt(size)
            basis.append([x / length for x in rest])
    tangents = [_without(scaled(gradient), basis) for _, gradient in results]
    return (
        [value for value, _ in results],
        tangents,
        [_dot(tangent, tangent) for tangent in tangents],
    )


def _without(vector: list[Any], basis: list[list[Any]]) -> list[Any]:
    for axis in basis:
        factor = _dot(vector, axis)
        vector = [x - factor * y for x, y in zip(vector, axis, strict=True)]
    return vector


def _dot(x: list[Any], y: list[Any]) -> Any:
    return _FINE.context.fsum(a * b for a, b in zip(x, y, strict=True))
