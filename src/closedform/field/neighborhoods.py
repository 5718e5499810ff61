"""Which points to look at, and what neighbouring directions say: how noisy they are once their
smooth trend is taken out, and whether their signs mean anything.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from scipy.special import chdtri

from closedform.arrays import FloatArray
from closedform.field.findings import Finding
from closedform.field.tangent_space import TangentSpace
from closedform.field.tolerances import (
    ARBITRARY_SIGNS,
    FEWEST_POINTS,
    MOST_LOOKED_AT,
    TOO_MANY_INPUTS,
)

_BLOCK = 4_000_000  # numbers in one block of neighbourhoods (32 MB), so that memory stays bounded

_MOST_IN_TREE = 10  # inputs; with more a tree of points visits most of them, one by one


def affordable(most: int, n_inputs: int) -> int:
    """So many points, or fewer if there are many inputs: the cost of each point grows with them."""
    return min(most, max(FEWEST_POINTS, most * TOO_MANY_INPUTS // n_inputs))


def looked_at(n_points: int) -> NDArray[np.intp]:
    """Indices of all points, or of `MOST_LOOKED_AT` of them, always the same. Drawn at random,
    since every hundredth point of a grid would be a few of its lines.
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
    """For each of more than `count` points, so many of the others, nearest first."""
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
    """Indices of at most so many points, spread over all of them."""
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


_SAMPLE = 400  # most points whose neighbourhoods are looked at
_NEIGHBORS = 10_000  # neighbours in all; larger neighbourhoods need fewer points to tell the same
_RICHEST = (
    36  # coefficients of the largest quadratic trend (7 coordinates); larger ones take seconds
)


@dataclass(frozen=True, slots=True)
class DirectionalNoise:
    """An estimate of the typical angle between the directions and a smooth field."""

    degrees: float  # the estimate, extrapolated to neighbourhoods of size 0
    # What an exact quadratic concept would show at the same points without the extrapolation.
    # Smaller estimates may be the curvature of the field.
    resolution_degrees: float


def directional_noise(
    scaled: FloatArray, frames: FloatArray, tangent: TangentSpace
) -> DirectionalNoise | None:
    """Estimate the noise of directions at usable points, divided by the inputs' spread; None if
    there are too few points, more than 64 tangent directions, or if the field fills the tangent
    space.

    In each neighbourhood a polynomial trend (quadratic where points suffice, else linear) is fitted
    to the directions. What is left is noise and higher derivatives; comparing neighbourhoods of two
    sizes extrapolates the latter away. A network's smooth error (its bias) cannot be seen this way.

    Measured on ten fields with 500 to 5,000 points (``python bench/scripts/directional_noise.py``):
    up to 6 inputs, noise of 1 to 10 degrees is read within 13% where it exceeds the resolution.
    """
    rank = frames.shape[2]
    degree = _degree(len(scaled), tangent.rank)
    if degree is None or rank >= tangent.rank:
        return None
    tree = KDTree(scaled)
    n_free = n_coefficients(tangent.rank, degree)
    counts = (max(int(1.5 * n_free), n_free + 4), max(3 * n_free, n_free + 8))
    near, far = (
        _disagreement(scaled, tree, tangent.ambient(frames), tangent, degree, count)
        for count in counts
    )
    growth = max((far[1] / near[1]) ** (degree + 1) - 1, 0.01) if near[1] > 0 else 1.0
    left = max(near[0] - max(far[0] - near[0], 0.0) / growth, 0.0)
    plain = tangent.ambient(_quadratic(scaled, tangent))
    known = _disagreement(scaled, tree, plain, tangent, degree, counts[0])
    return DirectionalNoise(_angle(left), _angle(known[0]))


def _quadratic(scaled: FloatArray, tangent: TangentSpace) -> FloatArray:
    """Directions (n, r, 1) of a concept without noise: products of neighbouring inputs, added."""
    centred = scaled - scaled.mean(axis=0)
    gradient = tangent.coordinates(
        np.roll(centred, 1, axis=1) + np.roll(centred, -1, axis=1), np.ones(scaled.shape[1])
    )
    lengths = np.linalg.norm(gradient, axis=1, keepdims=True)
    return (gradient / np.maximum(lengths, np.finfo(float).tiny))[:, :, None]


