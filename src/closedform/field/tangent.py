"""Which tangent space: exact affine constraints found in the data, those that the user states, or
the planes of curved data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import KDTree

from closedform.arrays import FloatArray, as_points, frozen
from closedform.basics.keywords import suggestion
from closedform.errors import FieldError, warn
from closedform.expressions.constraint import Constraint, parse_constraint
from closedform.expressions.expression import Expression
from closedform.field.neighborhoods import (
    blocks,
    evenly_spaced,
    looked_at,
    n_coefficients,
    polynomial_design,
)
from closedform.field.tangent_space import TangentSpace, gap_rank
from closedform.field.tolerances import (
    AFFINE,
    BENDING,
    FAR_POINTS,
    HOLDS,
    MOST_LOOKED_AT,
    SINGLE_PRECISION,
    TOO_MANY_INPUTS,
    UNBENT,
)

StatedConstraint = str | Expression | Constraint | Callable[[FloatArray], FloatArray]
"""Text, an expression, or a function from points (n, d) to gradients (n, d)."""


def affine_spectrum(points: FloatArray, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Relative singular values of the centred, scaled points, and the directions as columns. There
    must be more points than inputs.
    """
    scaled = points / scale
    # Drawing far points in along the line to the centre keeps every affine relation exactly, and a
    # few outliers then cannot make all other variation look small.
    distance = np.linalg.norm(scaled - np.median(scaled, axis=0), axis=1)
    reach = FAR_POINTS * max(float(np.median(distance)), np.finfo(float).tiny)
    weights = np.minimum(1.0, reach / np.maximum(distance, reach))
    centre = np.average(scaled, axis=0, weights=weights)
    scaled -= centre
    scaled *= weights[:, None]
    if len(scaled) > MOST_LOOKED_AT:  # a few rows with the same singular values and right vectors
        scaled = np.linalg.qr(scaled, mode="r")
    values, directions = np.linalg.svd(scaled, full_matrices=False)[1:]
    return values / max(float(values[0]), np.finfo(float).tiny), directions.T


def linear_tangent(points: FloatArray, scale: FloatArray) -> TangentSpace:
    """One tangent space for all points: the directions in which the data varies at all."""
    n_points, n_inputs = points.shape
    if n_points <= n_inputs:
        raise FieldError(
            f"{n_points} points in {n_inputs} inputs always satisfy affine constraints; pass "
            f"more points or tangent='none'."
        )
    spectrum, directions = affine_spectrum(points, scale)
    rank = int((spectrum > AFFINE).sum())
    if rank == 0 or np.ptp(points, axis=0).max() == 0:
        raise FieldError(
            f"All {n_points} points are the same, so that no direction can be read; pass "
            f"points that vary."
        )
    basis = np.eye(n_inputs) if rank == n_inputs else directions[:, :rank]
    return TangentSpace("linear", rank, frozen(basis), frozen(spectrum))


KINDS = ("auto", "none", "linear", "local", "constraints")
"""How a tangent space may be asked for."""


def check_tangent(tangent: object) -> None:
    """Refuse what is neither a kind nor a tangent space."""
    if not isinstance(tangent, TangentSpace) and tangent not in KINDS:
        hint = suggestion(str(tangent), KINDS) or "."
        raise FieldError(
            f"There is no tangent {tangent!r}{hint} Use {', '.join(map(repr, KINDS))}, or a "
            f"TangentSpace."
        )


def choose_tangent(
    points: FloatArray,
    scale: FloatArray,
    tangent: str | TangentSpace = "auto",
    constraints: Sequence[StatedConstraint] = (),
    names: Sequence[str] | None = None,
) -> TangentSpace:
    """The tangent space that was passed or asked for, or the one that fits the data.

    ``auto`` uses the exact affine constraints that the data satisfies and those that are stated; if
    none are stated it warns when the data seems to lie on a curved surface. ``constraints`` uses
    the stated ones alone.
    """
    n_points, n_inputs = points.shape
    labels = [f"x{column}" for column in range(n_inputs)] if names is None else names
    if isinstance(tangent, TangentSpace):
        if constraints:
            raise FieldError(
                "Both constraints and a ready tangent space were passed; build the space with the "
                "constraints, or pass only one of the two."
            )
        return tangent
    if isinstance(constraints, str):
        constraints = (constraints,)
    if constraints and tangent not in ("auto", "constraints"):
        raise FieldError(
            f"Constraints were stated, but tangent={tangent!r} does not use them; use "
            f"'constraints' or 'auto'."
        )
    if tangent == "constraints":
        return constraint_tangent(points, scale, constraints, labels)
    if tangent == "auto" and constraints:
        return constraint_tangent(
            points, scale, [*constraints, *_affine_constraints(points, scale)], labels
        )
    if tangent == "none":
        return TangentSpace("none", n_inputs)
    if tangent == "linear":
        return linear_tangent(points, scale)
    if tangent == "local":
        return local_tangent(points, scale)
    check_tangent(tangent)
    return _automatic(points, scale) if n_points > n_inputs else TangentSpace("none", n_inputs)


