import numpy as np
import pytest

import closedform as cf
from closedform.field.gradient_field import GradientField
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.exchange import exchange_parts, parts


def exchanged(stand_in, truth, low=-1.5, high=1.5):
    points = np.random.default_rng(0).uniform(low, high, (800, 2))
    field = GradientField.from_arrays(
        points, cf.parse(truth, names=["x", "y"]).gradient(points), names=["x", "y"], tangent="none"
    )
    front = Front.of([Candidate(cf.parse(stand_in, names=["x", "y"]), 1e-4, 20, "terms")])
    return exchange_parts(front, field, SearchSpace(), np.random.default_rng(0))


@pytest.mark.parametrize("stand_in", ["y*(x - 0.15*x**3) + y**2", "y*x - 0.15*y*x**3 + y**2"])
def test_a_cubic_stand_in_becomes_a_sine(stand_in):
    best = exchanged(stand_in, "y*sin(x) + y**2").best
    assert best is not None
    assert best.misalignment < 1e-12
    assert "sin(x)" in str(best.expression)


def test_constants_inside_are_fitted():
    best = exchanged("y**2 + x + 0.7*x**2", "y**2 + exp(0.83*x)").best
    assert best is not None
    assert best.misalignment < 1e-10


def test_parts_are_grouped_by_their_cofactor():
    found = list(parts(cf.parse("y*x - 0.15*y*x**3 + y**2", names=["x", "y"]).tree))
    assert [part.column for part in found] == [0, 1, 1, 1]
    assert found[0].cofactor == cf.parse("y", names=["x", "y"]).tree


def test_a_straight_part_is_exchanged_too():
    """On a short range x/3 stands in for sqrt(x), and nothing said so."""
    points = np.random.default_rng(0).uniform(1, 4, (300, 2))
    truth = cf.parse("sqrt(x) + y**2", names=["x", "y"])
    field = GradientField.from_arrays(
        points, truth.gradient(points), names=["x", "y"], tangent="none"
    )
    front = Front.of([Candidate(cf.parse("x/3 + y**2", names=["x", "y"]), 1e-3, 9, "terms")])
    found = exchange_parts(front, field, SearchSpace(), np.random.default_rng(0))
    assert found.lowest < 1e-14


def test_the_space_is_kept():
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    field = GradientField.from_arrays(points, points, names=["x", "y"], tangent="none")
    front = Front.of([Candidate(cf.parse("x**2 + y**2", names=["x", "y"]), 1e-4, 20, "terms")])
    space = SearchSpace(operators=("add", "mul"))
    found = exchange_parts(front, field, space, np.random.default_rng(0))
    assert all(space.allows(candidate.expression.tree, ("x", "y")) for candidate in found)
