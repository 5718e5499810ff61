"""Regions of the data: cells of neighbouring points, which stand or fall together.

A trained network is wrong smoothly: neighbouring points share its error, so they are not
independent. What is left out and drawn again is therefore a region, never a point.
"""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.misalignment import chance_level, paper_loss
from closedform.field.alignment.tolerances import TRIM
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import nearest_others
from closedform.interpretation.evidence import Alignment

N_REGIONS, SMALLEST_REGION = 24, 5
"""With 24 regions the errors of the jackknife are known to about a seventh. A region has at least
so many points on average; with fewer points there are fewer regions."""

QUANTILES = (0.5, 0.9, 0.99)
"""Of the angles, those that an answer tells."""

NEIGHBOURS = 64
"""How far it is followed that neighbours share an error, as a rank of nearness."""

Pair = tuple[float, float]
"""One number for directions and one for values."""


def divide(field: GradientField, rng: np.random.Generator) -> NDArray[np.int64]:
    """Number the points by region, cells of nearest centres in scaled inputs (k-means): from 0 on,
    without gaps among the points that count; -1 for those of weight 0.
    """
    usable = np.flatnonzero(field.weights > 0)
    labels = np.full(field.n_points, -1, dtype=np.int64)
    count = int(min(N_REGIONS, max(len(usable) // SMALLEST_REGION, 1)))
    if count < 2:
        labels[usable] = 0
        return labels
    scaled = field.points[usable] / field.scale
    starts = scaled[rng.choice(len(usable), count, replace=False)]
    with warnings.catch_warnings():
        # An empty cell is no harm: there is one region less.
        warnings.simplefilter("ignore", UserWarning)
        _, found = kmeans2(scaled, starts, minit="matrix")
    labels[usable] = np.unique(found, return_inverse=True)[1]
    return labels


def mean_by_regions(
    values: FloatArray, weights: FloatArray, labels: NDArray[np.int64]
) -> tuple[float, float]:
    """A weighted mean, and its standard error from how far regions differ.

    Examples
    --------
    >>> values, labels = np.repeat([0.0, 1.0], 50), np.repeat(np.arange(10), 10)
    >>> mean, error = mean_by_regions(values, np.ones(100), labels)
    >>> mean, round(error, 3)
    (0.5, 0.158)
    """
    counted = labels >= 0
    shares = np.bincount(labels[counted], weights[counted])
    total = float(shares.sum())
    if total == 0:
        return 1.0, 0.0
    sums = np.bincount(labels[counted], (weights * values)[counted])
    mean = float(sums.sum()) / total
    return mean, float(np.linalg.norm(sums - mean * shares)) / total


def independent_pieces(errors: FloatArray, scaled: FloatArray) -> float:
    """As how many independent points errors (n_points, n_coordinates) count, from how far
    neighbours in scaled inputs share them.
    """
    count = len(errors)
    most = min(NEIGHBOURS, count)
    lengths = np.linalg.norm(errors, axis=1)
    total = float((lengths**2).mean())
    if count < 2 or total == 0:
        return float(count)
    order = nearest_others(scaled, most - 1)
    shared, start = 1.0, 1
    while start < most:
        rows = order[:, start - 1 : 2 * start - 1]
        products = np.einsum("nd,nkd->n", errors, errors[rows]) / rows.shape[1] / total
        share = float(products.mean())
        # Beyond what chance makes of independent errors; further neighbours share still less.
        if share < 2 * float(products.std()) / np.sqrt(count):
            break
        shared += share * rows.shape[1]
        start *= 2
    return count / shared


def measure_alignment(
    expression: Expression, field: GradientField, labels: NDArray[np.int64]
) -> Alignment:
    """Compare a concept with a field of held-out points.

    labels (n_points,): regions, from `divide`; the interval is two standard errors wide on both
        sides, from how far they differ.
    """
    values = field_misalignment(expression, field)
    mean, error = mean_by_regions(values, field.weights, labels)
    usable = field.weights > 0
    kept = np.where(values <= np.quantile(values[usable], 1 - TRIM), field.weights, 0.0)
    trimmed, trimmed_error = mean_by_regions(values, kept, labels)
    loss = None
    if field.rank == 1:
        gradients = expression.rename(field.names).gradient(field.points[usable])
        loss = paper_loss(gradients, field.directions[usable, :, 0])
    return Alignment(
        misalignment=mean,
        low=max(mean - 2 * error, 0.0),
        high=min(mean + 2 * error, 1.0),
        trimmed=trimmed,
        trimmed_high=min(trimmed + 2 * trimmed_error, 1.0),
        chance=chance_level(field.rank, field.tangent.rank),
        paper_loss=loss,
        angles=tuple(np.quantile(angles_in_degrees(values[usable]), QUANTILES).tolist()),
        n_points=int(usable.sum()),
    )


def angles_in_degrees(misalignments: FloatArray) -> FloatArray:
    """Angles whose squared sines these are."""
    return np.degrees(np.arcsin(np.sqrt(np.clip(misalignments, 0.0, 1.0))))
