"""Terms and coefficients to a formula: largest coefficient 1, plain numbers where they are meant."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.tree import Tree, apply, constant

NEGLIGIBLE = 1e-7
"""A term whose share of the gradient is below this is left out."""

ALIKE = 0.1
"""Coefficients this near to 1 or -1 are also tried as 1 or -1."""

_EXACT = 1e-8
_DENOMINATORS = 12


def formulas(trees: Sequence[Tree], coefficients: FloatArray, shares: FloatArray) -> list[Tree]:
    """The sum with its fitted coefficients, and one with those near 1 and -1 set to that if it differs.

    Parameters
    ----------
    trees : sequence of Tree
        The terms.
    coefficients, shares : ndarray, shape (m,)
        As `closedform.alignment.eigen.fit_coefficients` gives them.

    Examples
    --------
    >>> from closedform.expressions.printing import to_text
    >>> from closedform.expressions.tree import variable
    >>> found = formulas([variable(0), variable(1)], np.array([-1.9, 2.0]), np.ones(2))
    >>> [to_text(tree, ["x", "y"]) for tree in found]
    ['y - 0.95*x', 'y - x']
    """
    kept = np.flatnonzero((shares > NEGLIGIBLE) & (coefficients != 0))
    if len(kept) == 0:
        return []
    terms = [trees[i] for i in kept]
    # The first term that counts most: its coefficient is 1, whatever the units of the others.
    relative = coefficients[kept] / coefficients[kept][np.argmax(np.abs(coefficients[kept]))]
    fitted = [plain_number(float(c)) for c in relative]
    even = [Fraction(1 if c > 0 else -1) if abs(abs(c) - 1) <= ALIKE else c for c in fitted]
    return [weighted_sum(terms, fitted)] + ([weighted_sum(terms, even)] if even != fitted else [])


def plain_number(value: float) -> Fraction:
    """A small fraction or a short decimal, if the number is one up to rounding.

    Examples
    --------
    >>> plain_number(0.33333333333), plain_number(0.49999999999)
    (Fraction(1, 3), Fraction(1, 2))
    """
    exact = Fraction(repr(value))
    tolerance = abs(exact) * Fraction(_EXACT)
    for simple in (exact.limit_denominator(_DENOMINATORS), Fraction(f"{value:.5g}")):
        if simple != 0 and abs(simple - exact) <= tolerance:
            return simple
    return exact


def weighted_sum(terms: Sequence[Tree], coefficients: Sequence[Fraction]) -> Tree:
    """A sum that begins with a positive coefficient, so that no sign stands in front."""
    order = sorted(range(len(terms)), key=lambda i: (coefficients[i] < 0, i))
    result: Tree | None = None
    for i in order:
        size = abs(coefficients[i])
        term = terms[i] if size == 1 else apply("mul", constant(size), terms[i])
        result = term if result is None else apply("add" if coefficients[i] > 0 else "sub", result, term)
    assert result is not None
    return result
