from fractions import Fraction

import pytest

import closedform as cf
from closedform.expressions.complexity import (
    belongs_to_form,
    constant_values,
    fitted_positions,
    skeleton,
    with_numbers,
)


@pytest.mark.parametrize(
    ("number", "simple"),
    [("3", True), ("-7/4", True), ("1/5", False), ("13", False), ("0.534", False)],
)
def test_simple_numbers(number, simple):
    assert belongs_to_form(Fraction(number)) is simple


def test_exponents_and_fractions_belong_to_the_form():
    tree = cf.parse("0.97*x**2 + v**4/2 + sin(2.3*x)").tree
    assert constant_values(tree, fitted_positions(tree)) == [0.97, 2.3]


def test_constants_are_put_back():
    tree = cf.parse("0.97*x**2 + 1.3*v").tree
    changed = with_numbers(tree, fitted_positions(tree), [0.5, 1e-7])
    assert changed == cf.parse("0.5*x**2 + 1e-7*v").tree


def test_skeleton_ignores_values_only():
    first, second = (
        cf.parse("x**2 + 0.5*v", names=["x", "v"]).tree,
        cf.parse("x**2 + 0.7*v", names=["x", "v"]).tree,
    )
    assert skeleton(first) == skeleton(second)
    assert skeleton(first) != skeleton(cf.parse("x**3 + 0.5*v", names=["x", "v"]).tree)
    assert skeleton(first) != skeleton(cf.parse("x**2 - 0.5*v", names=["x", "v"]).tree)
