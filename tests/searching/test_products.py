"""Products as lists of bases with exponents, and back."""

from fractions import Fraction

import closedform as cf
from closedform.searching.products import collected_powers, factor_powers, product_of_powers


def test_bases_and_exponents_of_a_product():
    tree = cf.parse("3*x**2*sqrt(y)/(x*z)").tree
    found = {str(cf.Expression(base, ("x", "y", "z"))): p for base, p in factor_powers(tree)}
    assert set(found.values()) <= {2, -1, Fraction(1, 2)}
    powers = collected_powers(tree)
    assert sorted(powers.values()) == [-1, Fraction(1, 2), 1]
    again = product_of_powers(list(powers.items()))
    found = cf.Expression(again, ("x", "y", "z"))
    assert cf.same_concept(found, cf.parse("x*sqrt(y)/z")).status == "proved"


def test_pi_is_a_number_and_no_operator():
    """A choice among formulas with pi ended in a KeyError."""
    tree = cf.parse("sin(pi*x)/(2*pi)*y").tree
    assert len(list(factor_powers(tree))) == 2
