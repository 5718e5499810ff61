import numpy as np
import pytest

from closedform.basics.progress import Silent
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.space import SearchSpace
from closedform.searching.terms.exact_sums import exact_sums
from closedform.searching.terms.families import FAMILIES, family_library
from closedform.searching.terms.moments import Moments
from closedform.searching.terms.term_engine import TermSearch

NAMES = ("x", "y", "p", "q")


def make_field(truths: list[str], *, noise: float = 0.0) -> GradientField:
    rng = np.random.default_rng(5)
    points = rng.uniform(-1, 1, (500, 4))
    gradients = np.stack([parse(text, NAMES).gradient(points) for text in truths], axis=2)
    spans = np.linalg.qr(gradients)[0]
    spans = spans + np.radians(noise) * rng.normal(size=spans.shape) / np.sqrt(2)
    jacobians = np.swapaxes(spans @ np.linalg.qr(rng.normal(size=(500, 2, 2)))[0], 1, 2)
    return GradientField.from_arrays(points, jacobians, names=NAMES, tangent="none")


@pytest.mark.parametrize("noise", [0.0, pytest.param(1.0, marks=pytest.mark.slow)])
def test_a_sum_of_six_terms_is_found_though_its_parts_fit_badly(noise: float) -> None:
    energy, other = "(p**2 + q**2 + x**2 + y**2)/2 + x**2*y + y**3/3", "p*q + x*y + x*y**2 + x**3/3"
    field = make_field([energy, other], noise=noise).modulo([parse(other, NAMES)])
    result = TermSearch(max_terms=2, stages=(20, 21)).search(
        field, SearchSpace(), Budget(evaluations=1500), np.random.default_rng(0), Silent()
    )
    short = [
        candidate.misalignment
        for candidate in result.front
        if candidate.complexity <= parse(energy, NAMES).complexity() + 12
    ]
    assert min(short) < (1e-11 if noise == 0 else 1e-3)


def test_empty_combinations_do_not_pass_as_functions() -> None:
    # The second and third term are the same function, so their difference is none.
    whole = np.array([[1.0, 0, 0], [0, 1, 1], [0, 1, 1]])
    moments = Moments(np.diag([0.5, 0.5, 0.5]) * whole, whole, np.ones(3))
    assert exact_sums(moments, np.ones(3, dtype=np.int64), 5, np.random.default_rng(0)) == []


def test_long_sums_are_left_out() -> None:
    lost = np.eye(6) - np.full((6, 6), 1 / 6)
    moments = Moments(lost, np.eye(6), np.ones(6))
    rng = np.random.default_rng(0)
    assert exact_sums(moments, np.ones(6, dtype=np.int64), 6, rng) == [(0, 1, 2, 3, 4, 5)]
    assert exact_sums(moments, np.ones(6, dtype=np.int64), 5, rng) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_families_hold_what_the_space_allows_and_is_defined(family: str) -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (50, 3)) + np.array([0.0, 3.0, 0.0])
    space = SearchSpace()
    terms = family_library(family, space, ("x", "y", "z"), points, np.ones(3))
    assert len({term.tree for term in terms}) == len(terms)
    for term in terms:
        expression = Expression(term.tree, ("x", "y", "z"))
        assert np.isfinite(expression.gradient(points)).all(), str(expression)
        assert space.allows(term.tree, ("x", "y", "z"))
    narrow = family_library(
        family, SearchSpace(operators=("add", "mul")), ("x", "y", "z"), points, np.ones(3)
    )
    assert all(
        set(t.tree.tokens) & {"sin", "cos", "exp", "log", "sqrt", "div"} == set() for t in narrow
    )
