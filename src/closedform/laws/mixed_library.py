"""A library of several families at once: functions of single inputs, and their products with
powers of others.
"""

from collections.abc import Sequence
from itertools import combinations

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.evaluate import evaluate
from closedform.expressions.parse import parse
from closedform.expressions.sums_and_products import sum_of
from closedform.expressions.tree import apply, constant, variable
from closedform.searching.space import SearchSpace
from closedform.searching.terms.families import family_library
from closedform.searching.terms.library import Term

MOST_MIXED = 500
"""Terms that are kept, the cheapest: a third of the rows that are searched at least."""

FAMILIES = ("reciprocals", "radicals", "sines", "exponentials", "logarithms")


def mixed_library(
    space: SearchSpace,
    names: Sequence[str],
    points: FloatArray,
    scale: FloatArray,
    families: Sequence[str] = FAMILIES,
) -> list[Term]:
    """Polynomials and all families together, cheapest first; functions of one input only.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(0).uniform(1, 2, (20, 2))
    >>> space = SearchSpace(max_degree=1)
    >>> [str(t.tree.root) for t in mixed_library(space, ["x", "y"], points, np.ones(2), ())]
    ['Variable(index=0)', 'Variable(index=1)']
    """
    terms = {
        term.tree: term for term in family_library("polynomials", space, names, points, scale, None)
    }
    for family in families:
        for term in family_library(family, space, names, points, scale):
            if term.tree not in terms and len(term.tree.variables) <= 2:
                terms[term.tree] = term
    return sorted(terms.values(), key=lambda term: (term.cost, term.tree.size))[:MOST_MIXED]


MOST_RADIAL_INPUTS = 8


def radial_library(
    space: SearchSpace, names: Sequence[str], points: FloatArray, scale: FloatArray
) -> list[Term]:
    """Polynomials of degree 2, inverse distances from the origin in two or three inputs, and the
    user's own terms: small enough for a few orbits.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(0).uniform(1, 2, (20, 2))
    >>> terms = radial_library(SearchSpace(), ["x", "y"], points, np.ones(2))
    >>> from closedform.expressions.expression import Expression
    >>> print(Expression(terms[-1].tree, ("x", "y")))
    1/sqrt(x**2 + y**2)
    """
    terms = {
        term.tree: term for term in family_library("polynomials", space, names, points, scale, 2)
    }
    for item in space.terms:
        tree = (parse(item, names) if isinstance(item, str) else item.rename(names)).tree
        terms[tree] = Term(tree, complexity(tree, space.costs), is_given=True)
    squares = [apply("pow", variable(i), constant(2)) for i in range(len(names))]
    for count in (2, 3) if len(names) <= MOST_RADIAL_INPUTS else ():
        for some in combinations(squares, count):
            total = sum_of(some)
            tree = apply("div", constant(1), apply("sqrt", total))
            if evaluate(total, points).min() > 0 and space.allows(tree, names):
                terms[tree] = Term(tree, complexity(tree, space.costs))
    return list(terms.values())
