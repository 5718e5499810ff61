from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import closedform as cf
from closedform.interpretation.evidence import Misfit
from closedform.searching.space import SearchSpace
from closedform.verification.alternatives import compare_all
from closedform.verification.checks import OneOfAKind
from closedform.verification.description import description_length
from closedform.verification.inputs import leave_one_out
from closedform.verification.made_rivals import make_rivals, rival_space
from closedform.verification.measurement import with_bias
from closedform.verification.residuals import residuals, split
from closedform.verification.same_form import contains, have_same_form
from closedform.verification.thresholds import MOST_MADE, Thresholds

NAMES = ["t", "v"]


def parse(text):
    return cf.parse(text, names=NAMES)


def field_of(text, low=-1.5, high=1.5, degrees=0.0, count=800):
    """A formula's directions, turned at random."""
    rng = np.random.default_rng(0)
    points = rng.uniform(low, high, (count, 2))
    gradients = parse(text).gradient(points)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    gradients += np.deg2rad(degrees) * rng.normal(size=gradients.shape)
    return cf.GradientField.from_arrays(points, gradients, names=NAMES, tangent="none")


def compared(concept, field, known=(), **options):
    asked = [(parse(text), "given") for text in known]
    options = {"is_network": False, **options}
    return compare_all(
        parse(concept), asked, field, SearchSpace(), Thresholds(), np.random.default_rng(0),
        **options,
    )  # fmt: skip


def test_the_truth_is_made_of_a_stand_in_that_the_search_took_for_it():
    outcome = compared("v*(t - 0.15*t**3) + v**2", field_of("v*sin(t) + v**2"))
    assert outcome.fit.kind == "lack"
    best = outcome.rivals[0]
    assert best.source == "made"
    assert best.difference < -5
    assert cf.same_concept(str(best.expression), "v*sin(t) + v**2", NAMES).status != "different"


def test_a_factor_of_a_product_is_exchanged_for_an_exponential():
    outcome = compared("t**2/(v + 1)**2", field_of("t**2*exp(-v)", low=0.5, high=3.0))
    best = outcome.rivals[0].expression
    assert cf.same_concept(str(best), "t**2*exp(-v)", NAMES).status != "different"


def test_a_function_of_a_combination_is_exchanged_as_a_whole():
    """5/(t*v - 6) stands in for (t*v)**2: neither 1/u nor u - 6 alone leads there."""
    field = field_of("t - 2*(t*v)**2", low=0.5, high=1.5)
    outcome = compared("t + 124/(t*v - 6)", field)
    best = outcome.rivals[0].expression
    assert cf.same_concept(str(best), "t - 2*(t*v)**2", NAMES).status != "different"


def test_an_input_that_was_left_out_comes_back_as_a_factor():
    """x*z**2 was verified where y had a thousandth of the field, by a factor."""
    names = ["x", "y", "z"]
    rng = np.random.default_rng(0)
    points = rng.uniform(1, 3, (800, 3))
    gradients = cf.parse("x*z**2*sqrt(1 + 0.015*y**2)", names=names).gradient(points)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    gradients += 0.02 * np.sin(2 * points[:, [1, 2, 0]] + [0.3, 1.1, 2.0])
    field = cf.GradientField.from_arrays(points, gradients, names=names, tangent="none")
    outcome = compare_all(
        cf.parse("x*z**2", names=names), [], field, SearchSpace(), Thresholds(), rng,
        is_network=True,
    )  # fmt: skip
    assert outcome.fit.kind == "network"
    assert any(1 in rival.expression.tree.variables for rival in outcome.alternatives)


def test_what_noise_hides_is_in_the_set_with_the_place_that_would_decide():
    field = field_of("t**2 + v**2", low=-0.25, high=0.25, degrees=1.0)
    outcome = compared("t**2 + v**2", field, ["v**2 - 2*cos(t)"])
    assert outcome.fit.kind == "noise"
    (rival,) = (r for r in outcome.rivals if r.source == "given")
    assert rival.is_alternative
    assert rival.degrees > rival.degrees_on_data
    assert abs(dict(rival.where)["t"]) > 0.25


def test_in_noise_significance_decides_not_a_ratio():
    # A cubic and exp differ by 6% in misalignment at one degree, and by many standard errors.
    field = field_of("exp(t) + v", low=-1.0, high=1.0, degrees=1.0, count=5000)
    outcome = compared("exp(t) + v", field, ["t + 0.45*t**2 + v"])
    assert not outcome.alternatives


def test_an_exact_fit_has_no_alternatives():
    outcome = compared("t**2 - 0.7*v", field_of("t**2 - 0.7*v"))
    assert outcome.fit.kind == "exact"
    assert not outcome.rivals
    assert outcome.fit.claim == "exact to rounding"


