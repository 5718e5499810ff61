"""Open form: a formula without its numbers."""

from collections import Counter

from closedform.expressions.sums_and_products import signed_terms
from closedform.expressions.tree import Tree
from closedform.searching.products import factor_powers


def open_form(tree: Tree) -> object:
    """What a formula is without its numbers; whole exponents belong to it.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> open_form(parse("3*x + sqrt(y)").tree) == open_form(parse("x + 0.2*y**0.43").tree)
    True
    >>> open_form(parse("x**2 + y").tree) == open_form(parse("x + y").tree)
    False
    """
    summands = [part for _, part in signed_terms(tree) if not part.is_constant]
    return frozenset(Counter(_open_product(part) for part in summands).items())


def _open_product(tree: Tree) -> object:
    return frozenset(
        (
            base.root if base.size == 1 else (base.root, *map(open_form, base.children)),
            exponent if exponent.denominator == 1 else None,
        )
        for base, exponent in factor_powers(tree)
    )
