import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closedform as cf
from closedform.expressions.expression import Expression
from closedform.expressions.tree import decimal
from closedform.testing import expressions, random_tree


@pytest.mark.parametrize("count", [2000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_expressions_are_read_back(count):
    rng = np.random.default_rng(20261115)
    names = ("x", "v", "x_10", "a b")
    for _ in range(count):
        e = Expression(random_tree(rng, int(rng.integers(1, 40)), 4), names)
        assert cf.parse(str(e), names=names) == e


@given(expressions(names=("x", "E", "pi2")))
def test_printing_and_pickling_keep_the_expression(e):
    assert cf.parse(str(e), names=e.names) == e
    assert pickle.loads(pickle.dumps(e)) == e


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300))
def test_every_float_survives(number):
    e = cf.parse(repr(number), names=[])
    assert e(np.zeros((1, 0)))[0] == number
    assert cf.parse(str(e), names=[]) == e


@pytest.mark.parametrize(
    "text",
    [
        "x - (y - 1)",
        "x/(y*x)",
        "(x + y)**2",
        "-x**2",
        "(-x)**2",
        "x**(-2)",
        "x**(1/3)",
        "2*x - 3*y",
        "x*(-y)",
        "1/3*x",
        "-1/3 - x",
    ],
)
def test_no_more_parentheses_than_needed(text):
    assert str(cf.parse(text)) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(1, 20), "0.05"),
        (Fraction(-5, 2), "-2.5"),
        (Fraction(1, 3), None),
        (Fraction(10) ** 20, "1e20"),
        (Fraction(0), "0"),
    ],
)
def test_decimal(number, text):
    assert decimal(number) == text