@pytest.mark.parametrize(("is_network", "kind"), [(True, "network"), (False, "lack")])
def test_what_neighbours_share_is_a_networks_error_or_a_lack_of_fit(is_network, kind):
    outcome = compared("t**2 + v", field_of("t**2 + v + 0.03*sin(3*v)"), is_network=is_network)
    assert outcome.fit.kind == kind
    assert outcome.fit.systematic > 0.8 * outcome.fit.total


def test_a_difference_below_any_networks_error_is_a_lack_of_fit():
    field = field_of("t**2 + v + 0.0001*sin(3*v)")
    assert compared("t**2 + v", field, is_network=True).fit.kind == "lack"


def test_snapped_constants_that_are_clearly_off_are_loosened():
    outcome = compared("3*t**2 + v**3", field_of("2.7*t**2 + v**3", degrees=0.5))
    assert outcome.loosened is not None
    assert abs(float(str(outcome.loosened).split("*")[0]) - 2.7) < 0.1


def test_nested_formulas_are_not_one_form():
    field = field_of("t + v")
    longer, shorter = parse("t + 0.37*sin(3*v)"), parse("t")
    assert not have_same_form(longer, shorter, field)
    assert not have_same_form(shorter, longer, field)
    assert contains(longer, shorter, field)
    assert have_same_form(parse("1.01*t**2 + v**2"), parse("0.98*t**2 + v**2"), field)
    assert have_same_form(parse("v + 5.5*exp(t)"), parse("v + 2*exp(1)*exp(t)"), field)
    assert not have_same_form(parse("v + t**2"), parse("v + t**3"), field)


def test_constants_cost_what_their_digits_do():
    lengths = [
        description_length(parse(text).tree)
        for text in ("t + v", "t + 2*v", "t + 7*v", "t + 2.7183*v")
    ]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) == len(lengths)


def test_rivals_stay_in_a_space_and_few():
    field = field_of("v*sin(t) + v**2")
    space = rival_space(SearchSpace(operators=["add", "mul", "sub"]))
    drafts, _ = make_rivals(parse("v*t + v**2"), field, space, np.random.default_rng(0))
    assert 5 < len(drafts) <= MOST_MADE
    assert space.allows_operator("tanh")


def test_noise_is_told_from_what_neighbours_share():
    field = field_of("t**2 + v", degrees=2.0, count=2000)
    left, _ = residuals(parse("t**2 + v"), field)
    right = split(left, field.points)
    left, _ = residuals(parse("t**2 + 1.2*v"), field)
    wrong = split(left, field.points)
    assert abs(right.z) < 3.5 < wrong.z
    assert right.systematic < 0.1 * right.total


def test_inputs_that_a_concept_needs():
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    field = cf.GradientField.from_arrays(points, points, names=NAMES)
    needs = leave_one_out(parse("t**2 + v**2"), field)
    assert [need.name for need in needs] == NAMES
    assert all(need.is_used and need.without > 0.1 for need in needs)
    unused = leave_one_out(parse("v**2"), field)[0]
    assert not unused.is_used
    assert unused.network_share > 0.1


def test_the_sentence_lists_three_and_counts_the_others():
    rivals = [
        SimpleNamespace(
            expression=parse(f"t + {n}*v"), degrees=40.0, degrees_on_data=n, where=(("t", 2.0),)
        )
        for n in (2, 3, 4, 5, 6)
    ]
    evidence: Any = SimpleNamespace(
        not_looked=None, outcome=SimpleNamespace(alternatives=rivals, is_complete=True)
    )
    told = OneOfAKind().measure(evidence)
    assert not told.passed
    assert "t + 2*v; t + 3*v; t + 4*v and 2 more." in told.text
    assert "up to 6 degrees; at t = 2, t + 2*v would differ by 40 degrees" in told.text


def test_errors_of_an_exact_fit_stay_as_they_are():
    exact = Misfit(total=0.0, systematic=0.0, z=0.0, kind="exact")
    assert with_bias((0.5,), exact) == (0.5,)
    biased = Misfit(total=1e-3, systematic=1e-3, z=9.0, kind="network")
    assert with_bias((0.5,), biased)[0] > 0.5


@pytest.mark.parametrize(("size", "is_rival"), [(0.003, False), (0.03, True)])
def test_what_bends_a_linear_network_must_earn_its_length(size: float, is_rival: bool) -> None:
    """The error of a network that is linear to 0.15 degrees has a formula, too."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-1.5, 1.5, (800, 2))
    gradients = parse(f"t + v + {size}*sin(2*t)").gradient(points)
    gradients += 0.4 * size * np.sin(2 * points[:, ::-1] + [0.3, 1.1])
    field = cf.GradientField.from_arrays(points, gradients, names=NAMES, tangent="none")
    outcome = compared("t + v", field, [f"t + v + {size}*sin(2*t)"], is_network=True, make=False)
    assert outcome.fit.kind == "network"
    assert bool(outcome.rivals) == is_rival
