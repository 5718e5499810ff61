"""Tangent planes of curved data: local PCA on nearest neighbours, corrected for curvature."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from closedform.arrays import FloatArray, frozen
from closedform.errors import FieldError
from closedform.field.neighborhoods import blocks, evenly_spaced, n_coefficients, polynomial_design
from closedform.field.rank import gap_rank
from closedform.field.tangent_space import TangentSpace
from closedform.field.tolerances import BENDING, TOO_MANY_INPUTS, UNBENT

_SAMPLE = 500  # points whose neighbourhoods suffice to see whether the data is curved, and how much
_FEWEST = 5  # of them with many inputs, where each holds thousands of points


def local_tangent(
    points: FloatArray, scale: FloatArray, *, n_neighbors: int | None = None
) -> TangentSpace:
    """A tangent space at each point, from its nearest neighbours in scaled inputs.

    Local PCA gives a plane; its slope is then corrected by a quadratic fit of the neighbours'
    heights above it, because a neighbourhood that is larger on one side tilts the plane of a curved
    surface. The rank is chosen once, at the largest gap (at least 3 times) of the median local
    spectrum.

    Largest, 99% and mean angle to the true planes in degrees at noise 1e-3, the worst of three
    seeds, from ``python bench/scripts/tangent_planes.py``: unit sphere 0.4, 0.3, 0.1 with 2,000
    points and with 5,000; torus of radii 2 and 1: 5.0, 3.2, 0.8 with 2,000 points and 3.1, 1.9, 0.5
    with 5,000.

    n_neighbors: neighbours of the fit. By default chosen from the residuals: more for noisy points,
        fewer for a strongly curved surface.
    """
    scaled = points / scale
    unique = np.unique(scaled, axis=0)
    n_inputs = points.shape[1]
    n_plane = _plane_neighbors(n_inputs)
    if len(unique) <= n_plane:
        raise FieldError(
            f"There are {len(unique)} different points; local tangent planes in {n_inputs} inputs "
            f"need more than {n_plane}. Add points or state the constraints."
        )
    tree = KDTree(unique)
    axes, values = _local_axes(scaled, tree, n_plane)
    spectrum = np.median(values, axis=0)
    chosen = gap_rank(spectrum).rank
    if chosen == n_inputs:
        return TangentSpace("local", n_inputs, frozen(np.eye(n_inputs)), frozen(spectrum))
    count = _choose_neighbors(scaled, tree, axes, chosen) if n_neighbors is None else n_neighbors
    if count is not None:
        axes, _ = _local_axes(scaled, tree, max(count, n_plane))
        axes = _fit(scaled, tree, axes, chosen, max(count, n_coefficients(chosen) + 1)).axes
    return TangentSpace(
        "local", chosen, frozen(axes[:, :, :chosen]), frozen(spectrum / spectrum[0])
    )


def curved_rank(scaled: FloatArray) -> int | None:
    """The dimension of the curved surface that points lie on, or None if they fill their space.

    On a curved surface the share of the normal directions shrinks with the neighbourhood. A flat
    but thin cloud (two inputs of correlation 0.999) shows the opposite. Nearest neighbours on a
    surface spread nearly alike in all its directions; along a bundle of densely sampled
    trajectories they do not.
    """
    unique = np.unique(scaled, axis=0)
    n_points, n_inputs = unique.shape
    small = _plane_neighbors(n_inputs)
    if n_inputs < 3 or n_points < 8 * small:
        return None
    tree = KDTree(unique)
    # What a neighbourhood costs grows with the cube of the inputs, and so does what it tells.
    most = min(_SAMPLE, max(_FEWEST, int(_SAMPLE * (TOO_MANY_INPUTS / n_inputs) ** 3)))
    sample = unique[evenly_spaced(n_points, most)]
    near, far = (
        np.median(_local_axes(sample, tree, count)[1], axis=0) for count in (small, 4 * small)
    )
    rank = gap_rank(near).rank
    # On surfaces of dimension 2, 3 and 4 the ratio was about 0.73, 0.62 and 0.41; on trajectories
    # 0.43 at most.
    if not 2 <= rank < n_inputs or near[rank - 1] < 1.1 / rank * near[0]:
        return None
    share_near, share_far = near[rank] / near[rank - 1], far[rank] / far[rank - 1]
    # Where the pieces are flat to rounding, as with one-hot columns, both shares are noise.
    is_bent = UNBENT < share_far < 0.6 and 1.1 * share_near < share_far
    return rank if share_near < 0.3 and is_bent else None


def _plane_neighbors(n_inputs: int) -> int:
    # With fewer than two neighbours per input the smallest local variances vanish by chance, which
    # looks like a surface.
    return max(12, 2 * n_inputs + 2)


def _local_axes(scaled: FloatArray, tree: KDTree, count: int) -> tuple[FloatArray, FloatArray]:
    """Principal axes (n, d, d) of neighbourhoods, longest first, and relative lengths (n, d)."""
    n_points, n_inputs = scaled.shape
    axes, lengths = np.empty((n_points, n_inputs, n_inputs)), np.empty((n_points, n_inputs))
    for block in blocks(n_points, (count + 1) * n_inputs):
        neighbors = tree.data[tree.query(scaled[block], count + 1)[1]]
        centred = neighbors - neighbors.mean(axis=1, keepdims=True)
        values, vectors = np.linalg.eigh(np.swapaxes(centred, 1, 2) @ centred)
        axes[block] = vectors[:, :, ::-1]
        lengths[block] = np.sqrt(np.maximum(values[:, ::-1], 0.0))
    return axes, lengths / np.maximum(lengths[:, :1], np.finfo(float).tiny)


@dataclass(frozen=True, slots=True)
class _PlaneFit:
    """Quadratic fits of the neighbours' heights above a plane."""

    axes: FloatArray  # (n, d, d): the first ones follow the slope of the fit at the point itself
    variance: float  # typical variance of the heights that is left, in one normal direction
    gain: float  # typical variance of the slopes for a unit variance of the heights
    reach: float  # typical size of the neighbourhood


