"""Products of powers through which two quantities enter."""

from fractions import Fraction

import numpy as np
import pytest

import closedform as cf
from closedform.basics.progress import Silent
from closedform.expressions.parse import parse
from closedform.expressions.tree import variable
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.products import collected_powers
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.quantities import Data, first_state
from closedform.searching.structure_search.similarity import similarities, similarity, two_products
from closedform.searching.structure_search.structure_engine import StructureSearch
from closedform.testing import KnownField


def exponent_of(truth, noise=0.0):
    field = KnownField(truth, ("x", "y"), 1.0, 2.5).field(np.random.default_rng(0), 800, noise)
    data = Data.of(field, 800, np.random.default_rng(0))
    found = list(similarity(data, first_state(data), (0, 1)))
    if not found:
        return None
    powers = collected_powers(found[0].products[1])
    return powers[variable(1)] / powers[variable(0)]


@pytest.mark.parametrize(
    ("truth", "exponent"),
    [
        ("y**2*cos(sqrt(x)/y)", Fraction(-2)),
        ("x**3*(1 - exp(-y**3/x))", Fraction(-3)),
        ("x*y/(x + y)", Fraction(-1)),
        ("y*tanh(x*y**2)", Fraction(2)),
        ("x**3*(1 - exp(-sqrt(y)/x))", Fraction(-1, 2)),
    ],
)
def test_the_slopes_tell_the_exponent(truth, exponent):
    assert exponent_of(truth) == exponent
    assert exponent_of(truth, noise=np.deg2rad(0.3)) == exponent


@pytest.mark.parametrize("truth", ["x**2*y", "x**2*y + sin(6*x) + cos(7*y)"])
def test_there_is_no_exponent_where_nothing_is_similar(truth):
    assert exponent_of(truth) is None


@pytest.mark.parametrize("noise", [0.0, np.deg2rad(2.0)])
def test_many_inputs_are_read_at_once(noise):
    known = KnownField("a*b*tanh(b*c/(d*e))", tuple("abcde"), 1.0, 2.5)
    data = Data.of(known.field(np.random.default_rng(0), 800, noise), 800, np.random.default_rng(0))
    best, *_ = similarities(data, first_state(data))
    assert best.places == (0, 1, 2, 3, 4)
    inner, expected = collected_powers(best.products[1]), parse("b*c/(d*e)", list("abcde")).tree
    sign = inner[variable(1)]
    assert {base: power * sign for base, power in inner.items()} == collected_powers(expected)


@pytest.mark.parametrize(
    ("truth", "names"),
    [
        ("y**2*cos(sqrt(x)/y) - z**2/2", "xyz"),
        ("x**3*(1 - exp(-y**3/x))*z/sqrt(w)", "xyzw"),
        pytest.param("sqrt(w)*sin(3*z)*x**3*(1 - exp(-sqrt(y)/x))", "xyzw", marks=pytest.mark.slow),
        ("x + sqrt(x**2 + 3*y*z)", "xyz"),
        pytest.param("(sqrt(x**2 + 0.7*y**2) - x)/z", "xyz", marks=pytest.mark.slow),
    ],
)
def test_formulas_are_found_in_such_coordinates(truth, names):
    known = KnownField(truth, tuple(names), 1.0, 2.5)
    with processor_seconds():
        result = StructureSearch().search(
            known.field(np.random.default_rng(0), 300), SearchSpace(), Budget(seconds=20.0),
            np.random.default_rng(0), Silent(),
        )  # fmt: skip
    fresh = known.field(np.random.default_rng(9))
    assert result.front.best is not None
    assert field_misalignment(result.front.best.expression, fresh).mean() < 1e-9


def test_an_input_of_both_signs_may_enter():
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.uniform(-1.5, 1.5, 400), rng.uniform(1, 5, 400)])
    truth = cf.parse("x + sqrt(x**2 + 3*y)", names="xy")
    field = cf.GradientField.from_arrays(points, truth.gradient(points), names=["x", "y"])
    with processor_seconds():
        result = StructureSearch().search(field, SearchSpace(), Budget(seconds=20.0), rng, Silent())
    assert result.front.best is not None
    assert field_misalignment(result.front.best.expression, field).mean() < 1e-9


def products_in(truth, names, noise=0.0):
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
        for product in products_in(truth, names)[0].products
    ]
    expected = [sorted(abs(power) for power in each if power) for each in products]
    assert sorted(map(sorted, powers)) == sorted(expected)


def test_there_are_none_in_noise_or_in_three_terms():
    assert products_in("x + 2/(0.7 + x*y)", "xy", noise=np.deg2rad(3.0)) == []
    assert not any(
        len(one.places) == 3 for one in products_in("sqrt(x*y) + z**2/x + exp(y/z)", "xyz")
    )


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
