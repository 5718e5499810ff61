"""Libraries of terms for laws: distances between bodies, whose coordinates the names of the inputs
tell (x1, y1 and x2, y2), and functions of single inputs times powers of others.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.evaluate import evaluate
from closedform.expressions.parse import parse
from closedform.expressions.sums_and_products import power_of, sum_of
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.searching.space import SearchSpace
from closedform.searching.terms.families import family_library
from closedform.searching.terms.library import Term

_NUMBERED = re.compile(r"(.*\D)(\d+)")

MOST_DISTANCES = 200
"""More would leave too few rows for each term."""


MOST_MIXED = 500
"""Terms that are kept, the cheapest: a third of the rows that are searched at least."""

FAMILIES = ("reciprocals", "radicals", "sines", "exponentials", "logarithms")

MOST_RADIAL_INPUTS = 8
"""With more there are hundreds of distances from the origin, and too few orbits for them."""


def distance_library(
    space: SearchSpace, names: Sequence[str], points: FloatArray, scale: FloatArray
) -> list[Term]:
    """Polynomials of degree 2, and reciprocals and logarithms of distances between two bodies in
    two or three coordinates; empty where the names tell of no bodies.

    Examples
    --------
    >>> import numpy as np
    >>> from closedform.expressions.expression import Expression
    >>> names = ("x1", "x2", "y1", "y2")
    >>> points = np.random.default_rng(0).uniform(1, 2, (20, 4))
    >>> terms = distance_library(SearchSpace(), names, points, np.ones(4))
    >>> for term in terms[-2:]:
    ...     print(Expression(term.tree, names))
    1/sqrt((x1 - x2)**2 + (y1 - y2)**2)
    log((x1 - x2)**2 + (y1 - y2)**2)
    """
    totals = list(_squared_distances(names))
    functions = list(_of_squares(totals, ("inverse", "log"), space, names, points))
    if not 0 < len(functions) <= MOST_DISTANCES:
        return []
    return family_library("polynomials", space, names, points, scale, 2) + functions


def _of_squares(
    totals: Iterable[Tree],
    functions: Sequence[str],
    space: SearchSpace,
    names: Sequence[str],
    points: FloatArray,
) -> Iterator[Term]:
    """Inverse roots, or logarithms, of sums of squares that vanish nowhere."""
    for total in totals:
        if evaluate(total, points).min() > 0:
            inverse = apply("div", constant(1), apply("sqrt", total))
            for function in functions:
                tree = inverse if function == "inverse" else apply("log", total)
                if space.allows(tree, names):
                    yield Term(tree, complexity(tree, space.costs))


def _squared_distances(names: Sequence[str]) -> Iterator[Tree]:
    """Of each two bodies, in each two or three of the letters that both have."""
    bodies: dict[str, dict[str, int]] = {}
    for place, name in enumerate(names):
        if match := _NUMBERED.fullmatch(name):
            bodies.setdefault(match[2], {})[match[1]] = place
    for one, other in combinations(bodies.values(), 2):
        squares = [
            power_of(apply("sub", variable(one[letter]), variable(other[letter])), 2)
            for letter in one
            if letter in other
        ]
        for count in (2, 3):
            yield from map(sum_of, combinations(squares, count))


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
    counts = (2, 3) if len(names) <= MOST_RADIAL_INPUTS else ()
    totals = (sum_of(some) for count in counts for some in combinations(squares, count))
    terms |= {term.tree: term for term in _of_squares(totals, ("inverse",), space, names, points)}
    return list(terms.values())
