"""The shape of a formula: what it is without its numbers."""

from collections import Counter

from closedform.expressions.sums_and_products import signed_terms
from closedform.expressions.tree import Tree
from closedform.searching.products import factor_powers


def formula_shape(tree: Tree) -> object:
    """What a formula is without its numbers; whole exponents belong to it.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> formula_shape(parse("3*x + sqrt(y)").tree) == formula_shape(parse("x + 0.2*y**0.43").tree)
    True
    >>> formula_shape(parse("x**2 + y").tree) == formula_shape(parse("x + y").tree)
    False
    """
    summands = [part for _, part in signed_terms(tree) if not part.is_constant]
    return frozenset(Counter(_product_shape(part) for part in summands).items())


def _product_shape(tree: Tree) -> object:
    return frozenset(
        (
            base.root if base.size == 1 else (base.root, *map(formula_shape, base.children)),
            exponent if exponent.denominator == 1 else None,
        )
        for base, exponent in factor_powers(tree)
    )
