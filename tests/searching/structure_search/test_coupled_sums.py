"""Sums whose terms depend on a second quantity in different ways."""

import numpy as np
import pytest

from closedform.expressions.expression import Expression
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.coupled_sums import find_varying
from closedform.searching.structure_search.forms import wider_forms
from closedform.searching.structure_search.merges import Pair
from closedform.searching.structure_search.quantities import Data, first_state
from closedform.testing import KnownField


def varying(truth, low, high, level=1e-10):
    field = KnownField(truth, ("x", "y"), low, high).field(np.random.default_rng(0), 600)
    data = Data.of(field, 600, np.random.default_rng(0))
    state, space = first_state(data), SearchSpace()
    forms = wider_forms(state.quantities[1], space)
    return field, find_varying(Pair(data, state, 1, 0), forms, space, level)


@pytest.mark.parametrize(
    ("truth", "low", "high"),
    [
        ("(x + 0.5/y**2)*(y - 0.3)", 0.8, 3.0),
        ("y**4*(y**2 + x**4)", 0.5, 2.0),
        ("x*y + sin(y)", 0.5, 2.5),
        ("exp(x)*(1 + y**2) + y", -1.0, 1.0),
        ("x*exp(-y) + y**2", 0.5, 2.0),
        ("log(x)*y + 1/y", 0.5, 2.0),
        ("x**2*(1 + y) + cos(y)", 0.5, 2.0),
    ],
)
def test_both_functions_of_the_second_quantity_are_found(truth, low, high):
    field, merges = varying(truth, low, high)
    best = min(merges, key=lambda merge: merge.loss)
    assert field_misalignment(Expression(best.tree, field.names), field).mean() < 1e-12


def test_what_is_no_straight_line_gives_nothing():
    _, merges = varying("sin(3*x*y) + x*y**2", 0.5, 2.5)
    assert merges == []


def test_a_merge_says_which_quantities_it_takes():
    _, merges = varying("x*y + sin(y)", 0.5, 2.5)
    assert {merge.places for merge in merges} == {(1, 0)}
