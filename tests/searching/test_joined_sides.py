"""Two formulas that agree on a border."""

import numpy as np
import pytest

import closedform as cf
from closedform.searching.joined_sides import joined, plainest_between

NAMES = ["x", "y"]


@pytest.mark.parametrize(
    ("one", "other", "truth"),
    [
        ("x", "y", "max(x, 0.7*y)"),
        ("x", "y", "min(x**2, 3*y)"),
        ("x", "y", "min(2/x, y)"),
        ("x", "x*y", "max(3*x, x*y + 0.5)"),
        ("x*y", "x + y", "min(x*y, x + y - 1)"),
    ],
)
def test_sides_that_are_known_up_to_a_function_are_joined(one: str, other: str, truth: str) -> None:
    points = np.random.default_rng(0).uniform(0.5, 3, (2000, 2))
    whole = cf.parse(truth, NAMES)
    sides = cf.parse(one, NAMES), cf.parse(other, NAMES)
    slopes, own = whole.gradient(points), sides[0].gradient(points)
    is_first = np.abs(slopes[:, 0] * own[:, 1] - slopes[:, 1] * own[:, 0]) < 1e-9
    assert 0.1 < is_first.mean() < 0.9
    found = [cf.Expression(tree, tuple(NAMES)) for tree in joined(*sides, points, is_first)]
    assert any(cf.same_concept(form, truth, NAMES, points=points) for form in found)


@pytest.mark.parametrize(
    ("one", "other", "truth"),
    [("x*y", "x**2", "x*min(y, 0.7*x)"), ("x + 3*y**2.5", "y", "min(x, 2*y) + 3*y**2.5")],
)
def test_what_both_sides_share_may_stand_outside(one: str, other: str, truth: str) -> None:
    points = np.random.default_rng(0).uniform([-2.0, 0.1], [3.0, 2.0], (2000, 2))
    whole = cf.parse(truth, NAMES)
    sides = cf.parse(one, NAMES), cf.parse(other, NAMES)
    slopes, own = whole.gradient(points), sides[0].gradient(points)
    is_first = np.abs(slopes[:, 0] * own[:, 1] - slopes[:, 1] * own[:, 0]) < 1e-9
    assert 0.1 < is_first.mean() < 0.9
    found = [cf.Expression(tree, tuple(NAMES)) for tree in joined(*sides, points, is_first)]
    assert any(cf.same_concept(form, truth, NAMES, points=points) for form in found)


def test_what_lies_on_no_two_sides_is_not_joined() -> None:
    points = np.random.default_rng(0).uniform(0.5, 3, (300, 2))
    is_first = np.random.default_rng(1).random(300) < 0.5
    sides = cf.parse("x", NAMES), cf.parse("y", NAMES)
    assert joined(*sides, points, is_first) == []


@pytest.mark.parametrize(
    ("low", "high", "number"),
    [(0.69, 0.72, "7/10"), (-0.36, -0.345, "-7/20"), (0.99, 1.2, "1"), (2.9, np.inf, "500001")],
)
def test_numbers_are_those_that_people_write(low: float, high: float, number: str) -> None:
    assert low < plainest_between(low, high) < high
    if high < 10:
        assert str(plainest_between(low, high)) == number
