"""Constraints: functions that are stated to be constant over the data, such as a trace or a norm."""

from collections.abc import Sequence
from dataclasses import dataclass

from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.tree import apply


@dataclass(frozen=True, slots=True)
class Constraint:
    """A function that is constant on the data.

    Attributes
    ----------
    function : Expression
        For an equation the left side minus the right side.
    is_equation : bool
        Whether its value is known (0); otherwise it is constant, at a level that is not stated.
    """

    function: Expression
    is_equation: bool


def parse_constraint(constraint: "str | Expression | Constraint", names: Sequence[str]) -> Constraint:
    """Read ``"x**2 + y**2 = 1"`` as an equation and ``"A11 + A22"`` as a function at some constant level.

    Examples
    --------
    >>> parse_constraint("x**2 + y**2 = 1", ["x", "y"])
    Constraint(function=Expression('x**2 + y**2 - 1', names=[x, y]), is_equation=True)
    """
    if isinstance(constraint, Constraint):
        return Constraint(constraint.function.rename(names), constraint.is_equation)
    if isinstance(constraint, Expression):
        return Constraint(constraint.rename(names), is_equation=False)
    sides = constraint.replace("==", "=").split("=")
    if len(sides) > 2:
        raise ExpressionError(f"A constraint has one '=' at most; got {constraint!r}.")
    left = parse(sides[0], names)
    if len(sides) == 1:
        return Constraint(left, is_equation=False)
    right = parse(sides[1], names)
    return Constraint(Expression(apply("sub", left.tree, right.tree), left.names), is_equation=True)
