"""The scale of each input: angles depend on units, so every comparison divides by it."""

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray
from closedform.errors import ShapeError
from closedform.field.tolerances import CONSTANT_INPUT

NORMAL_IQR = 1.3489795003921634
"""Interquartile range of a normal distribution of spread 1, so that the two measures agree on
it.
"""


def robust_spread(points: ArrayLike) -> FloatArray:
    """Spread of each input, from its interquartile range; a few outliers do not move it.

    Where the interquartile range vanishes (an input that is mostly 0) it is the standard deviation,
    and 1 for an input that does not vary at all.

    points (n_points, n_inputs): finite numbers.

    Returns an array (n_inputs,): finite and positive.

    Examples
    --------
    >>> robust_spread([[0.0, 5.0], [1.3489795, 5.0], [2.697959, 5.0]]).round(6)
    array([1., 1.])
    """
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.size == 0:
        raise ShapeError(
            f"Points have shape {array.shape}; pass a non-empty array of shape (n_points, "
            f"n_inputs)."
        )
    # Divided by the largest entry first: squares of very large or very small units would overflow
    # or vanish.
    largest = np.abs(array).max(axis=0)
    largest[largest == 0] = 1.0
    relative = array / largest
    low, high = np.percentile(relative, [25, 75], axis=0)
    interquartile, deviation = (high - low) / NORMAL_IQR, relative.std(axis=0)
    vanishes = interquartile <= CONSTANT_INPUT * np.maximum(np.abs(low), np.abs(high))
    spread = np.where(vanishes, deviation, interquartile) * largest
    return np.where((deviation > CONSTANT_INPUT) & (spread > 0), spread, 1.0)
