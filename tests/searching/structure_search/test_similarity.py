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
from closedform.searching.structure_search.similarity import similarities, similarity
from closedform.searching.structure_search.structure_engine import StructureSearch
from closedform.testing import KnownField


def exponent_of(truth, noise=0.0):
    field = KnownField(truth, ("x", "y"), 1.0, 2.5).field(np.random.default_rng(0), 800, noise)
    data = Data.of(field, 800, np.random.default_rng(0))
    found = list(similarity(data, first_state(data), (0, 1)))
    if not found:
        return None
    powers = collected_powers(found[0].inner)
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
    inner, expected = collected_powers(best.inner), parse("b*c/(d*e)", list("abcde")).tree
    sign = inner[variable(1)]
    assert {base: power * sign for base, power in inner.items()} == collected_powers(expected)


@pytest.mark.parametrize(
    ("truth", "names"),
    [
        ("y**2*cos(sqrt(x)/y) - z**2/2", "xyz"),
        ("x**3*(1 - exp(-y**3/x))*z/sqrt(w)", "xyzw"),
        ("sqrt(w)*sin(3*z)*x**3*(1 - exp(-sqrt(y)/x))", "xyzw"),
        ("x + sqrt(x**2 + 3*y*z)", "xyz"),
        ("(sqrt(x**2 + 0.7*y**2) - x)/z", "xyz"),
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
