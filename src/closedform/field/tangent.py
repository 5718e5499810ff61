"""Which tangent space: exact affine constraints found in the data, those that the user states, or
the planes of curved data.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from closedform.arrays import FloatArray, as_points, frozen
from closedform.basics.keywords import suggestion
from closedform.errors import FieldError, warn
from closedform.expressions.constraint import Constraint, parse_constraint
from closedform.expressions.expression import Expression
from closedform.field.local_tangent import curved_rank, local_tangent
from closedform.field.neighborhoods import MOST_LOOKED_AT, looked_at
from closedform.field.tangent_space import TangentSpace
from closedform.field.tolerances import AFFINE, FAR_POINTS, HOLDS, SINGLE_PRECISION

StatedConstraint = str | Expression | Constraint | Callable[[FloatArray], FloatArray]
"""Text, an expression, or a function from points (n, d) to gradients (n, d)."""


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

    tangent {'auto', 'none', 'linear', 'local', 'constraints'}: ``auto`` uses the exact affine
        constraints that the data satisfies, in addition to those that are stated. If none are
        stated it warns when the data seems to lie on a curved surface. ``constraints`` uses the
        stated ones alone.
    constraints: functions that are constant on the data; see `constraint_tangent`.
    names: the inputs; x0, x1 and so on by default.
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
    constant on the data.

    constraints: such as ``"A11 + A22"`` or ``"x**2 + y**2 = 1"``; a callable takes points and
        returns gradients, both (n, d). Constraints that follow from each other count once.
    names: the inputs, in the order of their columns.

    Where a constraint has no finite gradient, or the gradients do not have their usual rank, it is
    not defined.
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
