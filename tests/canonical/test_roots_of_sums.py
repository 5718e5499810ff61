"""Roots of sums in their plainest form."""

import numpy as np
import pytest

import closedform as cf
from closedform.canonical.form import canonical_form

POSITIVE = np.random.default_rng(0).uniform(0.5, 3, (200, 3))


@pytest.mark.parametrize(
    ("text", "plainest"),
    [
        ("x*(sqrt(y*z/x**2 + 1) + 1)", "x + sqrt(x**2 + y*z)"),
        ("x*(sqrt(y**2/x**2 + 0.5) + sqrt(2)/2)", "x + sqrt(x**2 + 2*y**2)"),
        ("x*(sqrt(y*z/x**2 + 1) + 1)/(y*z)", "x - sqrt(x**2 + y*z)"),
        ("z + x*sqrt(y/x**2 + 1)", "z + sqrt(x**2 + y)"),
        ("y*(x/sqrt(y) + sqrt(x**2/y + 3))**2", "x + sqrt(x**2 + 3*y)"),
    ],
)
def test_a_root_of_a_quadratic_is_told_as_one(text, plainest):
    assert str(canonical_form(cf.parse(text, names="xyz"), POSITIVE)) == plainest


def test_a_factor_of_both_signs_stays_outside():
    points = np.random.default_rng(0).uniform(-2, 2, (200, 3))
    text = "z + x*sqrt(y**2/x**2 + 1)"
    form = canonical_form(cf.parse(text, names="xyz"), points)
    assert cf.same_concept(str(form), text, points=points)
