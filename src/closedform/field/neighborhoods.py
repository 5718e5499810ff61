"""Which points to look at: measuring a field costs the same however many points it has."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from closedform.arrays import FloatArray
from closedform.field.tolerances import FEWEST_POINTS, TOO_MANY_INPUTS

_BLOCK = 4_000_000  # numbers in one block of neighbourhoods (32 MB), so that memory stays bounded

_MOST_IN_TREE = 10  # inputs; with more a tree of points visits most of them, one by one

MOST_LOOKED_AT = 10_000
"""Points on which a field's quality is estimated: what none of them shows holds, with 95%
confidence, at fewer than 3 in 10,000 of all."""


def affordable(most: int, n_inputs: int) -> int:
    """So many points, or fewer of many inputs: what is computed at a point grows with their number.

    Examples
    --------
    >>> affordable(700, 3), affordable(700, 500)
    (700, 100)
    """
    return min(most, max(FEWEST_POINTS, most * TOO_MANY_INPUTS // n_inputs))


def looked_at(n_points: int) -> NDArray[np.intp]:
    """Indices of all points, or of `MOST_LOOKED_AT` of them in their order: drawn at random, since
    every hundredth point of a grid would be a few of its lines, and the same ones every time.

    Examples
    --------
    >>> looked_at(3), len(looked_at(10**6))
    (array([0, 1, 2]), 10000)
    """
    if n_points <= MOST_LOOKED_AT:
        return np.arange(n_points)
    drawn = np.random.default_rng(0).choice(n_points, MOST_LOOKED_AT, replace=False, shuffle=False)
    return np.sort(drawn)


def count_distinct(points: FloatArray) -> int:
    """How many different rows there are.

    Beyond `MOST_LOOKED_AT` fingerprints of 64 bits are counted instead of rows, which are sorted
    far more slowly; among 10 million rows two share one by chance in 3 of a million cases.
    """
    if len(points) <= MOST_LOOKED_AT:
        return len(np.unique(points, axis=0))
    found = np.sort(_fingerprints(points))
    return 1 + int((found[1:] != found[:-1]).sum())


def _fingerprints(points: FloatArray) -> NDArray[np.uint64]:
    """64 bits for each row, which depend on all of its bits: the mixing of SplitMix64."""
    mixed = np.zeros(len(points), dtype=np.uint64)
    for column in points.T:
        mixed ^= (column + 0.0).view(np.uint64)  # adding 0 turns -0 into 0, which equals it
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def nearest_others(scaled: FloatArray, count: int = 1) -> NDArray[np.intp]:
    """For each of more than `count` points, so many of the others, nearest first.

    Examples
    --------
    >>> nearest_others(np.array([[0.0], [1.0], [1.1]])).tolist()
    [[1], [2], [1]]
    """
    n_points, n_inputs = scaled.shape
    if n_inputs <= _MOST_IN_TREE:
        return np.asarray(KDTree(scaled).query(scaled, count + 1)[1])[:, 1:]
    centred = scaled - scaled.mean(axis=0)
    squares = np.einsum("nd,nd->n", centred, centred)
    nearest = np.empty((n_points, count), dtype=np.intp)
    for block in blocks(n_points, n_points):
        distances = squares - 2 * centred[block] @ centred.T
        rows = np.arange(n_points)[block]
        distances[np.arange(len(rows)), rows] = np.inf
        near = np.argpartition(distances, count - 1, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(distances, near, axis=1), axis=1, kind="stable")
        nearest[block] = np.take_along_axis(near, order, axis=1)
    return nearest


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


def n_coefficients(n_coordinates: int, degree: int = 2) -> int:
    """Of a polynomial of degree 1 or 2."""
    return 1 + n_coordinates + (n_coordinates * (n_coordinates + 1) // 2 if degree == 2 else 0)


def polynomial_design(steps: FloatArray, degree: int = 2) -> FloatArray:
    """Monomials of steps (..., n_coordinates), up to a degree of 1 or 2."""
    columns = [np.ones_like(steps[..., :1]), steps]
    if degree == 2:
        first, second = np.triu_indices(steps.shape[-1])
        columns.append(steps[..., first] * steps[..., second])
    return np.concatenate(columns, axis=-1)
