"""Fields of what is perpendicular: to a flow, to secants of orbits, or to concepts already found.

A conserved quantity does not change along the velocity, so its gradient is perpendicular to it.
The directions that are allowed at a point are the complement of the velocity there: a field of
rank d - 1, inside which the gradient of every law lies. In the same way concepts of several latents
come one by one, each in the complement of those before it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, frozen
from closedform.errors import FieldError, ShapeError
from closedform.expressions.expression import Expression
from closedform.field.arguments import checked_names
from closedform.field.gradient_field import GradientField
from closedform.field.quality import measured_noise
from closedform.field.tangent import StatedConstraint, TangentSpace, choose_tangent
from closedform.field.tangent_space import robust_spread
from closedform.field.tolerances import RESIDUAL_VANISHES

Velocities = ArrayLike | Callable[[FloatArray], Any]
"""Velocities at the points, or a NumPy function from points (n, d) to velocities (n, d)."""

CLOSE = 0.1
"""Farthest that the points of a pair may lie apart, in spreads of the inputs: a secant of a curve
with a radius of one spread is then parallel to the curve at its middle within 0.07 degrees."""


def field_of_flow(
    points: ArrayLike,
    velocities: Velocities,
    errors: ArrayLike | None,
    names: Sequence[str] | None,
    tangent: str | TangentSpace,
    constraints: Sequence[StatedConstraint],
    notes: Sequence[str],
) -> GradientField:
    """The field across a flow; see `GradientField.from_flow`."""
    places = _rows(points, "points")
    moves = _rows(velocities(places.copy()) if callable(velocities) else velocities, "velocities")
    if moves.shape != places.shape:
        raise ShapeError(
            f"Points have the shape {places.shape} and velocities {moves.shape}; pass one velocity "
            f"for each point."
        )
    n_inputs = places.shape[1]
    if n_inputs < 2:
        raise FieldError(
            "A flow of one input moves through all of its values, so that nothing is conserved; "
            "pass two inputs or more."
        )
    scale = robust_spread(places)
    labels = checked_names(names, n_inputs)
    space = choose_tangent(places, scale, tangent, constraints, labels)
    # Velocities inside the data's tangent space: noise leads out of it, motion does not.
    steps = (moves / scale)[:, :, None]
    inside = space.ambient(space.coordinates(steps, np.ones(n_inputs)))[:, :, 0]
    with np.errstate(all="ignore"):
        across = _complements(inside / np.linalg.norm(inside, axis=1, keepdims=True))
    weights, said = _reliability(inside, scale, errors)
    return GradientField.from_arrays(
        places,
        np.swapaxes(across, 1, 2) / scale,
        names=labels,
        tangent=space,
        weights=weights,
        notes=(*notes, *said),
        signed=False,
    )


def field_of_pairs(
    first: ArrayLike,
    second: ArrayLike,
    errors: ArrayLike | None,
    names: Sequence[str] | None,
    tangent: str | TangentSpace,
    constraints: Sequence[StatedConstraint],
    notes: Sequence[str],
) -> GradientField:
    """The field across secants of close pairs; see `GradientField.from_pairs`."""
    start, end = _rows(first, "first points"), _rows(second, "second points")
    if start.shape != end.shape:
        raise ShapeError(
            f"The first points have the shape {start.shape} and the second {end.shape}; pass two "
            f"points for each pair."
        )
    scale = robust_spread(start)
    distances = np.linalg.norm((end - start) / scale, axis=1)
    near = distances <= CLOSE
    if not near.any():
        raise FieldError(
            f"No pair is close: the points of the closest are {distances.min():.2g} spreads apart, "
            f"and a secant shows a direction only up to {CLOSE:g}. Pass distant pairs to "
            f"closedform.conserved(pairs=...)."
        )
    left = int(np.sum(~near))
    said = [f"{left} of {len(near)} pairs are farther apart than {CLOSE:g} spreads and left out."]
    return field_of_flow(
        (start[near] + end[near]) / 2,
        end[near] - start[near],
        None if errors is None else np.broadcast_to(errors, start.shape)[near],
        names,
        tangent,
        constraints,
        (*notes, *(said if left else ())),
    )


def _complements(unit: FloatArray) -> FloatArray:
    """Orthonormal bases, (n, d, d - 1), of what is perpendicular to unit vectors, by Householder
    reflections.
    """
    mirror = unit.copy()
    mirror[:, 0] += np.where(unit[:, 0] < 0, -1.0, 1.0)
    mirror /= np.linalg.norm(mirror, axis=1, keepdims=True)
    return (np.eye(unit.shape[1]) - 2 * mirror[:, :, None] * mirror[:, None, :])[:, :, 1:]


def _rows(values: Any, what: str) -> FloatArray:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 2 or not len(array):
        raise ShapeError(
            f"The {what} have the shape {array.shape}; pass (n_points, n_inputs), one or more."
        )
    return array


def _reliability(
    scaled: FloatArray, scale: FloatArray, errors: ArrayLike | None
) -> tuple[FloatArray | None, list[str]]:
    """How much each point counts: the inverse variance of its direction, and a sentence on it."""
    if errors is None:
        return None, []
    spread = np.broadcast_to(np.asarray(errors, dtype=np.float64), scaled.shape) / scale
    with np.errstate(all="ignore"):
        angles = np.sqrt(np.mean(spread**2, axis=1)) / np.linalg.norm(scaled, axis=1)
    angles = np.where(np.isfinite(angles), angles, np.inf)
    typical = float(np.median(angles))
    if not typical > 0:
        return None, []
    # Points that are better known than the typical one count as it does: few may not decide.
    weights = 1 / np.maximum(angles / typical, 1.0) ** 2
    degrees = np.degrees(min(typical, 1.0))
    return weights, [f"Errors of the velocities turn directions by {degrees:.2g} degrees."]


def field_modulo(field: GradientField, concepts: Sequence[Expression]) -> GradientField:
    """What a field of a higher rank holds apart from known independent concepts: the residual of
    each after the other, with its own noise. Every function of the latents still fits it, except
    functions of the concepts alone.
    """
    if not concepts:
        return field
    left = field
    for concept in concepts:
        left = residual_field(left, concept.rename(field.names).gradient(field.points))
    counted = np.unique(left.points[left.weights > 0], axis=0, return_index=True)[1]
    chosen = np.flatnonzero(left.weights > 0)[np.sort(counted)]
    degrees, resolution = measured_noise(chosen, left.points, left.scale, left.frames, left.tangent)
    quality = replace(
        left.quality,
        rank=left.rank,
        tangent_kind=left.tangent.kind,
        tangent_rank=left.tangent.rank,
        noise_degrees=degrees,
        noise_resolution_degrees=resolution,
    )
    return replace(left, quality=quality)


def residual_field(field: GradientField, gradients: ArrayLike) -> GradientField:
    """Take a found concept's gradients, in the user's coordinates, out of the tangent space and the
    network's directions; points where they vanish or are not finite get weight 0.

    A candidate is then scored by what its own gradient adds to the found one's. So g1 + 0.02 x does
    not pass as a second concept after g1: what it adds is x.
    """
    if field.rank < 2:
        raise ShapeError(
            f"The field has rank {field.rank}, so nothing is left when a concept is taken out of "
            "it. Pass fewer concepts, or a field of more latents."
        )
    with np.errstate(all="ignore"):
        found = field.project(gradients)
        lengths = np.linalg.norm(found, axis=1)
        whole = np.linalg.norm(np.asarray(gradients, dtype=np.float64) * field.scale, axis=1)
        usable = np.isfinite(lengths) & (lengths > RESIDUAL_VANISHES * whole)
        unit = np.where(
            usable[:, None],
            found / np.where(usable, lengths, 1.0)[:, None],
            np.eye(field.tangent.rank)[0],
        )
    complement = _complements(unit)
    # The network's directions inside the complement: of k of them one is the found gradient, or the
    # nearest to it.
    inside, sizes, _ = np.linalg.svd(
        np.swapaxes(complement, 1, 2) @ field.frames, full_matrices=False
    )
    frames = inside[:, :, : field.rank - 1]
    usable &= sizes[:, field.rank - 2] > RESIDUAL_VANISHES
    basis = complement if field.tangent.basis is None else field.tangent.basis @ complement
    tangent = TangentSpace(
        "constraints", field.tangent.rank - 1, frozen(basis), field.tangent.spectrum, None
    )
    return replace(
        field,
        frames=frozen(frames),
        directions=frozen(np.linalg.qr((basis @ frames) / field.scale[:, None])[0]),
        weights=frozen(np.where(usable, field.weights, 0.0)),
        tangent=tangent,
        is_signed=False,
        # What is left is one of several concepts, and the latents are functions of all of them.
        latents=None,
        slopes=None,
    )
