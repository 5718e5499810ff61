"""Stability: do two halves of the data, searched with other seeds, lead to the same form?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from closedform.alignment.misalignment import point_misalignment, weighted_mean
from closedform.alignment.refit import refit
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions, skeleton
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Stability

SAME = 1e-8
"""Two concepts with a smaller misalignment to each other are one, however they are written."""


def compare_halves(
    concept: Expression, halves: Sequence[Expression], field: GradientField
) -> Stability:
    """Compare what was chosen on halves of the data with the concept.

    Parameters
    ----------
    concept : Expression
    halves : sequence of Expression
    field : GradientField
        Points at which the formulas are compared.
    """
    distances = [mutual_misalignment(concept, half, field) for half in halves]
    same = [have_same_form(concept, half, field) for half in halves]
    return Stability(tuple(halves), tuple(same), tuple(distances))


def have_same_form(first: Expression, second: Expression, field: GradientField) -> bool:
    """Whether two formulas are one but for the values of constants, however they are written.

    They are if one with its constants fitted to the other is the other, on the points of a field.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    >>> field = cf.GradientField.from_arrays(points, points, names=["x", "v"])
    >>> first, second, third = (
    ...     cf.parse(t, names=["x", "v"]) for t in ("x**2 + v/3", "3.01*x**2 + v", "x**3 + v/3")
    ... )
    >>> have_same_form(first, second, field), have_same_form(first, third, field)
    (True, False)
    """
    if (
        skeleton(first.tree) == skeleton(second.tree)
        or mutual_misalignment(first, second, field) < SAME
    ):
        return True
    for fixed, fitted in ((first, second), (second, first)):
        target = _field_of(fixed, field)
        if fitted_positions(fitted.tree) and (target.weights > 0).any():
            _, left = refit([fitted.rename(field.names)], target)
            if left[0] < SAME:
                return True
    return False


def mutual_misalignment(first: Expression, second: Expression, field: GradientField) -> float:
    """Misalignment of two formulas' gradients to each other on the points of a field, inside the
    tangent space.

    Examples
    --------
    >>> import numpy as np, closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    >>> field = cf.GradientField.from_arrays(points, points, names=["x", "v"])
    >>> mutual_misalignment(
    ...     cf.parse("x*v", names=["x", "v"]), cf.parse("log(x) + log(v)", names=["x", "v"]), field
    ... ) < 1e-12
    True
    """
    return weighted_mean(points_apart(first, second, field), field.weights)


def points_apart(first: Expression, second: Expression, field: GradientField) -> FloatArray:
    """Misalignment of two formulas at each point; 1 where either has no gradient."""
    target = _field_of(first, field)
    gradients = second.rename(field.names).gradient(field.points) * field.scale
    values = point_misalignment(gradients, target.frames, field.tangent.basis)
    return np.where((field.weights > 0) & (target.weights == 0), 1.0, values)


def _field_of(expression: Expression, field: GradientField) -> GradientField:
    """The directions of a formula at the points of a field; weight 0 where it has none."""
    gradients = expression.rename(field.names).gradient(field.points)
    with np.errstate(all="ignore"):
        reference = field.project(gradients)
        lengths = np.linalg.norm(reference, axis=1)
        usable = np.isfinite(lengths) & (lengths > 0)
        frames = np.where(
            usable[:, None], reference / np.where(usable, lengths, 1.0)[:, None], 0.0
        )[:, :, None]
    weights = np.where(usable, field.weights, 0.0)
    return replace(field, frames=frames, directions=field.directions[:, :, :1], weights=weights)
