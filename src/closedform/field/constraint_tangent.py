"""Tangent spaces of stated constraints: differentiate and project out."""

from collections.abc import Callable, Sequence

import numpy as np

from closedform.arrays import FloatArray, as_points, frozen
from closedform.expressions.constraint import Constraint, parse_constraint
from closedform.expressions.expression import Expression
from closedform.field.attention import warn
from closedform.field.errors import FieldError
from closedform.field.tangent_space import TangentSpace
from closedform.field.tolerances import HOLDS, SINGLE_PRECISION

StatedConstraint = str | Expression | Constraint | Callable[[FloatArray], FloatArray]
"""Text, an expression, or a function from points (n, d) to gradients (n, d)."""


def constraint_tangent(
    points: FloatArray,
    scale: FloatArray,
    constraints: Sequence[StatedConstraint],
    names: Sequence[str],
) -> TangentSpace:
    """Tangent spaces orthogonal, in scaled coordinates, to the gradients of functions that are
    constant on the data.

    Parameters
    ----------
    points : ndarray, shape (n_points, n_inputs)
    scale : ndarray, shape (n_inputs,)
        The spread of each input.
    constraints : sequence of str, Expression or callable
        Such as ``"A11 + A22"`` or ``"x**2 + y**2 = 1"``; a callable takes points and returns
        gradients, both (n, d). Constraints that follow from each other count once.
    names : sequence of str
        The inputs, in the order of their columns.

    Returns
    -------
    TangentSpace
        Where a constraint has no finite gradient, or the gradients do not have their usual rank, it
        is not defined.

    Examples
    --------
    >>> space = constraint_tangent(
    ...     np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones(2), ["x**2 + y**2 = 1"], ["x", "y"]
    ... )
    >>> space.rank, np.abs(space.basis[0, :, 0])
    (1, array([0., 1.]))
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
    basis = frozen(left[:, :, n_independent:])
    return TangentSpace(
        "constraints",
        n_inputs - n_independent,
        basis,
        frozen(spectrum),
        None if defined.all() else defined,
    )


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
