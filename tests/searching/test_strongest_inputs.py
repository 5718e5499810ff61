import numpy as np
import pytest

import closedform as cf
from closedform.expressions.complexity import Costs
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.searching.front import Candidate
from closedform.searching.search_stage import field_over, rescored, space_over, strongest_inputs
from closedform.searching.space import SearchSpace
from closedform.testing import KnownField

NAMES = ("x", "y", "z", "w")


def field_of(truth):
    return KnownField(truth, NAMES).field(np.random.default_rng(0), n_points=800)


def test_formulas_of_the_strongest_inputs_are_judged_on_all():
    field = field_of("x**2 + 0.01*y + z*w")
    few = strongest_inputs(field, 3)
    reduced = field_over(field, few)
    assert reduced.names == ("x", "z", "w")
    answer = cf.parse("x**2 + z*w", names=reduced.names)
    assert field_misalignment(answer, reduced).max() < 1e-9
    front = rescored([Candidate(answer, 0.0, 9, "terms")], field, Costs())
    assert front.best is not None
    assert front.best.expression.names == NAMES
    assert front.best.engine == "terms"
    assert front.best.misalignment == pytest.approx(
        field_misalignment(front.best.expression, field).mean(), abs=1e-12
    )
    assert front.best.misalignment > 0


def test_terms_and_guesses_in_other_inputs_are_left_out():
    few = strongest_inputs(field_of("x**2 + 0.01*y + z*w"), 3)
    space = space_over(SearchSpace(terms=["x*z", "x*y"], guesses=["w + y", "w"]), NAMES, few)
    assert [str(term) for term in space.terms] == ["x*z"]
    assert [str(guess) for guess in space.guesses] == ["w"]


def test_tangent_spaces_are_left_alone():
    points = np.random.default_rng(0).normal(size=(300, 3))
    points[:, 2] = 1 - points[:, 0]
    field = GradientField.from_arrays(points, np.tile([1.0, 2.0, 0.0], (300, 1)), tangent="linear")
    assert strongest_inputs(field, 2) == [0, 1, 2]
