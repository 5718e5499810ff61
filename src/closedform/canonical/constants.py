"""The constants of a formula that a fit may move, the formula with others in their places, and a
coefficient at every term but one, which can be compared between fits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

from closedform.canonical.plain_numbers import is_simple, plain
from closedform.errors import ShapeError
from closedform.expressions.evaluate import depends_on_inputs, number_of, operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.operators import NAMED_CONSTANTS
from closedform.expressions.sums_and_products import scaled_terms
from closedform.expressions.tree import Constant, Token, Tree, apply, constant, subtrees


@dataclass(frozen=True, slots=True)
class FreeConstant:
    """A constant of a formula."""

    # Where it stands among the tree's tokens (the last one of it, if it is more than a number).
    position: int
    value: Fraction


def free_constants(expression: Expression) -> tuple[FreeConstant, ...]:
    """The constants that a fit may move, in the order in which they are written.

    Integer exponents and the 1 of a reciprocal are structure. So are constants with a meaning:
    those with pi in them, exp of a simple fraction and the roots of small integers. Others, such as
    sin(0.184), count as the number that they are.

    Examples
    --------
    >>> import closedform as cf
    >>> [
    ...     str(free.value)
    ...     for free in free_constants(cf.parse("1.5*x**2 + 1/(y + 0.25) + sqrt(2)*z"))
    ... ]
    ['3/2', '1/4']
    """
    tree = expression.tree
    varies = depends_on_inputs(tree)
    parts = subtrees(tree)
    free: dict[int, FreeConstant] = {}
    for position, operands in enumerate(operand_positions(tree)):
        for place, child in enumerate(operands):
            if (
                varies[position]
                and not varies[child]
                and not _is_structure(tree.tokens[position], place, parts[child])
            ):
                free[child] = FreeConstant(child, _number(parts[child]))
    return tuple(free[position] for position in sorted(free))


def with_constants(
    expression: Expression, values: Sequence[float | Fraction] | Mapping[int, Tree]
) -> Expression:
    """The formula with other constants.

    values: one number for each of `free_constants`, or what takes the place of some of them by
        position.

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
            raise ShapeError(
                f"{len(values)} values were given for {len(free)} free constants; give one "
                f"for each."
            )
        replaced = {
            place.position: constant(value) for place, value in zip(free, values, strict=True)
        }
    parts: list[Tree] = []
    for position, (token, operands) in enumerate(
        zip(expression.tree.tokens, operand_positions(expression.tree), strict=True)
    ):
        whole = (
            apply(str(token), *(parts[child] for child in operands)) if operands else Tree((token,))
        )
        parts.append(replaced.get(position, whole))
    return replace(expression, tree=parts[-1])


def _number(tree: Tree) -> Fraction:
    return tree.root.value if isinstance(tree.root, Constant) else plain(number_of(tree))


def _is_structure(parent: Token, place: int, tree: Tree) -> bool:
    if isinstance(tree.root, Constant):
        number = tree.root.value
        whole_power = parent == "pow" and place == 1 and number.denominator == 1
        return whole_power or (parent == "div" and place == 0 and number == 1)
    return not isfinite(number_of(tree)) or any(_has_meaning(part) for part in subtrees(tree))


def _has_meaning(tree: Tree) -> bool:
    if tree.root in NAMED_CONSTANTS:
        return True
    argument = tree.children[0].root if tree.root in ("exp", "sqrt") else None
    if not isinstance(argument, Constant):
        return False
    return is_simple(argument.value) and (tree.root == "exp" or argument.value.denominator == 1)


def with_coefficients(expression: Expression) -> Expression:
    """The same concept with a number before every term of the outermost sum, but for one term,
    which has none.

    A concept has no scale, so one term is the unit: the first whose number is 1 or -1, else the
    first.

    Examples
    --------
    >>> import closedform as cf
    >>> print(with_coefficients(cf.parse("x**4/2 + v**2 - x**2")))
    v**2 + 0.5*x**4 + (-1*x**2)
    >>> print(with_coefficients(cf.parse("x*v")))
    x*v
    """
    terms = list(scaled_terms(expression.tree))
    if len(terms) < 2:
        return expression
    unit = next((place for place, (number, _) in enumerate(terms) if abs(number) == 1), 0)
    scale, total = terms[unit]
    for place, (number, term) in enumerate(terms):
        if place != unit:
            total = apply("add", total, apply("mul", constant(float(number / scale)), term))
    return Expression(total, expression.names)
