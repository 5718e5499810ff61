"""Regions of the data: cells of neighbouring points, which stand or fall together.

A trained network is wrong smoothly: neighbouring points share its error, so they are not
independent. What is left out and drawn again is therefore a region, never a point.
"""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from closedform.arrays import FloatArray
from closedform.field.gradient_field import GradientField

N_REGIONS, SMALLEST_REGION = 24, 5
"""With 24 regions the errors of the jackknife are known to about a seventh. A region has at least
so many points on average; with fewer points there are fewer regions."""


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
