"""How long a formula is: the bits of its numbers, and its parts."""

from functools import lru_cache
from math import log2

from closedform.canonical.constants import free_constants
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions
from closedform.expressions.sums_and_products import signed_terms
from closedform.expressions.tree import Tree, Variable
from closedform.selection.tolerances import FITTED_BITS, MOST_IN_CHOICE


@lru_cache(maxsize=MOST_IN_CHOICE)
def number_bits(tree: Tree) -> float:
    """What it takes to write the numbers of a formula: a fraction p/q takes log2(p*q) bits, and a
    fitted number as many as a network supports.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> [number_bits(parse(text).tree) for text in ("x**2 + y", "x + 8*y", "x + 0.3127*y")]
    [0, 3.0, 5.0]
    """
    fitted = set(fitted_positions(tree))
    free = free_constants(Expression(tree, tuple(f"x{k}" for k in range(_width(tree)))))
    return sum(
        FITTED_BITS
        if place.position in fitted
        else min(FITTED_BITS, log2(max(abs(place.value.numerator), 1) * place.value.denominator))
        for place in free
    )


def _width(tree: Tree) -> int:
    return max((column + 1 for column in tree.variables), default=0)


def count_parts(tree: Tree) -> int:
    """Terms of the outermost sum, fitted constants, and constants such as exp(-2), which hit any
    number, together.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> (
    ...     count_parts(parse("x**2 + v**2 + 0.53*x**4").tree),
    ...     count_parts(parse("x + 3*exp(-2)*v").tree),
    ... )
    (4, 3)
    """
    n_terms = sum(not term.is_constant for _, term in signed_terms(tree))
    computed = tree.fold(
        lambda token: (not isinstance(token, Variable), 0),
        lambda name, *parts: (
            all(constant for constant, _ in parts),
            sum(count for _, count in parts) + (len(parts) == 1 and name != "neg" and parts[0][0]),
        ),
    )[1]
    return n_terms + len(fitted_positions(tree)) + computed