def _choose_neighbors(scaled: FloatArray, tree: KDTree, axes: FloatArray, rank: int) -> int | None:
    """The neighbourhood with the smallest error of the plane: noise favours large ones, curvature
    small ones.

    None if even a small one holds more than a fifth of the points: then it is not local, and the
    plain plane is better.
    """
    sample = evenly_spaced(len(scaled), _SAMPLE)
    limit = tree.n // 5
    counts = [int(multiple * n_coefficients(rank)) for multiple in (1.5, 2, 3, 5, 8, 13)]
    fits = [
        _fit(scaled[sample], tree, axes[sample], rank, count) for count in counts if count <= limit
    ]
    if len(fits) < 2:
        return None
    noise = fits[0].variance
    errors = [
        noise * fit.gain + BENDING * max(fit.variance - noise, 0.0) / fit.reach**2
        for fit in fits[1:]
    ]
    return counts[1 + int(np.argmin(errors))]


def _fit(scaled: FloatArray, tree: KDTree, axes: FloatArray, rank: int, count: int) -> _PlaneFit:
    """Fit heights above the plane by a quadratic function; near neighbours count more."""
    tilted, measured = np.empty_like(axes), np.empty((len(scaled), 3))
    for block in blocks(len(scaled), (count + 1) * (scaled.shape[1] + n_coefficients(rank))):
        distances, indices = tree.query(scaled[block], count + 1)
        reach = 1.1 * np.maximum(distances[:, -1:], np.finfo(float).tiny)
        turned = ((tree.data[indices] - scaled[block, None, :]) / reach[:, :, None]) @ axes[block]
        weights = np.sqrt(1.0 - (distances / reach) ** 2)[:, :, None]
        along, heights = turned[:, :, :rank], turned[:, :, rank:] * weights
        design = polynomial_design(along)
        inverse = np.linalg.pinv(design * weights, rcond=1e-8)
        coefficients = inverse @ heights
        slopes = coefficients[:, 1 : 1 + rank]
        plane, normal = axes[block][:, :, :rank], axes[block][:, :, rank:]
        tilted[block] = np.linalg.svd(
            plane + normal @ np.swapaxes(slopes, 1, 2), full_matrices=True
        )[0]
        left = ((heights - design * weights @ coefficients) ** 2).sum(axis=(1, 2)) / heights.shape[
            2
        ]
        freedom = (weights**2).sum(axis=(1, 2)) * (1 - design.shape[2] / design.shape[1])
        measured[block, 0] = left / freedom * reach[:, 0] ** 2
        measured[block, 1] = (inverse[:, 1 : 1 + rank] ** 2).sum(axis=(1, 2)) / reach[:, 0] ** 2
        measured[block, 2] = reach[:, 0]
    return _PlaneFit(tilted, *(float(value) for value in np.median(measured, axis=0)))
