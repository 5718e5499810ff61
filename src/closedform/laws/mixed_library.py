"""A library of several families at once: functions of single inputs, and their products with
powers of others.
"""

from collections.abc import Sequence

from closedform.arrays import FloatArray
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
    ['0', '1']
    """
    terms = {
        term.tree: term for term in family_library("polynomials", space, names, points, scale, None)
    }
    for family in families:
        for term in family_library(family, space, names, points, scale):
            if term.tree not in terms and len(term.tree.variables) <= 2:
                terms[term.tree] = term
    return sorted(terms.values(), key=lambda term: (term.cost, term.tree.size))[:MOST_MIXED]
