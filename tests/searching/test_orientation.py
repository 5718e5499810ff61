"""Formulas that unsigned directions cannot tell apart, and the field's own signs can."""

import numpy as np
import pytest

import closedform as cf
from closedform.searching.orientation import has_pole, oriented

NAMES = ["x", "y"]


def field_of(truth, low=-1.5, high=1.5):
    points = np.random.default_rng(0).uniform([low, 1.0], [high, 3.0], (400, 2))
    slopes = cf.parse(truth, names=NAMES).gradient(points)
    return cf.GradientField.from_arrays(points, slopes, names=NAMES, tangent="none")


@pytest.mark.parametrize(
    ("truth", "found"),
    [
        ("x*sqrt(y)", "x**2*y"),
        ("x/sqrt(y)", "x**2/y"),
        ("x**2*y", "x*sqrt(y)"),
        ("x*sqrt(1 + y**2)", "x**2*y**2 + x**2"),
        ("x*y", "1/(x*y)"),
        ("x + y**2/4", "4/(4*x + y**2)"),
    ],
)
def test_the_formula_that_rises_with_the_latent_is_taken(truth, found):
    formula = oriented(cf.parse(found, names=NAMES), field_of(truth))
    points = field_of(truth).points
    assert cf.same_concept(str(formula), truth, NAMES, points=points).status != "different"


def test_a_formula_that_keeps_its_sign_stays():
    formula = cf.parse("x**2*y", names=NAMES)
    assert oriented(formula, field_of("x*sqrt(y)", low=0.5)) == formula


def test_a_rare_change_of_sign_is_no_pole():
    """Few points beyond zero, none of them near it, once turned a sum into its inverse."""
    points = np.random.default_rng(1).uniform([1.0, 0.5], [3.0, 2.0], (700, 2))
    tree = cf.parse("x - 0.6*y**2", names=NAMES).tree
    assert not has_pole(tree, points, points.std(axis=0))
    inverse = cf.parse("1/(x - 0.6*y**2)", names=NAMES).tree
    assert has_pole(inverse, points, points.std(axis=0))


@pytest.mark.parametrize(
    ("truth", "found"),
    [
        ("x*sin(2*y)", "1/(x**2*(cos(4*y) - 1))"),
        ("x**2*cos(y)", "x**4*(cos(2*y) + 1)"),
        ("x*sin(y)", "x**2*(1 - cos(2*y))"),
    ],
)
def test_a_wave_is_found_from_that_of_twice_the_angle(truth, found):
    """cos(4*y) - 1 is the square of sin(2*y), which changes its sign inside the data."""
    points = np.random.default_rng(0).uniform(0.4, 2.4, (400, 2))
    known = cf.parse(truth, names=["x", "y"])
    field = cf.GradientField.from_arrays(points, known.gradient(points), names=["x", "y"])
    assert cf.same_concept(oriented(cf.parse(found, names=["x", "y"]), field), known, points=points)
