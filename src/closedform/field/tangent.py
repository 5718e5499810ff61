"""Which tangent space: exact affine constraints found in the data, or the one that the user asks
for.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.basics.keywords import suggestion
from closedform.field.attention import warn
from closedform.field.constraint_tangent import StatedConstraint, constraint_tangent
from closedform.field.errors import FieldError
from closedform.field.local_tangent import curved_rank, local_tangent
from closedform.field.neighborhoods import MOST_LOOKED_AT, looked_at
from closedform.field.tangent_space import TangentSpace
from closedform.field.tolerances import AFFINE, FAR_POINTS

__all__ = [
    "StatedConstraint",
    "TangentSpace",
    "affine_spectrum",
    "choose_tangent",
    "constraint_tangent",
    "linear_tangent",
    "local_tangent",
]


def affine_spectrum(points: FloatArray, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Relative singular values (n_inputs,) of the centred, scaled points, and the directions
    (n_inputs, n_inputs) as columns.

    There must be more points than inputs.

    Far points are drawn in along the line to the centre. That keeps every affine relation exactly,
    and a few outliers can then not make all other variation look small.
    """
    scaled = points / scale
    distance = np.linalg.norm(scaled - np.median(scaled, axis=0), axis=1)
    reach = FAR_POINTS * max(float(np.median(distance)), np.finfo(float).tiny)
    weights = np.minimum(1.0, reach / np.maximum(distance, reach))
    centre = np.average(scaled, axis=0, weights=weights)
    scaled -= centre
    scaled *= weights[:, None]
    values, directions = np.linalg.svd(_triangle(scaled), full_matrices=False)[1:]
    return values / max(float(values[0]), np.finfo(float).tiny), directions.T


def _triangle(rows: FloatArray) -> FloatArray:
    """A matrix of few rows with the same singular values and right vectors, made block by block."""
    if len(rows) <= MOST_LOOKED_AT:
        return rows
    step = max(MOST_LOOKED_AT, rows.shape[1])
    starts = range(0, len(rows), step)
    parts = [np.asarray(np.linalg.qr(rows[at : at + step], mode="r")) for at in starts]
    return np.asarray(np.linalg.qr(np.concatenate(parts), mode="r"))


def linear_tangent(
    points: FloatArray, scale: FloatArray, *, tolerance: float = AFFINE
) -> TangentSpace:
    """One tangent space for all points: the directions in which the data varies at all.

    Parameters
    ----------
    points : ndarray, shape (n_points, n_inputs)
    scale : ndarray, shape (n_inputs,)
        The spread of each input.
    tolerance : float
        Variation, relative to the largest, that counts as none.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 20)
    >>> linear_tangent(np.stack([x, x**2, 1 - x], axis=1), np.ones(3)).rank
    2
    """
    n_points, n_inputs = points.shape
    if n_points <= n_inputs:
        raise FieldError(
            f"{n_points} points in {n_inputs} inputs always satisfy affine constraints; pass "
            f"more points or tangent='none'."
        )
    spectrum, directions = affine_spectrum(points, scale)
    rank = int((spectrum > tolerance).sum())
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
    tangent: str = "auto",
    constraints: Sequence[StatedConstraint] = (),
    names: Sequence[str] | None = None,
) -> TangentSpace:
    """The tangent space that was asked for, or the one that fits the data.

    Parameters
    ----------
    points : ndarray, shape (n_points, n_inputs)
    scale : ndarray, shape (n_inputs,)
        The spread of each input.
    tangent : {'auto', 'none', 'linear', 'local', 'constraints'}
        ``auto`` uses the exact affine constraints that the data satisfies, in addition to those
        that are stated. If none are stated it warns when the data seems to lie on a curved surface.
        ``constraints`` uses the stated ones alone.
    constraints : sequence of str, Expression or callable
        Functions that are constant on the data; see `constraint_tangent`.
    names : sequence of str, optional
        The inputs; x0, x1 and so on by default.
    """
    n_points, n_inputs = points.shape
    labels = [f"x{column}" for column in range(n_inputs)] if names is None else names
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
    """Gradients of the affine functions that are constant on the data; constraints that the user
    also states do no harm.
    """
    n_points, n_inputs = points.shape
    if n_points <= n_inputs:
        return []
    spectrum, directions = affine_spectrum(points, scale)
    normals = (directions / scale[:, None])[:, spectrum <= AFFINE]
    return [lambda at, normal=normal: np.tile(normal, (len(at), 1)) for normal in normals.T]


def _automatic(points: FloatArray, scale: FloatArray) -> TangentSpace:
    linear = linear_tangent(points, scale)
    flat = (
        TangentSpace("none", linear.rank, spectrum=linear.spectrum)
        if linear.rank == points.shape[1]
        else linear
    )
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
