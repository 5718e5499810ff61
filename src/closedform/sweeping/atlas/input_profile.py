"""The profile of a formula: statistics of its direction, input by input.

They are the same for every invertible function of the formula, and hardly depend on the order of
the inputs, so the sorted profile is a fingerprint that needs no names. The squared components of
the direction do not tell x*y from x/y; products with the sum of all components do.
"""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.sweeping.atlas.probe_points import FEWEST, SPANS, log_directions, probe_points

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
