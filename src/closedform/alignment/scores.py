"""Scores of an expression on a gradient field: the one way in which everything above compares the
two.
"""

from closedform.alignment.comparison import Comparison, prepare
from closedform.alignment.misalignment import point_misalignment
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField


def field_misalignment(expression: Expression, field: GradientField) -> FloatArray:
    """Misalignment at each point of a field, also at those of weight 0, where it means nothing.

    Parameters
    ----------
    expression : Expression
        Its inputs are found among the field's by name.
    field : GradientField

    Returns
    -------
    ndarray, shape (n_points,)

    Examples
    --------
    >>> import numpy as np, closedform as cf
    >>> from closedform.field.gradient_field import GradientField
    >>> points = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> field = GradientField.from_arrays(points, points * [1.0, 4.0], names=["x", "v"])
    >>> bool(field_misalignment(cf.parse("x**2 + 4*v**2"), field).max() < 1e-12)
    True
    """
    gradients = expression.rename(field.names).gradient(field.points)
    return point_misalignment(gradients * field.scale, field.frames, field.tangent.basis)


def comparison_of(field: GradientField) -> Comparison:
    """A field prepared for the compiled judge."""
    return prepare(
        field.points,
        field.frames,
        scale=field.scale,
        tangent=field.tangent.basis,
        weights=field.weights,
    )
