"""Numbers that a fit on an exact field found up to rounding, written as what they are: 10/21 for
0.47619047619047616, a root or a logarithm of a fraction.
"""

from fractions import Fraction
from math import exp

from closedform.alignment.tolerances import SAME
from closedform.canonical.constants import free_constants, with_constants
from closedform.canonical.plain_numbers import is_simple
from closedform.canonical.tolerances import LARGEST_LOGARITHM, LONGEST_DENOMINATOR
from closedform.expressions.expression import Expression
from closedform.expressions.tolerances import SIMPLE_DENOMINATOR
from closedform.expressions.tree import Tree, apply, constant


def unrounded(expression: Expression) -> Expression:
    """The formula whose numbers are fractions, or roots or logarithms of fractions, where they are
    so up to the rounding of a fit.

    Logarithms come from log(c*x), which is written log(x) + log(c), and roots from sqrt(c*x).

    Examples
    --------
    >>> import closedform as cf
    >>> print(unrounded(cf.parse("x/(y - 0.2999999999999999*z + 1.4285714285714282)")))
    x/(y - 0.3*z + 10/7)
    >>> print(unrounded(cf.parse("y*(log(x) - 0.3465735902799727)")))
    y*(log(x) - 0.5*log(2))
    >>> print(unrounded(cf.parse("x + 0.398409536444797*y")))
    x + sqrt(10/63)*y
    >>> print(unrounded(cf.parse("x + 0.4762*y")))
    x + 0.4762*y
    """
    found = {
        place.position: tree
        for place in free_constants(expression)
        if (tree := _exact(place.value)) is not None
    }
    return with_constants(expression, found) if found else expression


def _exact(value: Fraction) -> Tree | None:
    """What a number is up to rounding; None if that is nothing simple, or the number itself."""
    near = _fraction(value)
    if near is not None:
        return None if near == value else constant(near)
    square = _fraction(value * value)
    if square is not None and square.denominator < LONGEST_DENOMINATOR / 4:
        root = apply("sqrt", constant(square))
        return root if value > 0 else apply("neg", root)
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
