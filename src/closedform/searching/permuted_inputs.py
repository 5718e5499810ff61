"""Formulas with their inputs exchanged: laws come in families, such as the components of a
vector.
"""

from collections.abc import Iterator
from itertools import combinations, islice, permutations

from closedform.expressions.expression import Expression

MOST_PERMUTED = 6
"""Inputs of which every order is tried; of more, one or two pairs are exchanged."""

MOST = 1500
"""Formulas that are made of one."""


def permute_inputs(formula: Expression) -> list[Expression]:
    """The formula with its inputs in other places, each function's spelling once, without the
    formula itself.

    Examples
    --------
    >>> import closedform as cf
    >>> [str(image) for image in permute_inputs(cf.parse("x**2 + p", names=["x", "p"]))]
    ['p**2 + x']
    """
    names = formula.names
    orders = permutations(names) if len(names) <= MOST_PERMUTED else _pairs_exchanged(names)
    images = (Expression(formula.tree, order).rename(names) for order in islice(orders, MOST))
    return [image for image in dict.fromkeys(images) if image != formula]


def _pairs_exchanged(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Orders that differ by one exchange, then those by two."""
    pairs = list(combinations(range(len(names)), 2))
    for exchanges in (*((pair,) for pair in pairs), *combinations(pairs, 2)):
        places = list(names)
        for one, other in exchanges:
            places[one], places[other] = places[other], places[one]
        yield tuple(places)
