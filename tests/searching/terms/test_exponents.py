import numpy as np
import pytest

import closedform as cf

POINTS = np.random.default_rng(1).uniform(0.2, 3, (500, 2))


def front(text, points=POINTS, **options):
    field = cf.GradientField.from_arrays(
        points, cf.parse(text, ["x", "y"]).gradient(points), names=["x", "y"]
    )
    result = cf.search(
        field, engine="terms", budget=cf.Budget(seconds=20), rng=0, progress=False, **options
    )
    return [(str(candidate.expression), candidate.misalignment) for candidate in result.front]


@pytest.mark.parametrize(
    "text",
    [
        "3*x**0.7 + sin(y)",
        *[pytest.param(text, marks=pytest.mark.slow) for text in ("x**0.7 + y", "x**1.3 - 2*y**2")],
    ],
)
def test_a_power_that_no_library_holds_is_found(text):
    """With the paper's operators a sum of seven terms reached 1e-11 and took its place."""
    exponent = text.split("x**")[1].split()[0]
    found = [m for formula, m in front(text) if abs(_exponent(formula) - float(exponent)) < 1e-6]
    assert found
    assert min(found) < 1e-12


def _exponent(formula):
    after = formula.split("x**")
    return float(after[1].split()[0].rstrip(")")) if len(after) > 1 else 0.0


def test_only_a_far_better_formula_gets_an_exponent():
    assert not any("**2." in formula or "**1." in formula for formula, _ in front("x**2 + sin(y)"))


def test_a_space_without_powers_gets_none():
    space = cf.SearchSpace(operators=["add", "mul", "sqrt"])
    assert not any("**0." in formula for formula, _ in front("x**0.7 + y", space=space))
