"""The constants of a formula: those that a fit may move, the formula with others in their places,
and numbers that a fit on an exact field found up to rounding, written as what they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, isfinite, log

from closedform.canonical.product_sums import is_simple, plain
from closedform.canonical.tolerances import DIGITS, EQUAL, LARGEST_ARGUMENT, LONGEST_DENOMINATOR
from closedform.errors import ShapeError
from closedform.expressions.evaluate import depends_on_inputs, number_of, operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.operators import NAMED_CONSTANTS
from closedform.expressions.sums_and_products import scaled_terms
from closedform.expressions.tree import Constant, Token, Tree, apply, constant, subtrees
from closedform.field.alignment.tolerances import SAME


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


_FACTORS = sorted(
    {Fraction(above, below) for above in range(1, 11) for below in range(1, 11)},
    key=lambda factor: (factor.numerator + factor.denominator, factor.denominator),
)
"""What may stand before a logarithm, the plainest first."""


def recognise_constants(expression: Expression) -> Expression:
    """The formula whose numbers are fractions, or roots or logarithms of fractions, where they are
    so up to the rounding of a fit.

    Logarithms come from log(c*x), which is written log(x) + log(c), and roots from sqrt(c*x): they
    are looked for next to a logarithm and in formulas with roots.

    Examples
    --------
    >>> import closedform as cf
    >>> print(recognise_constants(cf.parse("x/(y - 0.2999999999999999*z + 1.4285714285714282)")))
    x/(y - 0.3*z + 10/7)
    >>> print(recognise_constants(cf.parse("y*(log(x) - 0.3465735902799727)")))
    y*(log(x) - 0.5*log(2))
    >>> print(recognise_constants(cf.parse("x + 0.398409536444797*sqrt(y)")))
    x + sqrt(10/63)*sqrt(y)
    >>> print(recognise_constants(cf.parse("x + 0.11764900000000002*y")))
    x + 0.117649*y
    >>> print(recognise_constants(cf.parse("x + 0.4762*y")))
    x + 0.4762*y
    """
    found = {
        place.position: tree
        for place in free_constants(expression)
        if (tree := _exact(place.value, expression.tree, place.position)) is not None
    }
    return with_constants(expression, found) if found else expression


def _exact(value: Fraction, tree: Tree, position: int) -> Tree | None:
    """What a number is up to rounding; None if that is nothing simple, or the number itself."""
    near = _fraction(value)
    if near is not None:
        return None if near == value else constant(near)
    if _has_roots(tree) and (root := _root(value)) is not None:
        return root
    return _logarithm(value) if _stands_beside_logarithm(tree, position) else None


def _has_roots(tree: Tree) -> bool:
    """Whether something is raised to an odd half."""
    halves = (isinstance(token, Constant) and token.value.denominator == 2 for token in tree.tokens)
    return "sqrt" in tree.tokens or ("pow" in tree.tokens and any(halves))


def _stands_beside_logarithm(tree: Tree, position: int) -> bool:
    """Whether a number is added to a multiple of a logarithm."""
    parts = subtrees(tree)
    return any(
        token in ("add", "sub")
        and position in operands
        and any("log" in parts[child].tokens for child in operands if child != position)
        for token, operands in zip(tree.tokens, operand_positions(tree), strict=True)
    )


def _root(value: Fraction) -> Tree | None:
    square = _fraction(value * value)
    if square is None or not (square.denominator <= LONGEST_DENOMINATOR / 4 or _is_short(square)):
        return None
    root = apply("sqrt", constant(square))
    return root if value > 0 else apply("neg", root)


def _logarithm(value: Fraction) -> Tree | None:
    """A multiple of a fraction's logarithm: log(0.3*x) times -0.7 leaves 0.7*log(10/3)."""
    for factor in _FACTORS:
        power = abs(float(value / factor))
        if power > log(LARGEST_ARGUMENT):
            continue
        argument = Fraction(exp(power)).limit_denominator(LARGEST_ARGUMENT)
        is_near = abs(power - log(argument)) <= EQUAL * Fraction(power)
        if is_near and argument.numerator <= LARGEST_ARGUMENT:
            logarithm = apply("log", constant(argument))
            signed = factor if value > 0 else -factor
            return logarithm if signed == 1 else apply("mul", constant(signed), logarithm)
    return None


def _fraction(value: Fraction) -> Fraction | None:
    """A fraction with a small denominator, a short decimal, or the inverse of one."""
    if not value:
        return value
    near = value.limit_denominator(LONGEST_DENOMINATOR)
    if near and abs(near - value) <= Fraction(SAME) * abs(value):
        return near
    for decimal in (_shortened(value), 1 / _shortened(1 / value)):
        if abs(decimal - value) <= EQUAL * abs(value):
            return decimal
    return None


def _shortened(value: Fraction) -> Fraction:
    return Fraction(f"{float(value):.{DIGITS - 1}e}")


def _is_short(value: Fraction) -> bool:
    """Whether a number or its inverse is a short decimal."""
    return not value or value in (_shortened(value), 1 / _shortened(1 / value))
