from fractions import Fraction

import numpy as np
import pytest

from closedform.expressions.parse import parse
from closedform.expressions.printing import to_text
from closedform.expressions.tree import apply, constant, variable
from closedform.searching.products import product_of_powers
from closedform.searching.structure_search.writing import plain_numbers, tidied

POSITIVE = np.full((2, 2), 2.0)


@pytest.mark.parametrize(
    ("written", "tidy"),
    [
        ("1*x", "x"),
        ("x**1*y", "x*y"),
        ("x + (-1)*y", "x - y"),
        ("x + (-0.5)*y", "x - 0.5*y"),
        ("x*y**(-2)", "x/y**2"),
        ("x*y**0.5", "x**2*y"),
        ("x + 0", "x"),
    ],
)
def test_numbers_that_say_nothing_go(written, tidy):
    assert to_text(tidied(parse(written, ["x", "y"]).tree, POSITIVE), ["x", "y"]) == tidy


def test_a_factor_that_changes_its_sign_is_not_squared():
    points = np.array([[-1.0, 2.0], [1.0, 2.0]])
    tree = parse("x*y**0.5", ["x", "y"]).tree
    assert to_text(tidied(tree, points), ["x", "y"]) == "x*y**0.5"


def test_the_opposite_of_a_difference_is_a_difference():
    assert (
        to_text(tidied(apply("neg", apply("sub", variable(0), constant(1))), POSITIVE), ["x"])
        == "1 - x"
    )


def test_products_of_powers_are_quotients():
    factors = [(variable(0), Fraction(1)), (variable(1), Fraction(-2)), (variable(2), Fraction(0))]
    assert to_text(product_of_powers(factors), ["x", "y", "z"]) == "x/y**2"
    assert to_text(product_of_powers([(variable(0), Fraction(-1))]), ["x"]) == "1/x"


def test_plain_numbers_are_near():
    assert plain_numbers(1.98) == [0.0, 2.0]
    assert plain_numbers(0.33)[1:] == [pytest.approx(1 / 3)]
