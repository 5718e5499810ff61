"""Formulas as people write them."""

import numpy as np
import pytest

import closedform as cf
from closedform.judge.told_forms import right_way_up

NAMES = ["s", "k", "Sigma"]
POINTS = np.random.default_rng(0).uniform(0.5, 2, (300, 3))


def turned(text: str, latent: str, **options) -> str:
    gradients = cf.parse(latent, names=NAMES).gradient(POINTS)
    field = cf.GradientField.from_arrays(POINTS, gradients, names=NAMES, **options)
    formula = cf.parse(text, names=NAMES)
    found = right_way_up(formula, field)
    assert cf.same_concept(formula, found, points=POINTS)
    return str(found)


@pytest.mark.parametrize(
    ("text", "latent", "written"),
    [
        ("Sigma/(k*s)", "tanh(s*k/Sigma)", "k*s/Sigma"),
        ("Sigma/(k*s)", "Sigma/(k*s)", "Sigma/(k*s)"),
        ("(s + k)/Sigma", "exp(-(s + k)/Sigma)", "Sigma/(s + k)"),
        ("2*s/(3*k)", "k/s", "k/s"),
        # The reciprocal would be longer.
        ("s*k", "1/(s*k)", "s*k"),
        ("-s**2 - k**2", "-s**2 - k**2", "s**2 + k**2"),
        ("-1.5*s**2 - k**2", "s**2", "1.5*s**2 + k**2"),
        ("-s + k", "s", "k - s"),
        ("k - s", "s - k", "k - s"),
        ("-s*k", "s*k", "s*k"),
    ],
)
def test_the_way_that_people_write(text, latent, written):
    assert turned(text, latent) == written


def test_where_signs_are_not_known_a_quotient_stays():
    assert turned("Sigma/(k*s)", "s*k/Sigma", signed=False) == "Sigma/(k*s)"


def test_what_changes_its_sign_stays():
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    gradients = np.column_stack([np.ones(300), np.zeros(300)])
    field = cf.GradientField.from_arrays(points, gradients, names=["x", "y"])
    formula = cf.parse("x/(y + 3)")
    assert right_way_up(cf.parse("(y + 3)/x"), field) == cf.parse("(y + 3)/x")
    assert right_way_up(formula, field) == formula
