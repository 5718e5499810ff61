"""Minima, maxima and absolute values: two formulas, each on its side."""

import numpy as np
import pytest

import closedform as cf
from closedform.searching.pieces import Pieces, joined, plainest_between
from closedform.searching.space import SearchSpace

TEXTS = (
    "x*min(y*z, x**2)",
    "z + 0.5*abs(x*y - z)",
    "max(y - 0.5*x, y/2)",
    "max(x**2*y**2, 0.7*z) + 0.3*y**2",
    # The border is known within some thousandths, between which there are plainer numbers.
    "x + 0.3*abs(y - 1.5*x)",
    # A side of one input may be any function of it, but for the border.
    "min(x**2, 2*y) + 2*exp(-1.5*x)",
)


def field_of(text: str, seed: int = 0) -> cf.GradientField:
    """An exact field of three inputs."""
    points = np.random.default_rng(seed).uniform(0.5, 2, (700, 3))
    slopes = cf.parse(text, names=["x", "y", "z"]).gradient(points)
    return cf.GradientField.from_arrays(points, slopes, names=["x", "y", "z"])


@pytest.mark.parametrize("text", TEXTS)
def test_both_sides_are_read_and_joined(text: str) -> None:
    field = field_of(text)
    found = cf.search(
        field, engine=Pieces(), budget=cf.Budget(evaluations=20_000), rng=0, progress=False
    )
    best = found.front.best
    assert best is not None
    assert best.misalignment < 1e-12
    assert cf.same_concept(best.expression, text, field.names, points=field.points)


def test_the_usual_search_finds_them_and_the_choice_takes_them() -> None:
    # x3 alone is right at most points, and far shorter.
    answer = cf.interpret_field(
        field_of("max(x**2*y - 1.5*z, 3*z)"), budget=cf.Budget(evaluations=20_000), rng=0
    )
    assert answer.verdict.status == "verified"
    assert answer.same_as("max(x**2*y - 1.5*z, 3*z)")


def test_nothing_is_joined_in_a_space_without_minima() -> None:
    space = SearchSpace(operators=["add", "mul", "sub"])
    found = cf.search(
        field_of(TEXTS[2]), engine=Pieces(), space=space, budget=cf.Budget(evaluations=2000), rng=0
    )
    assert len(found.front) == 0


@pytest.mark.parametrize("text", ["x*y + z**2", "x + y*exp(-y*exp(-z))"])
def test_a_smooth_field_has_no_sides(text: str) -> None:
    found = cf.search(
        field_of(text), engine=Pieces(), budget=cf.Budget(evaluations=1500), rng=0, progress=False
    )
    assert len(found.front) == 0


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
