"""What every layer needs from arrays: check a shape, freeze a copy."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from closedform.errors import ShapeError

FloatArray = NDArray[np.float64]


def as_points(points: ArrayLike, n_inputs: int) -> FloatArray:
    """Points as a float64 array of shape (n_points, n_inputs).

    Raises
    ------
    ShapeError
        If the array has another shape.

    Examples
    --------
    >>> as_points([[1, 2], [3, 4]], 2).shape
    (2, 2)
    """
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != n_inputs:
        raise ShapeError(
            f"Points have shape {array.shape}; pass an array of shape (n_points, {n_inputs})."
        )
    return array


def frozen(array: ArrayLike) -> FloatArray:
    """Copy to float64 and make it read-only."""
    copy = np.array(array, dtype=np.float64)
    copy.flags.writeable = False
    return copy
