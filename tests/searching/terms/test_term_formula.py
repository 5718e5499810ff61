from fractions import Fraction

import numpy as np
import pytest

from closedform.expressions.parse import parse
from closedform.expressions.printing import to_text
from closedform.searching.terms.sum_formula import plain_number, sums, write

NAMES = ["x", "y", "z"]
TREES = [parse(text, names=NAMES).tree for text in ("x", "y**2", "sin(z)")]


def texts(coefficients, shares=None):
    shares = np.ones(len(coefficients)) if shares is None else np.array(shares)
    return [to_text(write(found, TREES), NAMES) for found in sums(np.array(coefficients), shares)]


def test_the_largest_coefficient_is_one_and_no_sign_stands_in_front():
    assert texts([-4.0, 2.0, -1.0]) == ["x + 0.25*sin(z) - 0.5*y**2"]
    assert texts([1.0, 3.0, -3.0]) == ["1/3*x + y**2 - sin(z)"] or texts([1.0, 3.0, -3.0])[
        0
    ].startswith("1/3")


def test_coefficients_near_one_are_also_tried_as_one():
    assert texts([0.97, -1.0, 0.3]) == ["y**2 - 0.97*x - 0.3*sin(z)", "y**2 - x - 0.3*sin(z)"]
    assert len(texts([0.5, -1.0, 0.3])) == 1


def test_terms_that_add_nothing_are_left_out():
    assert texts([1.0, 5.0, 1.0], shares=[1.0, 1e-9, 0.5]) == ["x + sin(z)"]
    assert sums(np.zeros(2), np.ones(2)) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5 + 1e-12, Fraction(1, 2)),
        (1 / 7 + 1e-13, Fraction(1, 7)),
        (1e-6 * (1 + 1e-12), Fraction(1, 10**6)),
        (0.18393972058572117, Fraction("0.18393972058572117")),
        (0.5001, Fraction(5001, 10000)),
    ],
)
def test_plain_numbers(value, expected):
    assert plain_number(value) == expected
