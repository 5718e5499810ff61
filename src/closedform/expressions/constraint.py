"""Constraints: functions that are stated to be constant, and equations, read from text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import names_in, parse, sort_names
from closedform.expressions.tree import apply, constant

_BACKTICKED = re.compile(r"`[^`]*`")
_EQUALS = re.compile(r"==?")


@dataclass(frozen=True, slots=True)
class Constraint:
    """A function that keeps its value on the data."""

    function: Expression  # for an equation the left side minus the right side
    # Whether the value itself is stated, which then is 0. Otherwise the function is constant at an
    # unknown level.
    is_equation: bool


def parse_constraint(
    constraint: "str | Expression | Constraint", names: Sequence[str] | None = None
) -> Constraint:
    """Read a constraint: an expression that is constant, or an equation with ``=`` or ``==``.

    constraint: such as ``"A11 + A22"`` or ``"x**2 + y**2 = 1"``.
    names: the inputs, in the order of their columns. Without it, the names that occur, sorted.
    """
    if isinstance(constraint, str):
        parsed = _read(constraint, names)
    elif isinstance(constraint, Constraint):
        parsed = constraint
    else:
        parsed = Constraint(constraint, is_equation=False)
    if names is not None:
        parsed = replace(parsed, function=parsed.function.rename(names))
    if parsed.function.tree.is_constant:
        raise ExpressionError(
            f"No input occurs in the constraint '{constraint}'; name the function that is constant."
        )
    return parsed


def _read(text: str, names: Sequence[str] | None) -> Constraint:
    # A quoted name may hold any sign, so signs are looked for in a copy of the same length without
    # such names.
    bare = _BACKTICKED.sub(lambda match: "_" * len(match[0]), text)
    order = re.search(r"[<>!]", bare)
    if order is not None:
        raise ExpressionError(
            f"'{text}' is not an equation: a constraint is an equation or a constant function, "
            f"without {order[0]!r}. Filter the points instead.",
            position=order.start(),
        )
    signs = list(_EQUALS.finditer(bare))
    if len(signs) > 1:
        raise ExpressionError(
            f"'{text}' holds more than one '='; pass one constraint for each.",
            position=signs[1].start(),
        )
    if not signs:
        return Constraint(parse(text, names), is_equation=False)
    # Spaces in place of the left side keep positions in error messages those of the whole text.
    left, right = text[: signs[0].start()], " " * signs[0].end() + text[signs[0].end() :]
    columns = sort_names({*names_in(left), *names_in(right)}) if names is None else list(names)
    sides = parse(left, columns), parse(right, columns)
    if sides[1].tree == constant(0):
        return Constraint(sides[0], is_equation=True)
    return Constraint(
        Expression(apply("sub", sides[0].tree, sides[1].tree), tuple(columns)), is_equation=True
    )
