from fractions import Fraction

import pytest

import closedform as cf
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import (
    opposite,
    power_of,
    product_of,
    scaled_terms,
    signed_terms,
    times,
)

NAMES = ("x", "y", "z")


def tree(text):
    return cf.parse(text, NAMES).tree


def shown(pairs):
    return [(float(number), str(Expression(term, NAMES))) for number, term in pairs]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("x", [(1, "x")]),
        ("3", [(1, "3")]),
        ("x - (y - 2*z)", [(1, "x"), (-1, "y"), (1, "2*z")]),
        ("-(x + 1)", [(-1, "x"), (-1, "1")]),
    ],
)
def test_signs_go_through_brackets(text, terms):
    assert shown(signed_terms(tree(text))) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("3", []),
        ("pi*x + 1", [(1, "pi*x")]),
        ("2*(x - 3*y) + z/4", [(2, "x"), (-6, "y"), (0.25, "z")]),
        ("x*0.5 - (-y)", [(0.5, "x"), (1, "y")]),
        ("0*x", [(0, "x")]),
        ("x/0 + 1/y", [(1, "x/0"), (1, "1/y")]),
    ],
)
def test_numbers_go_through_brackets(text, terms):
    assert shown(scaled_terms(tree(text))) == terms


def test_a_long_sum_does_not_exhaust_the_stack():
    assert len(list(signed_terms(tree(" - ".join(["x"] * 3000))))) == 3000


def test_products_as_people_write_them():
    x, y, z = (tree(name) for name in NAMES)
    assert power_of(x, 1) == x
    assert power_of(x, 2) == tree("x**2")
    assert power_of(x, Fraction(1, 2)) == tree("sqrt(x)")
    assert product_of([x]) == x
    assert product_of([x, y, z]) == tree("x*y*z")
    assert times(x, tree("1/y")) == tree("x/y")
    assert times(x, tree("z/y")) == tree("x*(z/y)")
    assert opposite(tree("x - y")) == tree("y - x")