def _degree(n_points: int, n_coordinates: int) -> int | None:
    """The richest trend for which neighbourhoods stay small parts of the data."""
    quadratic = n_coefficients(n_coordinates, 2)
    if quadratic <= _RICHEST and 30 * quadratic <= n_points:
        return 2
    if n_coordinates > TOO_MANY_INPUTS:
        return None
    return 1 if max(4 * n_coefficients(n_coordinates, 1), 30) <= n_points else None


def _disagreement(
    scaled: FloatArray,
    tree: KDTree,
    vectors: FloatArray,
    tangent: TangentSpace,
    degree: int,
    count: int,
) -> tuple[float, float]:
    """Typical squared residual of a direction in neighbourhoods of one size, and their extent."""
    n_points, n_inputs, rank = vectors.shape
    sample = np.unique(evenly_spaced(n_points, min(_SAMPLE, max(_NEIGHBORS // count, 50))))
    n_free = n_coefficients(tangent.rank, degree)
    residuals, extents = np.empty(len(sample)), np.empty(len(sample))
    for block in blocks(len(sample), count * (n_inputs * rank + n_free)):
        chosen = sample[block]
        neighbors = tree.query(scaled[chosen], count)[1]
        steps, turned = (
            scaled[neighbors] - scaled[chosen, None, :],
            np.moveaxis(vectors[neighbors], 3, 2),
        )
        if tangent.basis is not None:
            basis = tangent.basis if tangent.is_global else tangent.basis[chosen]
            steps, turned = steps @ basis, turned @ (basis if tangent.is_global else basis[:, None])
        turned = _aligned(turned).reshape(len(chosen), count, -1)
        design = polynomial_design(steps, degree)
        lengths = np.linalg.norm(design, axis=1, keepdims=True)
        trend = np.linalg.qr(design / np.maximum(lengths, np.finfo(float).tiny))[0]
        left = turned - trend @ (np.swapaxes(trend, 1, 2) @ turned)
        residuals[block] = (left**2).sum(axis=(1, 2)) / ((count - n_free) * rank)
        extents[block] = (steps**2).sum(axis=2).mean(axis=1)
    # The median ignores the few places where a field turns on the spot; noise alone would put it
    # this far below the mean.
    freedom = (count - n_free) * (tangent.rank - rank) * rank
    return float(np.median(residuals) * freedom / chdtri(freedom, 0.5)), float(np.median(extents))


def _aligned(turned: FloatArray) -> FloatArray:
    """Bases (n, count, rank, r), each turned within its span to be nearest to the central one."""
    left, _, right = np.linalg.svd(turned @ np.swapaxes(turned[:, :1], 2, 3))
    return np.swapaxes(left @ right, 2, 3) @ turned


def _angle(squared: float) -> float:
    """Degrees of an angle whose chord has this squared length."""
    return float(np.degrees(2 * np.arcsin(min(np.sqrt(squared) / 2, 1.0))))


MOST_COMPARED = 2000
"""Points whose neighbours are looked at: shares are then known to 1%."""

PARALLEL = 0.5
"""Cosine from which neighbours are alike but for their signs; with many inputs, where neighbours
are far apart, few are."""


def look_at_signs(scaled: FloatArray, directions: FloatArray) -> tuple[bool, tuple[Finding, ...]]:
    """Whether signs of directions (n_points, n_inputs) hold, and what to say if not."""
    if len(scaled) < 2:
        return True, ()
    places = evenly_spaced(len(scaled), MOST_COMPARED)
    units = directions[places] / np.linalg.norm(directions[places], axis=1, keepdims=True)
    along = (units * units[nearest_others(scaled[places])[:, 0]]).sum(axis=1)
    if (along < 0).mean() < ARBITRARY_SIGNS:
        return True, ()
    alike = along[np.abs(along) > PARALLEL]
    share = float((alike < 0).mean()) if len(alike) else 0.0
    if 2 * len(alike) < len(along) or share < ARBITRARY_SIGNS:
        return False, ()
    message = (
        f"At {100 * share:.0f}% of the points the nearest neighbour points the opposite way: the "
        "signs of the gradients are arbitrary, so a formula that turns round, such as x**2 for x, "
        "cannot be told from one that does not. Correct the signs, or pass signed=False."
    )
    return False, (Finding("arbitrary-signs", "warning", message, {"share": share}),)
