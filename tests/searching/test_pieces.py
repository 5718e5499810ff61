"""Minima, maxima and absolute values: two formulas, each on its side."""

import numpy as np
import pytest

import closedform as cf
from closedform.searching.pieces import Pieces
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
        field_of(text), engine=Pieces(), budget=cf.Budget(evaluations=5000), rng=0, progress=False
    )
    assert len(found.front) == 0
