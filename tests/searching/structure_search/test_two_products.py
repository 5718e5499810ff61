"""Sums of functions of two products that may share inputs."""

import numpy as np
import pytest

from closedform.basics.progress import Silent
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.products import collected_powers
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.quantities import Data, first_state
from closedform.searching.structure_search.structure_engine import StructureSearch
from closedform.searching.structure_search.two_products import two_products
from closedform.testing import KnownField


def found_in(truth, names, noise=0.0):
    field = KnownField(truth, tuple(names), 0.5, 2.0).field(np.random.default_rng(0), 800, noise)
    data = Data.of(field, 800, np.random.default_rng(0))
    looked: list[int] = []
    found = list(two_products(data, first_state(data), 0.0, looked.append))
    assert looked
    return found


@pytest.mark.parametrize(
    ("truth", "names", "products"),
    [
        ("x + 2/(0.7 + x*y)", "xy", [[1, 0], [1, 1]]),
        ("exp(-z**2) + 3*x*y*z*w**4", "xyzw", [[0, 0, 1, 0], [1, 1, 1, 4]]),
        ("1/(0.7 + x**2*y/z**2) - sin(x**2/w)", "xyzw", [[2, 1, -2, 0], [2, 0, 0, -1]]),
    ],
)
def test_the_slopes_tell_both_products(truth, names, products):
    powers = [
        [abs(collected_powers(product)[place]) for place in collected_powers(product)]
        for product in found_in(truth, names)[0].products
    ]
    expected = [sorted(abs(power) for power in each if power) for each in products]
    assert sorted(map(sorted, powers)) == sorted(expected)


def test_there_are_none_in_noise_or_in_three_terms():
    assert found_in("x + 2/(0.7 + x*y)", "xy", noise=np.deg2rad(3.0)) == []
    assert not any(len(one.places) == 3 for one in found_in("sqrt(x*y) + z**2/x + exp(y/z)", "xyz"))


@pytest.mark.parametrize(
    ("truth", "names"), [("x - 2*exp(-1.5*x*z/y)", "xyz"), ("sin(x) + 0.7*log(1.5 + x**2*y)", "xy")]
)
def test_formulas_whose_terms_share_inputs_are_read(truth, names):
    known = KnownField(truth, tuple(names), 0.5, 2.0)
    with processor_seconds():
        result = StructureSearch().search(
            known.field(np.random.default_rng(0), 600), SearchSpace(), Budget(seconds=20.0),
            np.random.default_rng(0), Silent(),
        )  # fmt: skip
    best = result.front.best
    assert best is not None
    assert field_misalignment(best.expression, known.field(np.random.default_rng(9))).mean() < 1e-12
