import numpy as np
import pytest

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.structure_search.two_terms import make_library, two_terms


def field_of(text, names, low=0.5):
    points = np.random.default_rng(1).uniform(low, 3, (600, len(names)))
    slopes = cf.parse(text, names=names).gradient(points)
    return cf.GradientField.from_arrays(points, slopes, names=names, tangent="none")


@pytest.mark.parametrize(
    "text", ["1/(1.5 + x**2) + 0.7*x**2*y**2", "x*y + sqrt(x**2 + 2.5)", "exp(-0.3*x**2) + 2*x*y"]
)
def test_sums_whose_terms_share_an_input(text):
    field = field_of(text, ["x", "y"])
    found = two_terms(field, cf.SearchSpace())
    assert field_misalignment(found[0], field).mean() < 1e-12


def test_what_is_no_such_sum_is_not_fitted():
    field = field_of("sin(x*y)/(x + y**3) + exp(-x*y*tanh(y))", ["x", "y"])
    found = two_terms(field, cf.SearchSpace())
    assert field_misalignment(found[0], field).mean() > 1e-8


def test_terms_stay_within_the_space_and_the_domain():
    field = field_of("x*y", ["x", "y"], low=-3)
    space = cf.SearchSpace(operators=["add", "mul", "exp"])
    library = make_library(field, space)
    names = {
        token for term in library.terms for token in term.tree.tokens if isinstance(token, str)
    }
    assert "exp" in names
    assert not names & {"log", "sqrt", "tanh", "sin"}
    assert np.isfinite(library.across).all()
    # Over the points together every gradient has length 1.
    lengths = (library.across**2).sum(axis=(1, 2)) + (library.along**2).sum(axis=1)
    assert np.allclose(lengths, 1, atol=1e-3)


def test_many_inputs_are_left_alone():
    field = field_of("a*b + c*d + e", list("abcde"))
    assert two_terms(field, cf.SearchSpace()) == []
