"""What every look at neighbourhoods needs: which points to look at, and how many at a time."""

import numpy as np
from numpy.typing import NDArray

_BLOCK = 4_000_000  # numbers in one block of neighbourhoods (32 MB), so that memory stays bounded


def evenly_spaced(n_points: int, most: int) -> NDArray[np.intp]:
    """Indices of at most so many points, spread over all of them.

    Examples
    --------
    >>> evenly_spaced(9, 3)
    array([0, 4, 8])
    """
    return np.linspace(0, n_points - 1, min(n_points, most)).astype(int)


def blocks(n_points: int, size: int) -> list[slice]:
    """Slices of the points, each with neighbourhoods of so many numbers that fit in memory."""
    step = max(1, _BLOCK // size)
    return [slice(start, start + step) for start in range(0, n_points, step)]
