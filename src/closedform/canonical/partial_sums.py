"""Sums with some of their terms left out, for the caller to judge: beside other concepts a part of
a sum may be enough.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from closedform.canonical.algebra import Algebra
from closedform.canonical.name_order import in_name_order
from closedform.canonical.product_sums import Factors, ProductSum
from closedform.canonical.scale import scaled
from closedform.canonical.sum_spelling import spell
from closedform.canonical.tolerances import MOST_DIVIDED
from closedform.expressions.expression import Expression


def partial_sums(expression: Expression) -> list[Expression]:
    """The formula with some of the terms of its expanded outermost sum, shortest first, without
    itself.

    Parameters
    ----------
    expression : Expression

    Returns
    -------
    list of Expression
        Scaled like canonical forms.

    Examples
    --------
    >>> import closedform as cf
    >>> [str(part) for part in partial_sums(cf.parse("a*b + 2*(a + c)"))]
    ['a', 'a*b', 'c', 'a*(b + 2)', 'a + c', 'a*b + 2*c']
    """
    ordered, _ = in_name_order(expression)
    algebra = Algebra()
    try:
        total = algebra.normal(ordered.tree)
    except ArithmeticError:
        return []
    forms = (scaled(ProductSum(parts), algebra) for parts in _selections(total))
    trees = dict.fromkeys(spell(form) for form in forms if form.parts)
    return [
        Expression(tree, ordered.names).rename(expression.names)
        for tree in trees
        if not tree.is_constant
    ]


def _selections(total: ProductSum) -> Iterator[tuple[tuple[Factors, Fraction], ...]]:
    count = len(total.parts)
    least = 1 if count <= MOST_DIVIDED else count - 2
    for size in range(least, count):
        yield from combinations(total.parts, size)
