"""Fit many forms on one half of the points, judge them on the other, and compare them by twos."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.alignment.misalignment import TRIM
from closedform.alignment.refit import Tapes
from closedform.alignment.scores import comparison_of
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.verification.residuals import residuals

STEPS, MOST_FITTED = 30, 500
"""Steps of each fit, and points that it sees at most: a handful of constants needs no more, and it
is what takes the time.
"""


@dataclass(frozen=True, slots=True)
class Contest:
    """Forms with what each leaves over where it was not fitted.

    Attributes
    ----------
    expressions : tuple of Expression
        Constants fitted to one half of the points.
    left : ndarray, shape (n_forms, n_points, n_coordinates)
        Residual directions, in the inputs' coordinates.
    labels : ndarray of int, shape (n_points,)
        Regions.
    """

    expressions: tuple[Expression, ...]
    left: FloatArray
    labels: NDArray[np.int64]

    def misalignments(self) -> FloatArray:
        """At each point, shape (n_forms, n_points)."""
        return (self.left**2).sum(axis=2)


@dataclass(frozen=True, slots=True)
class Margin:
    """A rival beside the formula that it was made of.

    Attributes
    ----------
    ratio : float
        Its misalignment over the formula's, without the formula's worst 5% of the points.
    z : float
        By how many standard errors it is worse (better if negative). The error is that of the
        better one's residuals along the difference of the two, with regions as the unit: a bias
        that neighbours share counts once in each.
    apart : float
        Mean squared difference of their directions.
    """

    ratio: float
    z: float
    apart: float


def hold_contest(
    forms: Sequence[tuple[Expression, Sequence[int]]],
    field: GradientField,
    labels: NDArray[np.int64],
    rng: np.random.Generator,
) -> Contest:
    """Fit each form on one half of the points and judge it on the other, both ways.

    Parameters
    ----------
    forms : sequence of (Expression, sequence of int)
        With the positions of the constants that may be fitted.
    field : GradientField
    labels : ndarray of int
        Regions of the points.
    rng : Generator
        Divides the points.
    """
    half = rng.permutation(field.n_points) % 2
    tapes = Tapes.of([form for form, _ in forms], [places for _, places in forms])
    left = np.full((len(forms), field.n_points, len(field.names)), np.nan)
    fitted: list[Expression] = [form for form, _ in forms]
    for side in (0, 1):
        few = field.subset(np.flatnonzero(half == side)[:MOST_FITTED])
        fit, _ = tapes.fit(comparison_of(few), STEPS)
        fitted, rows = fit.read(), np.flatnonzero(half != side)
        judged = field.subset(rows)
        # All residuals have the sign of the first form's gradient, which is smooth: that of a
        # noisy frame may depend on the noise, and neighbours would seem to share it.
        signs = np.where(residuals(fitted[0], judged)[1] < 0, -1.0, 1.0)
        for place, form in enumerate(fitted):
            # Where a formula is not finite its residuals are not numbers, and stay so.
            with np.errstate(invalid="ignore"):
                ambient = judged.tangent.ambient(residuals(form, judged)[0][:, :, None])
            left[place, rows] = signs[:, None] * ambient[:, :, 0]
    return Contest(tuple(fitted), left, labels)


def compare(contest: Contest, own: int, rival: int) -> Margin:
    """Compare two forms of a contest."""
    mine, theirs = np.nan_to_num(contest.left[own], nan=1.0), contest.left[rival]
    m, t = (mine**2).sum(axis=1), (theirs**2).sum(axis=1)
    if not np.isfinite(t).all():
        return Margin(np.inf, np.inf, 1.0)
    kept = m <= np.quantile(m, 1 - TRIM)
    apart = theirs - mine
    better = mine if m[kept].mean() <= t[kept].mean() else theirs
    along = np.bincount(
        contest.labels[kept], (better * apart).sum(axis=1)[kept], minlength=contest.labels.max() + 1
    )
    error = 2 * np.sqrt((along**2).sum())
    tiny = np.finfo(float).tiny
    # What is exact has no error: any difference is then infinitely significant.
    with np.errstate(over="ignore"):
        return Margin(
            float(t[kept].mean() / max(m[kept].mean(), tiny)),
            float((t - m)[kept].sum() / max(error, tiny)),
            float((apart[kept] ** 2).sum(axis=1).mean()),
        )
