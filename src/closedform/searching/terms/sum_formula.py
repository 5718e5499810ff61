"""Terms and coefficients to a formula: largest coefficient 1, plain numbers where they are
meant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Sum:
    """Some of the terms of a support, with coefficients of which the largest is 1.

    Attributes
    ----------
    places : tuple of int
        Which terms.
    coefficients : tuple of float
    """

    places: tuple[int, ...]
    coefficients: tuple[float, ...]

    @property
    def n_numbers(self) -> int:
        """Coefficients that must be written."""
        return sum(abs(abs(c) - 1) > _EXACT for c in self.coefficients)


def sums(coefficients: FloatArray, shares: FloatArray) -> list[Sum]:
    """The sum with its fitted coefficients, and one with those near 1 and -1 set to that if it
    differs.

    Parameters
    ----------
    coefficients, shares : ndarray, shape (m,)
        As `closedform.field.alignment.eigen.fit_coefficients` gives them.

    Examples
    --------
    >>> [found.coefficients for found in sums(np.array([-1.9, 2.0]), np.ones(2))]
    [(-0.95, 1.0), (-1.0, 1.0)]
    """
    kept = np.flatnonzero((shares > NEGLIGIBLE) & (coefficients != 0))
    if len(kept) == 0:
        return []
    places = tuple(kept.tolist())
    largest = coefficients[kept][np.argmax(np.abs(coefficients[kept]))]
    fitted = tuple((coefficients[kept] / largest).tolist())
    even = tuple(float(np.sign(c)) if abs(abs(c) - 1) <= ALIKE else c for c in fitted)
    found = Sum(places, fitted)
    return [found, Sum(places, even)] if found.n_numbers > Sum(places, even).n_numbers else [found]


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


def write(found: Sum, trees: Sequence[Tree]) -> Tree:
    """The formula; it begins with a positive coefficient, so that no sign stands in front.

    Examples
    --------
    >>> from closedform.expressions.printing import to_text
    >>> from closedform.expressions.tree import variable
    >>> to_text(write(Sum((0, 1), (-0.95, 1.0)), [variable(0), variable(1)]), ["x", "y"])
    'y - 0.95*x'
    """
    result: Tree | None = None
    pairs = zip(found.coefficients, found.places, strict=True)
    for value, place in sorted(
        pairs, key=lambda pair: (pair[0] < 0, sorted(trees[pair[1]].variables), pair[1])
    ):
        size = plain_number(abs(value))
        term = trees[place] if size == 1 else apply("mul", constant(size), trees[place])
        result = term if result is None else apply("add" if value > 0 else "sub", result, term)
    assert result is not None
    return result
