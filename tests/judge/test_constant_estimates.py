"""Every constant has an error, those that were snapped too."""

import numpy as np
import pytest

import closedform as cf
from closedform.judge.fitting import estimate_constants

NAMES = ["x", "y"]


def _field(slope: float, noise: float = 0.02) -> cf.GradientField:
    rng = np.random.default_rng(3)
    points = rng.uniform(1, 2, (900, 2))
    exact = cf.parse(f"x**2 + {slope}*y**3", names=NAMES).gradient(points)
    return cf.GradientField.from_arrays(
        points, exact * (1 + noise * rng.normal(size=exact.shape)), names=NAMES, tangent="none"
    )


def test_a_plain_number_keeps_its_error() -> None:
    # A snapped 2 had none, as if it were known exactly.
    answer = cf.verify("x**2 + 2*y**3", _field(2.0), rivals=None, rng=0)
    (two,) = answer.constants
    assert two.is_plain
    assert two.value == 2
    assert 0 < two.error < 0.05
    assert abs(two.fitted - 2) < 4 * two.error


def test_a_number_far_from_a_plain_one_is_seen_to_be() -> None:
    answer = cf.verify("x**2 + 3*y**3", _field(2.7083), rivals=None, rng=0)
    (three,) = answer.constants
    assert abs(three.fitted - 2.7083) < 4 * three.error < 3 - 2.7083


def test_a_formula_without_constants_has_none() -> None:
    assert cf.verify("x*y", _field(2.0), rivals=None, rng=0).constants == ()


def test_estimates_are_saved(tmp_path) -> None:
    answer = cf.verify("x**2 + 2*y**3", _field(2.0), rivals=None, rng=0)
    answer.save(tmp_path / "answer.json")
    assert cf.load_interpretation(tmp_path / "answer.json").constants == answer.constants


def test_numbers_that_the_data_refute_are_fitted_and_have_errors() -> None:
    # The formula's plain numbers gave way to fitted ones, which were shown without errors.
    space = cf.SearchSpace(operators=["add", "sub", "mul"])
    answer = cf.interpret_field(
        _field(2.7083), engine="terms", budget=cf.Budget(evaluations=300), space=space, rng=0,
        progress=False,
    )  # fmt: skip
    fitted = [each for each in answer.constants if not each.is_plain]
    assert answer.entry is not None
    assert len(answer.entry.errors) == len(fitted) > 0


@pytest.mark.parametrize("text", ["x*(log(y) - 0.5*log(2))", "x + pi*y**2", "x*sin(pi*y) + 2*y"])
def test_named_and_computed_constants_have_no_estimate(text):
    """They ended a reading with an error."""
    points = np.random.default_rng(0).uniform(2, 3, (400, 2))
    truth = cf.parse(text, names=["x", "y"])
    field = cf.GradientField.from_arrays(points, truth.gradient(points), names=["x", "y"])
    found = estimate_constants(truth, field, np.random.default_rng(0))
    assert all(abs(one.value - one.fitted) < 1e-6 for one in found)
