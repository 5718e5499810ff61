"""Products of powers through which two quantities enter."""

from fractions import Fraction

import numpy as np
import pytest

from closedform.basics.progress import Silent
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.merges import Pair
from closedform.searching.structure_search.quantities import Data, first_state
from closedform.searching.structure_search.similarity import similarity
from closedform.searching.structure_search.structure_engine import StructureSearch
from closedform.testing import KnownField


def exponent_of(truth, noise=0.0):
    field = KnownField(truth, ("x", "y"), 1.0, 2.5).field(np.random.default_rng(0), 800, noise)
    data = Data.of(field, 800, np.random.default_rng(0))
    return similarity(Pair(data, first_state(data), 0, 1))


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


@pytest.mark.parametrize("truth", ["x**2*y", "sin(2*x) + y**2", "x*y + sin(x) + y", "exp(x) + x*y"])
def test_there_is_no_exponent_where_nothing_is_similar(truth):
    assert exponent_of(truth) is None


@pytest.mark.parametrize(
    ("truth", "names"),
    [
        ("y**2*cos(sqrt(x)/y) - z**2/2", "xyz"),
        ("x**3*(1 - exp(-y**3/x))*z/sqrt(w)", "xyzw"),
        ("sqrt(w)*sin(3*z)*x**3*(1 - exp(-sqrt(y)/x))", "xyzw"),
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
