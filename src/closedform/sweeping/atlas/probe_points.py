"""Points at which all formulas are probed: the same ones in every program and on every machine;
and profiles of formulas there, statistics of their directions input by input.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import NUMPY, value_and_gradient
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Constant, Tree, apply, constant

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
"""The multiples of their roots, without whole parts, fill a cube evenly (Kronecker's sequence); a
browser computes the same ones.
"""

MOST_INPUTS = len(PRIMES)
"""Formulas of more inputs are not looked up: a dozen is what people can read."""

N_POINTS = 2048
"""Means over them are then good to some thousandths, less than 2% in a constant changes."""

SPANS = (3.0, 30.0, 1e3, 1e6)
"""Inputs lie between 1/span and span, evenly in their logarithms. The first span at which a formula
is finite is taken: small ones keep exponentials tame, large ones reach temperatures in kelvin.
"""

SMALLEST = 1e-150
"""Shorter gradients have no direction: their squares are rounded to zero."""

FEWEST = 64
"""Points that a span must leave: means over fewer say little."""


def probe_points(n_inputs: int, span: float, n_points: int = N_POINTS) -> FloatArray:
    """Positive points, shape (n_points, n_inputs).

    Examples
    --------
    >>> probe_points(2, 3.0, 2).round(3).tolist()
    [[0.828, 1.665], [2.058, 0.924]]
    """
    steps = np.arange(1, n_points + 1)[:, None] * np.sqrt(PRIMES[:n_inputs])
    return np.exp(np.log(span) * (2 * (steps % 1.0) - 1))


def log_directions(expression: Expression, points: FloatArray) -> FloatArray:
    """Unit gradients by the logarithms of the inputs, which do not depend on units; NaN where a
    formula has none.

    Logarithms and roots go on beyond their domains, as log|a| and |a|**p: all invertible functions
    of a formula then have the same directions everywhere, whichever of them it is written as.
    """
    slopes = np.zeros(points.shape)
    with np.errstate(all="ignore"):
        _, columns = value_and_gradient(_by_logarithms(expression.tree), list(points.T), _EXTENDED)
        for column, derivative in columns.items():
            slopes[:, column] = derivative * points[:, column]
        lengths = np.linalg.norm(slopes, axis=1)
        usable = np.isfinite(lengths) & (lengths > SMALLEST)
        return np.where(usable[:, None], slopes / lengths[:, None], np.nan)


@lru_cache(maxsize=1024)
def _by_logarithms(tree: Tree) -> Tree:
    """Roots and powers that are not whole as exponentials of logarithms."""

    def node(name: str, *parts: Tree) -> Tree:
        if name == "sqrt":
            return _power(parts[0], constant(Fraction(1, 2)))
        if name == "pow":
            number = parts[1].root
            is_whole = isinstance(number, Constant) and number.value.denominator == 1
            return apply(name, *parts) if is_whole else _power(*parts)
        return apply(name, *parts)

    return tree.fold(lambda token: Tree((token,)), node)


def _power(base: Tree, exponent: Tree) -> Tree:
    return apply("exp", apply("mul", exponent, apply("log", base)))


class _ExtendedNumpy:
    """NumPy, with logarithms and roots of negative numbers."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def log(values: Any) -> Any:
        """Of the absolute value."""
        return np.log(np.abs(values))

    @staticmethod
    def sqrt(values: Any) -> Any:
        """Of the absolute value: in slopes, where its own slope does not matter."""
        return np.sqrt(np.abs(values))


_EXTENDED = replace(NUMPY, module=_ExtendedNumpy(), _bound={})


STATISTICS = 12
"""Numbers for each input: two kinds of products, each in three ranges of the input, in two of all
other inputs, and squared.
"""


@dataclass(frozen=True, slots=True, eq=False)
class InputProfile:
    """Statistics of a formula's direction."""

    rows: FloatArray  # shape (n_inputs, STATISTICS)
    span: int  # place among the spans of the points

    @property
    def vector(self) -> FloatArray:
        """The fingerprint, which does not know which input is which; shape (n_inputs *
        STATISTICS,). Its distances are root mean squares.
        """
        return np.sort(self.rows, axis=0).T.ravel() / np.sqrt(self.rows.size)


def profiles(expression: Expression) -> list[InputProfile]:
    """Profiles at every span that leaves enough points, the smallest span first.

    expression: all its inputs occur.

    Examples
    --------
    >>> import closedform as cf
    >>> one, other = (
    ...     profiles(cf.parse(text))[0].vector for text in ("a**2/b", "log(y) - 2*log(z)")
    ... )
    >>> bool(np.abs(one - other).max() < 1e-12)
    True
    """
    found = (profile_at(expression, place) for place in range(len(SPANS)))
    return [profile for profile in found if profile is not None]


def profile_at(expression: Expression, place: int) -> InputProfile | None:
    """The profile at one of the spans; None where it leaves too few points."""
    points = probe_points(len(expression.names), SPANS[place])
    directions = log_directions(expression, points)
    usable = np.isfinite(directions[:, 0])
    if usable.sum() < FEWEST:
        return None
    logs = np.log(points[usable]) / np.log(SPANS[place])
    return InputProfile(_statistics(directions[usable], logs), place)


def _statistics(directions: FloatArray, logs: FloatArray) -> FloatArray:
    """Means of both kinds of products, shape (n_inputs, STATISTICS)."""
    total = directions.sum(axis=1, keepdims=True)
    others = logs.sum(axis=1, keepdims=True) - logs
    third = 1 / 3
    ranges = (logs < -third, np.abs(logs) <= third, logs > third, others < 0, others >= 0)
    columns = []
    for products in (directions**2, directions * total):
        columns += [_mean(products, range_) for range_ in ranges]
        columns.append((products**2).mean(axis=0))
    return np.stack(columns, axis=1)


def _mean(values: FloatArray, chosen: np.ndarray) -> FloatArray:
    return (values * chosen).sum(axis=0) / np.maximum(chosen.sum(axis=0), 1)
