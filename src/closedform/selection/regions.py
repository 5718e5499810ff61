"""Regions of the data: cells of neighbouring points, which stand or fall together.

A trained network is wrong smoothly: neighbouring points share its error, so they are not
independent. What is left out and drawn again is therefore a region, never a point.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2, vq

from closedform.alignment.refit import Tapes
from closedform.alignment.scores import comparison_of
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import nearest_others
from closedform.selection.tolerances import N_REGIONS, REFIT_STEPS, SMALLEST_REGION

MOST_CLUSTERED = 3000
"""Points whose cells are found by k-means; the others join the nearest centre."""


@dataclass(frozen=True, slots=True)
class RegionalScores:
    """How candidates do in regions that they were not fitted to.

    Attributes
    ----------
    misalignments : ndarray, shape (n_candidates, n_regions)
        In each region, with constants fitted without it.
    weights : ndarray, shape (n_regions,)
        Each region's share of the field's weight.
    errors : tuple of ndarray
        Standard errors of each candidate's free constants, from the fits without one region (the
        jackknife).
    """

    misalignments: FloatArray
    weights: FloatArray
    errors: tuple[FloatArray, ...]

    def means(self) -> FloatArray:
        """Misalignment of each candidate over all regions."""
        return self.misalignments @ self.weights

    def joined(self, others: "RegionalScores") -> "RegionalScores":
        """These candidates and others, judged in the same regions."""
        rows = np.concatenate([self.misalignments, others.misalignments])
        return RegionalScores(rows, self.weights, (*self.errors, *others.errors))

    def of(self, places: Sequence[int]) -> "RegionalScores":
        """Some of the candidates, in the order given."""
        rows = self.misalignments[list(places)]
        return RegionalScores(rows, self.weights, tuple(self.errors[place] for place in places))

    def resampled(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Means over regions drawn with replacement, shape (count, n_candidates)."""
        n_regions = len(self.weights)
        drawn = (
            rng.multinomial(n_regions, np.full(n_regions, 1 / n_regions), size=count) * self.weights
        )
        return (drawn @ self.misalignments.T) / drawn.sum(axis=1, keepdims=True)


def divide(
    field: GradientField, rng: np.random.Generator, n_regions: int = N_REGIONS
) -> NDArray[np.int64]:
    """Number the points by region: cells of nearest centres in scaled inputs (k-means).

    Returns
    -------
    ndarray of int, shape (n_points,)
        From 0 on, without gaps among the points that count; -1 for those of weight 0.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> labels = divide(GradientField.from_arrays(points, points), np.random.default_rng(0))
    >>> len(set(labels.tolist())) > 15
    True
    """
    usable = np.flatnonzero(field.weights > 0)
    labels = np.full(field.n_points, -1, dtype=np.int64)
    count = int(min(n_regions, max(len(usable) // SMALLEST_REGION, 1)))
    if count < 2:
        labels[usable] = 0
        return labels
    scaled = field.points[usable] / field.scale
    starts = scaled[rng.choice(len(usable), count, replace=False)]
    some = scaled
    if len(scaled) > MOST_CLUSTERED:
        some = scaled[rng.choice(len(scaled), MOST_CLUSTERED, replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # an empty cell is no harm: there is one region less
        centres, found = kmeans2(some, starts, iter=15, minit="matrix")
    if len(some) < len(scaled):
        found = vq(scaled, centres)[0]
    labels[usable] = np.unique(found, return_inverse=True)[1]
    return labels


def score_regions(
    expressions: Sequence[Expression],
    field: GradientField,
    labels: NDArray[np.int64],
    *,
    refit_steps: int = REFIT_STEPS,
) -> RegionalScores:
    """Fit each expression without each region and judge it there.

    Parameters
    ----------
    expressions : sequence of Expression
        Over the field's inputs, already fitted to the whole field.
    field : GradientField
    labels : ndarray of int, shape (n_points,)
        From `divide`.
    refit_steps : int
        Steps of each fit.
    """
    tapes = Tapes.of(expressions)
    regions = range(int(labels.max()) + 1)
    misalignments = np.empty((len(expressions), len(regions)))
    fits: list[list[FloatArray]] = []
    whole = comparison_of(field)
    for region in regions:
        inside, outside = labels == region, (labels >= 0) & (labels != region)
        fitted = (
            tapes.fit(whole.weighted(field.weights * outside), refit_steps)[0]
            if outside.any()
            else tapes
        )
        misalignments[:, region] = fitted.judge(whole.weighted(field.weights * inside))
        fits.append(fitted.constants())
    weights = np.bincount(labels[labels >= 0], field.weights[labels >= 0], minlength=len(regions))
    errors = tuple(_jackknife(np.array(values)) for values in zip(*fits, strict=True))
    return RegionalScores(misalignments, weights / weights.sum(), errors)


def systematic_shares(expressions: Sequence[Expression], field: GradientField) -> FloatArray:
    """The share of each expression's misalignment that neighbouring points have in common.

    What a formula leaves of a direction is noise, which is independent from point to point, or a
    lack of fit or a network's bias, which neighbours share: the mean product of what is left at a
    point and at its nearest neighbour, relative to the mean square.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (400, 2))
    >>> field = GradientField.from_arrays(points, points[:, ::-1], names=["x", "y"])
    >>> (systematic_shares([cf.parse("x + y")], field) > 0.8).tolist()
    [True]
    """
    usable = np.flatnonzero(field.weights > 0)
    points, frames = field.points[usable], field.frames[usable]
    weights = field.weights[usable] / field.weights[usable].sum()
    if len(usable) < 2 or field.tangent.kind != "none" or field.rank > 1:
        return np.ones(len(expressions))
    scaled = points / field.scale
    nearest = nearest_others(scaled)
    shares = np.ones(len(expressions))
    for place, expression in enumerate(expressions):
        with np.errstate(all="ignore"):
            units = expression.gradient(points) * field.scale
            units /= np.linalg.norm(units, axis=1, keepdims=True)
        along = np.einsum("nd,nd->n", units, frames[:, :, 0])
        # Signed like the direction, so that neighbours can be compared.
        left = units * np.sign(along)[:, None] - np.abs(along)[:, None] * frames[:, :, 0]
        left = np.where(np.isfinite(left), left, 0.0)
        total = float(weights @ (left**2).sum(axis=1))
        if total > 0:
            shares[place] = float(weights @ (left * left[nearest]).sum(axis=1)) / total
    return np.clip(shares, 0.0, 1.0)


def _jackknife(values: FloatArray) -> FloatArray:
    """Standard errors from values (n_regions, n_constants) that were fitted without one region
    each.
    """
    count = len(values)
    return np.sqrt((count - 1) / count * ((values - values.mean(axis=0)) ** 2).sum(axis=0))
