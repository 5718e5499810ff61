"""Fields of what may be conserved: the directions across a flow, or across secants of orbits.

A conserved quantity does not change along the velocity, so its gradient is perpendicular to it.
The directions that are allowed at a point are the complement of the velocity there: a field of
rank d - 1, inside which the gradient of every law lies.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray
from closedform.errors import ShapeError
from closedform.field.arguments import checked_names
from closedform.field.errors import FieldError
from closedform.field.gradient_field import GradientField
from closedform.field.scaling import robust_spread
from closedform.field.tangent import StatedConstraint, TangentSpace, choose_tangent

Velocities = ArrayLike | Callable[[FloatArray], Any]
"""Velocities at the points, or a NumPy function from points (n, d) to velocities (n, d)."""

CLOSE = 0.1
"""Farthest that the points of a pair may lie apart, in spreads of the inputs: a secant of a curve
with a radius of one spread is then parallel to the curve at its middle within 0.07 degrees.
"""


def field_of_flow(
    points: ArrayLike,
    velocities: Velocities,
    *,
    errors: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    tangent: str | TangentSpace = "auto",
    constraints: Sequence[StatedConstraint] = (),
    notes: Sequence[str] = (),
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
    space = (
        tangent
        if isinstance(tangent, TangentSpace)
        else choose_tangent(places, scale, tangent, constraints, labels)
    )
    inside = _along(moves / scale, space)
    across = complement(inside)
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
    *,
    errors: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    tangent: str | TangentSpace = "auto",
    constraints: Sequence[StatedConstraint] = (),
    notes: Sequence[str] = (),
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
        errors=None if errors is None else np.broadcast_to(errors, start.shape)[near],
        names=names,
        tangent=tangent,
        constraints=constraints,
        notes=(*notes, *(said if left else ())),
    )


def complement(vectors: FloatArray) -> FloatArray:
    """Orthonormal bases, shape (n, d, d - 1), of what is perpendicular to each of some vectors, by
    Householder reflections; not finite where a vector vanishes or is not finite.

    Examples
    --------
    >>> complement(np.array([[0.0, 2.0]]))[0].round(12)
    array([[-1.],
           [ 0.]])
    """
    with np.errstate(all="ignore"):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
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


def _along(scaled: FloatArray, space: TangentSpace) -> FloatArray:
    """Velocities inside the data's tangent space: noise leads out of it, motion does not."""
    if space.basis is None:
        return scaled
    coordinates = np.swapaxes(space.basis, -1, -2) @ scaled[:, :, None]
    return (space.basis @ coordinates)[:, :, 0]


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
