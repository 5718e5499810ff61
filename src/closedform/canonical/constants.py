"""The constants of a formula that a fit may move, and the formula with others in their places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from closedform.errors import ShapeError
from closedform.expressions.evaluate import depends_on_inputs, operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Constant, Token, Tree, apply, constant


@dataclass(frozen=True, slots=True)
class FreeConstant:
    """A constant of a formula.

    Attributes
    ----------
    position : int
        Where it stands among the tree's tokens.
    value : Fraction
    """

    position: int
    value: Fraction


def free_constants(expression: Expression) -> tuple[FreeConstant, ...]:
    """The constants that a fit may move, in the order in which they are written.

    Integer exponents and the 1 of a reciprocal are structure. So is what stands inside a constant with a meaning of its own,
    such as exp(1), sqrt(2) or 2*pi.

    Examples
    --------
    >>> import closedform as cf
    >>> [str(free.value) for free in free_constants(cf.parse("1.5*x**2 + 1/(y + 0.25) + sqrt(2)*z"))]
    ['3/2', '1/4']
    """
    tokens = expression.tree.tokens
    varies = depends_on_inputs(expression.tree)
    free: dict[int, FreeConstant] = {}
    for position, operands in enumerate(operand_positions(expression.tree)):
        for place, child in enumerate(operands):
            token = tokens[child]
            if isinstance(token, Constant) and varies[position] and not _is_structure(tokens[position], place, token.value):
                free[child] = FreeConstant(child, token.value)
    return tuple(free[position] for position in sorted(free))


def with_constants(expression: Expression, values: Sequence[float | Fraction] | Mapping[int, Tree]) -> Expression:
    """The formula with other constants.

    Parameters
    ----------
    expression : Expression
    values : sequence of numbers, or mapping of int to Tree
        One number for each of `free_constants`, or what takes the place of some of them by position.

    Raises
    ------
    ShapeError
        If there are not as many numbers as free constants.

    Examples
    --------
    >>> import closedform as cf
    >>> print(with_constants(cf.parse("1.5*x**2 + y"), [2]))
    2*x**2 + y
    """
    if isinstance(values, Mapping):
        replaced = dict(values)
    else:
        free = free_constants(expression)
        if len(values) != len(free):
            raise ShapeError(f"{len(values)} values were given for {len(free)} free constants; give one for each.")
        replaced = {place.position: constant(value) for place, value in zip(free, values, strict=True)}
    parts: list[Tree] = []
    for position, (token, operands) in enumerate(zip(expression.tree.tokens, operand_positions(expression.tree), strict=True)):
        if operands:
            parts.append(apply(str(token), *(parts[child] for child in operands)))
        else:
            parts.append(replaced.get(position, Tree((token,))))
    return Expression(parts[-1], expression.names)


def _is_structure(parent: Token, place: int, value: Fraction) -> bool:
    if parent == "pow":
        return place == 1 and value.denominator == 1
    return parent == "div" and place == 0 and value == 1
