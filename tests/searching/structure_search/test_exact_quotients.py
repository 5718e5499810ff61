"""Quotients of polynomials, by null spaces."""

import numpy as np
import pytest

from closedform.expressions.expression import Expression
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.structure_search.exact_quotients import exact_quotients
from closedform.searching.structure_search.quantities import Data, first_state
from closedform.testing import KnownField


def found_in(truth, names, low=0.5, noise=0.0):
    """What is read of a field, and other points of it."""
    known = KnownField(truth, tuple(names), low, 2.0)
    field = known.field(np.random.default_rng(0), 1000, noise)
    data = Data.of(field, 1000, np.random.default_rng(0))
    trees = exact_quotients(data, first_state(data))
    return [Expression(tree, field.names) for tree in trees], known.field(np.random.default_rng(9))


@pytest.mark.parametrize(
    ("truth", "names", "low"),
    [
        ("(x + 2*y*z)/(1 + x*z)", "xyz", 0.5),
        ("(2*y**2 + 3*x*y)/(0.7 + 3*x + 3*x*y**2)", "xy", -2.0),
        ("(2*x*y + 1.5*z*w**2)/(3 + 3*x*w + 0.7*z*y)", "xyzw", 0.5),
        ("(0.5*x**2*y + 3*z**2)/(0.7 + 0.3*x*y**2 + 0.3*z)", "xyz", 0.5),
        ("(2*x*y**2 + 0.7*y**2*z**2)/(0.5 + 0.5*y*x**2 + 2*z)", "xyz", 0.5),
    ],
)
def test_quotients_are_read_whatever_their_sides_share(truth, names, low):
    (found,), fresh = found_in(truth, names, low)
    assert float(field_misalignment(found, fresh).mean()) < 1e-12


def test_the_fewest_monomials_are_told():
    (found,), _ = found_in("(x + 2*y*z)/(1 + x*z)", "xyz")
    assert sum(token in ("add", "sub") for token in found.tree.tokens) == 2


@pytest.mark.parametrize(
    ("truth", "noise"), [("x*exp(y*z)/(1 + log(x*z + 1))", 0.0), ("(x + 2*y*z)/(1 + x*z)", 1e-3)]
)
def test_nothing_is_read_where_no_quotient_is_exact(truth, noise):
    assert found_in(truth, "xyz", noise=noise)[0] == []
