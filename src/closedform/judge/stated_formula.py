"""A formula that the user states, checked before any search: later it would cost the answer."""

import numpy as np

from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.searching.search_stage import require_possible


def as_formula(
    formula: str | Expression, field: GradientField, what: str = "formula"
) -> Expression:
    """Read a formula over the field's inputs, and see whether the field can say anything about it.

    what: what it is to the user, for messages; a hypothesis must be possible in the inputs' units.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    >>> field = GradientField.from_arrays(points, points, names=["x", "v"])
    >>> print(as_formula("x**2 + v**2", field))
    x**2 + v**2
    >>> as_formula("x/0", field)
    Traceback (most recent call last):
    closedform.errors.ExpressionError: The formula x/0 is not finite at any of the 20 usable points.
    Check the formula and the range of the inputs.
    """
    if not isinstance(formula, str | Expression):
        raise ExpressionError(
            f"The {what} is a {type(formula).__name__}; pass text or an Expression."
        )
    names = list(field.names)
    read = parse(formula, names=names) if isinstance(formula, str) else formula.rename(names)
    if what == "hypothesis":
        require_possible(read, field, what)
    points = field.points[field.weights > 0]
    if not len(points):
        return read
    with np.errstate(all="ignore"):
        gradients = read.gradient(points)
        finite = np.isfinite(read(points)) & np.isfinite(gradients).all(axis=1)
    if not finite.any():
        raise ExpressionError(
            f"The {what} {formula} is not finite at any of the {len(points)} usable points. "
            "Check the formula and the range of the inputs."
        )
    if not gradients[finite].any():
        raise ExpressionError(
            f"The {what} {formula} does not vary at any of the points. State a formula that does."
        )
    return read
