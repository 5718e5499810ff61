"""A plain number that its own estimate rejects is not written."""

import numpy as np
import pytest

import closedform as cf
from closedform.judge.rejected_numbers import REJECTED, rejected_numbers

NAMES = ["x", "y"]


@pytest.fixture(scope="module")
def field() -> cf.GradientField:
    rng = np.random.default_rng(3)
    points = rng.uniform(1, 2, (900, 2))
    truth = cf.parse("x**2 + 2.05*y**3", names=NAMES)
    gradients = truth.gradient(points) * (1 + 0.05 * rng.normal(size=(900, 2)))
    latents = np.exp(0.1 * truth(points)) * (1 + 0.005 * rng.normal(size=900))
    return cf.GradientField.from_arrays(points, gradients, latents=latents, names=NAMES)


@pytest.mark.parametrize(
    ("text", "rejected"),
    [
        ("x**2 + 2*y**3", [2]),
        # Fitted numbers are as the data have them, and whole exponents belong to the form.
        ("x**2 + 2.3*y**3", []),
        ("x**2 + y**3", []),
    ],
)
def test_numbers_are_rejected_by_their_estimates(field, text, rejected):
    formula = cf.parse(text, names=NAMES)
    found = rejected_numbers(formula, 1e-3, field, np.random.default_rng(0))
    assert [one.value for one in found.values()] == rejected
    assert all(abs(one.fitted - one.value) > REJECTED * one.error for one in found.values())
    # Of an exact formula only rounding could reject a number.
    assert rejected_numbers(formula, 1e-14, field, np.random.default_rng(0)) == {}


def test_the_choice_keeps_a_fitted_number_where_the_plain_one_is_rejected(field):
    """2 was written for 2.05, many standard errors away."""
    guesses = tuple(cf.parse(text, names=NAMES) for text in ("x**2 + 2.04*y**3", "x*y"))
    space = cf.SearchSpace(operators=["add", "mul"], guesses=guesses, max_complexity=14)
    result = cf.search(field, space=space, engine="terms", budget=cf.Budget(evaluations=200), rng=0)
    selection = cf.select(result, field, rng=0, budget=cf.Budget(seconds=0.01))
    assert selection.chosen is not None
    assert selection.choice is not None
    assert "Fitted numbers stay: 2 is" in selection.choice.reason
    # Without the rule the plain one is chosen, which is still there.
    plain, form = selection.contenders[0].expression, selection.chosen.expression
    assert str(plain) == "x**2 + 2*y**3"
    assert str(form).startswith("x**2 + 2.0")
    assert rejected_numbers(form, 1e-3, field, np.random.default_rng(1)) == {}


def test_what_a_network_is_wrong_by_everywhere_rejects_nothing():
    """The network of docs/start.md has 0.5034 for 1/2, several standard errors away."""
    rng = np.random.default_rng(0)
    points = rng.uniform(1, 2, (900, 2))
    gradients = cf.parse("x**2 + 2.014*y**3", names=NAMES).gradient(points)
    noisy = gradients * (1 + 1e-3 * rng.normal(size=(900, 2)))
    field = cf.GradientField.from_arrays(points, noisy, names=NAMES)
    formula = cf.parse("x**2 + 2*y**3", names=NAMES)
    assert rejected_numbers(formula, 1e-5, field, rng) == {}
    assert rejected_numbers(cf.parse("x**2 + 3*y**3", names=NAMES), 1e-5, field, rng)
