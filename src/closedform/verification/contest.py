"""Fit many forms on one half of the points, judge them on the other, and compare them by twos."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.alignment.misalignment import TRIM
from closedform.alignment.refit import Tapes
from closedform.alignment.scores import comparison_of
from closedform.alignment.tolerances import ROUNDING
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.verification.description import hoped_length
from closedform.verification.residuals import residuals
from closedform.verification.signs import folds, most_positive

STEPS, MOST_FITTED = 30, 500
"""Steps of each fit, and points that it sees at most: a handful of constants needs no more, and it
is what takes the time.
"""

FIRST_STEPS, FIRST_POINTS, FAR, MOST_NEAR, MOST_FITTING = 10, 250, 4.0, 50, 20
"""Steps and points of a first look at all forms, how many times worse than the formula what is no
rival is then, and how many are compared at last: the nearest, their price paid, and those that fit
best, which may be written at more length than they need.
"""

Form = tuple[Expression, Sequence[int]]
"""A formula, and the positions of the constants that may be fitted."""


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
    is_turned : ndarray of bool, shape (n_forms, n_points)
        Where a form that folds the concept points against the field.
    """

    expressions: tuple[Expression, ...]
    left: FloatArray
    labels: NDArray[np.int64]
    is_turned: NDArray[np.bool_]

    def misalignments(self, place: int) -> FloatArray:
        """Of one form at each point; 1 where it points against the field."""
        return np.where(self.is_turned[place], 1.0, (self.left[place] ** 2).sum(axis=1))


@dataclass(frozen=True, slots=True)
class Margin:
    """A rival compared with the formula that it was made of.

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


def near_ones(own: Form, made: Sequence[Form], field: GradientField, price: float) -> list[Form]:
    """Of many forms those that may come near a formula: a few steps on few points show it.

    Parameters
    ----------
    own : (Expression, sequence of int)
        The formula, with the positions of the constants that may be fitted.
    made : sequence of (Expression, sequence of int)
    field : GradientField
    price : float
        Of a unit of description: what is longer fits better, and would crowd out the others.
    """
    forms = [own, *made]
    tapes = Tapes.of([form for form, _ in forms], [places for _, places in forms])
    few = field.subset(np.arange(min(field.n_points, FIRST_POINTS)))
    values = tapes.fit(comparison_of(few), FIRST_STEPS)[1]
    line = FAR * max(float(values[0]), ROUNDING)
    dear = [
        np.log(max(value, ROUNDING)) + price * hoped_length(form.tree)
        for value, (form, _) in zip(values[1:], made, strict=True)
    ]
    chosen = {
        *np.argsort(dear)[:MOST_NEAR].tolist(),
        *np.argsort(values[1:])[:MOST_FITTING].tolist(),
    }
    return [made[place] for place in sorted(chosen) if values[1 + place] <= line]


def hold_contest(
    forms: Sequence[Form],
    field: GradientField,
    labels: NDArray[np.int64],
    significance: float,
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
    significance : float
        Standard errors from which a reversed sign counts.
    rng : Generator
        Divides the points.
    """
    half = rng.permutation(field.n_points) % 2
    tapes = Tapes.of([form for form, _ in forms], [places for _, places in forms])
    left = np.full((len(forms), field.n_points, len(field.names)), np.nan)
    along = np.zeros(left.shape[:2])
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
                rest, lengths = residuals(form, judged)
                ambient = judged.tangent.ambient(rest[:, :, None])
            left[place, rows] = signs[:, None] * ambient[:, :, 0]
            along[place, rows] = most_positive(lengths)
    is_folded = np.array(folds(along, field, significance))
    return Contest(tuple(fitted), left, labels, (along < 0) & is_folded[:, None])


def compare(contest: Contest, own: int, rival: int) -> Margin:
    """Compare two forms of a contest."""
    mine, theirs = np.nan_to_num(contest.left[own], nan=1.0), contest.left[rival]
    m = np.nan_to_num(contest.misalignments(own), nan=1.0)
    t = contest.misalignments(rival)
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
