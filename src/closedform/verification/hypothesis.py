"""A formula that the user has in mind, checked before the search: later it would cost the answer."""

import numpy as np

from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField


def checked_hypothesis(hypothesis: str | Expression | None, field: GradientField) -> Expression | None:
    """Read a hypothesis, and see whether the field can say anything about it.

    Parameters
    ----------
    hypothesis : str, Expression or None
    field : GradientField

    Returns
    -------
    Expression or None
        With the field's names.

    Raises
    ------
    ExpressionError
        If it is not a formula of the field's inputs, or has no finite value or no gradient at any
        point that counts.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    >>> field = GradientField.from_arrays(points, points, names=["x", "v"])
    >>> print(checked_hypothesis("x**2 + v**2", field))
    x**2 + v**2
    >>> checked_hypothesis("x/0", field)
    Traceback (most recent call last):
    closedform.errors.ExpressionError: The hypothesis x/0 is finite at none of the 20 points that count. Check it.
    """
    if hypothesis is None:
        return None
    if not isinstance(hypothesis, str | Expression):
        raise ExpressionError(f"The hypothesis is a {type(hypothesis).__name__}; pass a formula as text or an Expression.")
    names = list(field.names)
    read = parse(hypothesis, names=names) if isinstance(hypothesis, str) else hypothesis.rename(names)
    points = field.points[field.weights > 0]
    if not len(points):
        return read
    with np.errstate(all="ignore"):
        gradients = read.gradient(points)
        finite = np.isfinite(read(points)) & np.isfinite(gradients).all(axis=1)
    if not finite.any():
        raise ExpressionError(
            f"The hypothesis {hypothesis} is finite at none of the {len(points)} points that count. Check it."
        )
    if not gradients[finite].any():
        raise ExpressionError(f"The hypothesis {hypothesis} does not vary at any of the points. State a formula that does.")
    return read
