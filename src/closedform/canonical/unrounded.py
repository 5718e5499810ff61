"""Numbers that a fit on an exact field found up to rounding, written as what they are: 10/21 for
0.47619047619047616, a root or a logarithm of a fraction.
"""

from fractions import Fraction
from math import exp

from closedform.alignment.tolerances import SAME
from closedform.canonical.constants import free_constants, with_constants
from closedform.canonical.plain_numbers import is_simple
from closedform.canonical.tolerances import LARGEST_LOGARITHM, LONGEST_DENOMINATOR
from closedform.expressions.evaluate import operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.tolerances import SIMPLE_DENOMINATOR
from closedform.expressions.tree import Constant, Tree, apply, constant, subtrees


def unrounded(expression: Expression) -> Expression:
    """The formula whose numbers are fractions, or roots or logarithms of fractions, where they are
    so up to the rounding of a fit.

    Logarithms come from log(c*x), which is written log(x) + log(c), and roots from sqrt(c*x): they
    are looked for beside a logarithm and in formulas with roots.

    Examples
    --------
    >>> import closedform as cf
    >>> print(unrounded(cf.parse("x/(y - 0.2999999999999999*z + 1.4285714285714282)")))
    x/(y - 0.3*z + 10/7)
    >>> print(unrounded(cf.parse("y*(log(x) - 0.3465735902799727)")))
    y*(log(x) - 0.5*log(2))
    >>> print(unrounded(cf.parse("x + 0.398409536444797*sqrt(y)")))
    x + sqrt(10/63)*sqrt(y)
    >>> print(unrounded(cf.parse("x + 0.4762*y")))
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
    if square is None or square.denominator > LONGEST_DENOMINATOR / 4:
        return None
    root = apply("sqrt", constant(square))
    return root if value > 0 else apply("neg", root)


def _logarithm(value: Fraction) -> Tree | None:
    if abs(value) > LARGEST_LOGARITHM:
        return None
    for part in range(1, SIMPLE_DENOMINATOR + 1):
        argument = _fraction(Fraction(exp(part * abs(float(value)))))
        if argument is not None and is_simple(argument):
            factor = Fraction(1 if value > 0 else -1, part)
            logarithm = apply("log", constant(argument))
            return logarithm if factor == 1 else apply("mul", constant(factor), logarithm)
    return None


def _fraction(value: Fraction) -> Fraction | None:
    near = value.limit_denominator(LONGEST_DENOMINATOR)
    return near if near and abs(near - value) <= Fraction(SAME) * abs(value) else None