def _affine_constraints(points: FloatArray, scale: FloatArray) -> list[StatedConstraint]:
    """Gradients of affine functions that are constant on the data; stating them does no harm."""
    n_points, n_inputs = points.shape
    if n_points <= n_inputs:
        return []
    spectrum, directions = affine_spectrum(points, scale)
    normals = (directions / scale[:, None])[:, spectrum <= AFFINE]
    return [lambda at, normal=normal: np.tile(normal, (len(at), 1)) for normal in normals.T]


def _automatic(points: FloatArray, scale: FloatArray) -> TangentSpace:
    flat = linear = linear_tangent(points, scale)
    if linear.rank == points.shape[1]:
        flat = TangentSpace("none", linear.rank, spectrum=linear.spectrum)
    scaled = points[looked_at(len(points))] / scale
    local_rank = curved_rank(scaled if linear.basis is None else scaled @ linear.basis)
    if local_rank is None:
        return flat
    warn(
        f"The points seem to lie on a curved surface of dimension {local_rank} in {linear.rank} "
        "dimensions; the network's gradient is arbitrary across it. Pass tangent='local', or "
        "better state the constraint, as in constraints=['x**2 + y**2 = 1']."
    )
    return replace(flat, local_rank=local_rank)


def constraint_tangent(
    points: FloatArray,
    scale: FloatArray,
    constraints: Sequence[StatedConstraint],
    names: Sequence[str],
) -> TangentSpace:
    """Tangent spaces orthogonal, in scaled coordinates, to the gradients of functions that are
    constant on the data; not defined where these have no finite gradient, or less than their usual
    rank. Constraints that follow from each other count once.
    """
    n_inputs = points.shape[1]
    if not constraints:
        raise FieldError("No constraint was stated; pass constraints=[...] or another tangent.")
    gradients = np.stack(
        [_gradient(points, scale, constraint, names) for constraint in constraints], axis=2
    )
    lengths = np.linalg.norm(gradients, axis=1)
    finite = np.isfinite(lengths).all(axis=1)
    # One zero gradient leaves the others: the point's rank tells whether it is defined.
    unit = np.where(
        finite[:, None, None], gradients / np.where(lengths > 0, lengths, 1.0)[:, None, :], 0.0
    )
    left, values, _ = np.linalg.svd(unit, full_matrices=True)
    spectrum = np.median(values[finite], axis=0) if finite.any() else np.zeros(values.shape[1])
    n_independent = int((spectrum > SINGLE_PRECISION).sum())
    if n_independent == 0:
        raise FieldError(
            "The constraints have no gradient at most points; state functions that vary "
            "around the data."
        )
    if n_independent >= n_inputs:
        raise FieldError(
            f"The constraints fix all {n_inputs} inputs, so that no direction is left; state "
            f"fewer of them."
        )
    defined = finite & (values[:, n_independent - 1] > SINGLE_PRECISION)
    defined.flags.writeable = False
    basis, known = frozen(left[:, :, n_independent:]), None if defined.all() else defined
    return TangentSpace("constraints", n_inputs - n_independent, basis, frozen(spectrum), known)


def _gradient(
    points: FloatArray, scale: FloatArray, constraint: StatedConstraint, names: Sequence[str]
) -> FloatArray:
    """Gradient of a constraint in scaled coordinates, after a look at whether it holds."""
    if not isinstance(constraint, str | Expression | Constraint):
        gradient = as_points(constraint(points.copy()), points.shape[1])
        if len(gradient) != len(points):
            raise FieldError(
                f"A constraint returned {len(gradient)} gradients for {len(points)} points; "
                f"return one for each."
            )
        return gradient * scale
    parsed = parse_constraint(constraint, names)
    gradient = parsed.function.gradient(points) * scale
    values = parsed.function(points)
    reach = np.linalg.norm(gradient, axis=1)
    usable = np.isfinite(values) & np.isfinite(reach)
    if usable.any():
        level = 0.0 if parsed.is_equation else np.median(values[usable])
        variation = float(np.median(np.abs(values[usable] - level)))
        typical = float(np.median(reach[usable]))
        if variation > HOLDS * typical:
            warn(
                f"The constraint '{constraint}' is stated to hold, but it varies on the points: "
                f"typically by {variation:.2g}, where one spread of the inputs would change it by "
                f"{typical:.2g}. Its direction is projected out all the same; check the "
                "constraint, or leave it out."
            )
    return gradient


_SAMPLE = 500  # points whose neighbourhoods suffice to see whether the data is curved, and how much
_FEWEST = 5  # of them with many inputs, where each holds thousands of points


def local_tangent(
    points: FloatArray, scale: FloatArray, *, n_neighbors: int | None = None
) -> TangentSpace:
    """A tangent space at each point, from its nearest neighbours in scaled inputs.

    Local PCA gives a plane; its slope is then corrected by a quadratic fit of the neighbours'
    heights above it, because a neighbourhood that is larger on one side tilts the plane of a curved
    surface. ``python bench/scripts/tangent_planes.py`` measures the angles to true planes: 0.1
    degrees on average for a unit sphere, 0.8 for a torus, with 2,000 points.
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
    """The dimension of the curved surface that points lie on, or None if they fill their space."""
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
    # On a curved surface the share of the normal directions shrinks with the neighbourhood; a flat
    # but thin cloud (two inputs of correlation 0.999) shows the opposite. Nearest neighbours on a
    # surface spread nearly alike in all its directions; along a bundle of trajectories they do not.
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
    small ones. None if even a small one holds more than a fifth of the points.
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
