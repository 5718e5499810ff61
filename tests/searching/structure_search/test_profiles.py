"""Functions of two quantities, first as splines, then as formulas with constants inside."""

import numpy as np
import pytest

import closedform as cf
from closedform.expressions.expression import Expression
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import tuned, wider_forms
from closedform.searching.structure_search.merges import Pair, find_any, find_beside
from closedform.searching.structure_search.profiles import left_by_splines, profile_beside, profiles
from closedform.searching.structure_search.quantities import Data, first_state

NAMES = ("x", "y")
SPACE = SearchSpace()


def any_forms(quantity):
    return wider_forms(quantity, SPACE, any_power=True)


def pair_of(truth, low=0.5):
    rng = np.random.default_rng(0)
    points = rng.uniform(low, 2.0, (1000, 2))
    field = cf.GradientField.from_arrays(
        points, cf.parse(truth, NAMES).gradient(points), names=NAMES
    )
    data = Data.of(field, 1000, rng)
    return Pair(data, first_state(data), 0, 1), field


def splines_of(pair, good=1e-5):
    return profiles(pair.data, pair.quantities, pair.slopes, good)


@pytest.mark.parametrize(
    ("truth", "low"),
    [("exp(x**2 + log(y))", 0.5), ("x*y", -1.0), ("tanh(x - 0.5*sqrt(y + 1))", -0.9)],
)
def test_splines_know_the_slopes_of_separable_concepts(truth, low):
    pair, _ = pair_of(truth, low)
    found = splines_of(pair)
    assert found is not None
    for profile, slopes in zip(found, pair.slopes, strict=True):
        assert profile.slopes.shape == profile.weights.shape == slopes.shape


@pytest.mark.parametrize("truth", ["x + y + x*y**2", "x*exp(x*y) + y"])
def test_no_splines_stand_for_what_is_not_separable(truth):
    assert splines_of(pair_of(truth)[0]) is None


def test_a_profile_beside_a_known_slope_is_a_function_of_its_quantity_alone():
    pair, _ = pair_of("x**3 + exp(y)")
    first, second = pair.quantities
    slope = np.exp(second.values) * second.lengths
    weights = pair.data.weights
    right = profile_beside(pair.slopes, slope, weights)
    wrong = profile_beside(pair.slopes, second.values * second.lengths, weights)
    assert right is not None
    assert wrong is not None
    assert left_by_splines(right, first.values, first.lengths) < 1e-9
    assert left_by_splines(wrong, first.values, first.lengths) > 1e-4


def test_constants_inside_are_tuned_to_a_profile():
    pair, _ = pair_of("log(1 + 0.37*x**1.3) + y")
    first, second = pair.quantities
    profile = profile_beside(pair.slopes, second.lengths, pair.data.weights)
    assert profile is not None
    profile = profile.at(pair.few)
    forms = tuned(any_forms(first), first, profile, pair.data.yardstick)
    assert len(forms.forms) > 5
    own, target = forms.slopes[0] * profile.weights, profile.slopes * profile.weights
    assert 1 - abs(own @ target) / np.linalg.norm(own) / np.linalg.norm(target) < 1e-9


@pytest.mark.parametrize(
    "truth", ["log(1 + 0.37*x**1.3) + 2*y", "x**2*log(1 + 1.7*y**0.6)", "atan(2*x)/x + y"]
)
def test_any_functions_of_two_quantities_are_merged(truth):
    pair, field = pair_of(truth)
    merges = find_any(pair, any_forms, 1e-12)
    assert merges
    best = Expression(merges[0].tree, field.names)
    assert float(field_misalignment(best, field).mean()) < 1e-12


def test_what_is_no_sum_beside_any_plain_function_is_not_merged():
    pair, _ = pair_of("x + y + x*y**2")
    first, second = pair.quantities
    plain = any_forms(second)
    assert find_beside(pair, any_forms, plain, 1e-12) == []
    assert find_any(pair, any_forms, 1e-12) == []
    assert first.tree != second.tree
