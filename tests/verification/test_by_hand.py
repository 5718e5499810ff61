"""Small parts of the verdict against what they must say of cases that one can work out."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import closedform as cf
from closedform.expressions.linear_formulas import is_linear, may_be_accident
from closedform.expressions.tree import constant
from closedform.searching.space import SearchSpace
from closedform.verification.alignment import interval
from closedform.verification.contest import near_ones
from closedform.verification.deciding import Circumstances
from closedform.verification.factor_rivals import SHARES, _common_powers
from closedform.verification.judgement import undecided
from closedform.verification.made_rivals import _most_gained, _terms
from closedform.verification.residuals import curved_share, split
from closedform.verification.thresholds import Thresholds
from closedform.verification.together import _parts
from closedform.verification.verify_stage import _named

NAMES = ["x", "y"]


def parse(text: str) -> cf.Expression:
    return cf.parse(text, names=NAMES)


def field_of(text: str, noise: float = 0.0, n_points: int = 400, **more: Any) -> cf.GradientField:
    rng = np.random.default_rng(0)
    points = rng.uniform(0.5, 1.5, (n_points, 2))
    gradients = parse(text).gradient(points)
    gradients = gradients + noise * rng.normal(size=gradients.shape)
    return cf.GradientField.from_arrays(points, gradients, names=NAMES, tangent="none", **more)


@pytest.mark.parametrize(("text", "accident"), [("x", True), ("x + y", False), ("2*x + y", True)])
def test_a_sum_of_inputs_as_they_are_is_no_accident(text: str, accident: bool) -> None:
    assert may_be_accident(parse(text).tree) is accident


@pytest.mark.parametrize(
    ("text", "linear"), [("exp(2)*x", True), ("x/y", False), ("x/3 - y", True), ("sin(x)", False)]
)
def test_linear_formulas(text: str, linear: bool) -> None:
    assert is_linear(parse(text).tree) is linear


def test_squares_explain_what_is_curved_and_nothing_of_noise() -> None:
    plane = parse("x + 2*y")
    assert 0.99 < curved_share(plane, field_of("x + 2*y + 0.05*x**2")) <= 1
    assert curved_share(plane, field_of("x + 2*y", noise=0.05)) < 0.1


def test_one_point_shares_nothing() -> None:
    found = split(np.array([[0.3, 0.4]]), np.array([[1.0, 2.0]]))
    assert (found.total, found.systematic, found.z) == (pytest.approx(0.25), 0.0, 0.0)


def test_two_points_share_what_they_have_in_common() -> None:
    found = split(np.array([[0.3, 0.4], [0.3, 0.4]]), np.array([[1.0, 2.0], [1.1, 2.0]]))
    assert found.systematic == pytest.approx(0.25)


def test_a_complexity_keeps_its_number() -> None:
    assert (_named("complexity 7"), _named("factor")) == (7, "factor")


def test_without_regions_nothing_is_known() -> None:
    nothing = np.zeros(0)
    rng = np.random.default_rng(0)
    assert interval(nothing, nothing, np.zeros(0, dtype=np.int64), rng) == (1.0, 1.0)


@pytest.mark.parametrize(("usable", "said"), [(0, "No point"), (1, "Only one point")])
def test_too_few_directions(usable: int, said: str) -> None:
    gradients = np.zeros((5, 2))
    gradients[:usable] = 1.0
    points = np.random.default_rng(0).uniform(1, 2, (5, 2))
    field = cf.GradientField.from_arrays(points, gradients, names=NAMES, tangent="none")
    verdict = undecided(field)
    assert verdict is not None
    assert verdict.sentence.startswith(said)


def test_all_concepts_must_be_verified_and_there_must_be_one() -> None:
    parts: list[Any] = [SimpleNamespace(status=status) for status in ("verified", "none")]
    assert _parts(parts[:1]).passed
    assert not _parts(parts).passed
    assert not _parts([]).passed


def test_each_term_is_tried_once() -> None:
    terms = _terms(3)
    assert len(terms) == len(set(terms))
    assert parse("x*y").tree in terms


def test_what_is_left_over_names_the_missing_term() -> None:
    field = field_of("x + y + 0.03*x**2")
    terms = [parse(text) for text in ("y**3", "x**2", "x*y", "sin(y)")]
    slopes = [(term.tree, field.project(term.gradient(field.points))) for term in terms]
    (coefficient, tree), *_ = _most_gained(parse("x + y"), field, slopes, is_factor=False)
    assert tree == terms[1].tree
    assert coefficient == pytest.approx(0.03, rel=0.1)


@pytest.mark.parametrize(
    ("with_query", "with_latents"), [(False, False), (True, False), (False, True), (True, True)]
)
def test_a_network_is_at_hand_or_its_values_are(with_query: bool, with_latents: bool) -> None:
    field = field_of("x + y", latents=np.arange(400.0)) if with_latents else field_of("x + y")
    query = parse("x + y").gradient if with_query else None
    about = Circumstances(field, None, SearchSpace(), Thresholds(), query)
    assert about.is_network is (with_query or with_latents)


@pytest.mark.parametrize(
    ("base", "power"), [("sqrt(x)", 0.5), ("x**2", 2.0), ("sin(x)", 1.0), ("x**0.3", 0.3)]
)
def test_powers_that_a_factor_may_have_beside_another(base: str, power: float) -> None:
    found = _common_powers([(parse(base).tree, 1)])
    assert sorted(size for size in found if size > 0) == pytest.approx([power * s for s in SHARES])
    assert sorted(found) == pytest.approx(sorted(-size for size in found))
    assert _common_powers([(constant(3), 1)]) == ()


def test_far_forms_are_no_rivals() -> None:
    field = field_of("x**2 + y", noise=0.02)
    made = [(parse(text), []) for text in ("x**2 + y + x/1000", "y/x", "x - y")]
    kept = near_ones((parse("x**2 + y"), []), made, field, price=0.1)
    assert [str(form) for form, _ in kept] == [str(made[0][0])]
