"""Numbers that a fit on an exact field found up to rounding, written as what they are: 10/21 for
0.47619047619047616, a root or a logarithm of a fraction.
"""

from fractions import Fraction
from math import exp, log

from closedform.canonical.constants import free_constants, with_constants
from closedform.canonical.tolerances import (
    DIGITS,
    EQUAL,
    LARGEST_ARGUMENT,
    LARGEST_LOGARITHM,
    LONGEST_DENOMINATOR,
)
from closedform.expressions.evaluate import operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Constant, Tree, apply, constant, subtrees
from closedform.field.alignment.tolerances import SAME

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
        if power > LARGEST_LOGARITHM:
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
