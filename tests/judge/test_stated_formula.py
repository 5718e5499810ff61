"""Whether a formula of the user's is the answer: 0.0598 was 'another concept' than 0.06."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ConceptError, DomainError, ExpressionError
from closedform.interpretation.evidence import ConstantEstimate
from closedform.judge.stated_formula import compare_within_errors
from closedform.reading.settings import Origin

NAMES = ["v", "k"]


@pytest.fixture(scope="module")
def answer() -> cf.Interpretation:
    """A field with a degree of noise, whose inputs are positive."""
    rng = np.random.default_rng(0)
    points = rng.uniform(1, 3, (1500, 2))
    truth = cf.parse("v**2 + 0.0598*k**3", names=NAMES)
    gradients = truth.gradient(points)
    noise = 0.02 * np.linalg.norm(gradients, axis=1, keepdims=True) * rng.normal(size=(1500, 2))
    field = cf.GradientField.from_arrays(points, gradients + noise, names=NAMES)
    found = cf.verify(truth, field, rivals=None, hypothesis="v**2 + 0.06*k**3", rng=0)
    return replace(found, origin=Origin(field, {}))


def test_constants_within_their_errors_are_the_same_and_it_says_so(answer):
    same = answer.same_as("v**2 + 0.06*k**3")
    assert same
    assert same.status == "within errors"
    assert "standard errors from 0.05" in same.reason
    far = answer.same_as("v**2 + 0.07*k**3")
    assert not far
    assert "The form is the same, but a constant is not: 0.07 is" in far.reason


def test_a_hypothesis_is_compared_in_the_same_way(answer):
    assert answer.hypothesis.status == "within errors"
    assert "the same concept" in str(answer)
    assert "fits better" not in str(answer)


def test_it_is_asked_on_the_range_of_the_data(answer):
    """On positive inputs a formula and its square are one concept; from -2 to 2 they are not."""
    square = f"({answer.concept})**2"
    assert answer.same_as(square).status == "proved"
    assert not cf.same_concept(answer.concept, square)
    assert not answer.same_as("v**2 + k")
    with pytest.raises(ExpressionError):
        answer.same_as("v + nobody")


def test_a_number_that_is_not_written_has_an_error_too(answer):
    assert answer.same_as("1.0002*v**2 + 0.06*k**3").status == "within errors"
    assert not answer.same_as("1.3*v**2 + 0.06*k**3")


def test_a_loaded_answer_needs_points(answer, tmp_path):
    answer.save(tmp_path / "answer.json")
    loaded = cf.load_interpretation(tmp_path / "answer.json")
    with pytest.raises(DomainError, match="points="):
        loaded.same_as("v**2 + 0.06*k**3")
    points = np.random.default_rng(1).uniform(1, 3, (50, 2))
    assert loaded.same_as("v**2 + 0.06*k**3", points=points).status == "within errors"
    assert not loaded.same_as("v**2 + 0.07*k**3", points=points)


def test_nothing_can_be_compared_with_nothing():
    points = np.random.default_rng(0).uniform(1, 2, (50, 1))
    nothing = cf.interpret_field(cf.GradientField.from_arrays(points, points), budget=1.0, rng=0)
    with pytest.raises(ConceptError, match="nothing to compare"):
        nothing.same_as("x0")


def test_what_turns_round_is_another_concept():
    """A fit of constants does not see signs: x + y and its square are parallel."""
    points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    field = cf.GradientField.from_arrays(points, points, names=["x", "y"])
    known = [ConstantEstimate(1.5, 1.5, 0.5, is_plain=True)]
    first, second = (cf.parse(text, names=["x", "y"]) for text in ("1.5*x + y", "(x + y)**2"))
    assert not compare_within_errors(first, second, field, constants=known)
    assert compare_within_errors(
        first, cf.parse("exp(x + y)", names=["x", "y"]), field, constants=known
    )
