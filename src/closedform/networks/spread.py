"""The scale of each input, by which steps and radii are measured."""

import numpy as np

from closedform.arrays import FloatArray


def robust_spread(points: FloatArray) -> FloatArray:
    """Half the distance between the quantiles of one standard deviation, of each input; 1 for an input that never varies.

    Examples
    --------
    >>> robust_spread(np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]]))
    array([0.68, 1.  ])
    """
    low, high = np.quantile(points, [0.16, 0.84], axis=0)
    spread = (high - low) / 2
    # Where most points share one value, quantiles see nothing.
    spread = np.where(spread > 0, spread, points.std(axis=0))
    return np.where(spread > 0, spread, 1.0)
