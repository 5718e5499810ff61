"""The shape of a formula: what it is without its numbers."""

from collections import Counter
from fractions import Fraction

from closedform.expressions.sums_and_products import signed_terms
from closedform.expressions.tree import Tree
from closedform.searching.products import factor_powers

NEAR_WHOLE = 0.05
"""Share by which a network's error moves an exponent; wrong ones were off by 7% and more."""


def formula_shape(tree: Tree) -> object:
    """What a formula is without its numbers; whole exponents belong to it, and those that are a
    network's error away from one.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> formula_shape(parse("3*x + sqrt(y)").tree) == formula_shape(parse("x + 0.2*y**0.43").tree)
    True
    >>> formula_shape(parse("x**2 + y").tree) == formula_shape(parse("x + y").tree)
    False
    >>> formula_shape(parse("x**2.93 + y").tree) == formula_shape(parse("x**3 + y").tree)
    True
    """
    summands = [part for _, part in signed_terms(tree) if not part.is_constant]
    return frozenset(Counter(_product_shape(part) for part in summands).items())


def _product_shape(tree: Tree) -> object:
    return frozenset(
        (
            base.root if base.size == 1 else (base.root, *map(formula_shape, base.children)),
            _whole(exponent),
        )
        for base, exponent in factor_powers(tree)
    )


def _whole(exponent: Fraction) -> int | None:
    near = round(exponent)
    return near if abs(exponent - near) <= NEAR_WHOLE * abs(near) else None
