from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import closedform as cf
from closedform.basics.progress import Silent
from closedform.errors import SpaceError
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.engine import Engine
from closedform.searching.space import SearchSpace
from closedform.searching.terms.term_engine import TermSearch
from plain_misalignment import misalignment

BUDGET = Budget(evaluations=3000)


def names_of(n_inputs):
    return [f"x{i}" for i in range(n_inputs)]


def field_of(
    text, n_inputs=2, n_points=300, seed=0, low=-2.0, high=2.0, factor: Any = 1.0, **options
):
    points = np.random.default_rng(seed).uniform(low, high, (n_points, n_inputs))
    gradients = cf.parse(text, names=names_of(n_inputs)).gradient(points) / factor
    return GradientField.from_arrays(
        points * factor, gradients, names=names_of(n_inputs), **options
    )


def search(field, space=None, budget=BUDGET, seed=0, engine=None, progress=None):
    engine = engine or TermSearch(stages=(200,))
    return engine.search(
        field, space or SearchSpace(), budget, np.random.default_rng(seed), progress or Silent()
    )


def best_of(result):
    best = result.front.best
    assert best is not None
    return best


def lines(front):
    return [(str(c.expression), c.misalignment, c.complexity, c.engine) for c in front]


@pytest.mark.parametrize(
    ("text", "n_inputs"),
    [
        ("x0*x3 - x1*x2", 4),
        ("x0**2 - x1**2 - x2**2 - x3**2", 4),
        ("x0*x3 + x1*x4 + x2*x5", 6),
        ("sin(x0) + 0.5*x1**2", 2),
        ("0.3*x0**2 + exp(x0) + 0.7*x1**2", 2),
        ("log(x0**2 + x1**2 + x2**2)", 3),
    ],
)
def test_the_truth_is_found_exactly(text, n_inputs):
    result = search(field_of(text, n_inputs))
    best = best_of(result)
    assert best.misalignment < 1e-12
    assert result.status == "finished"
    assert cf.same_concept(best.expression, cf.parse(text, names=names_of(n_inputs))).status in (
        "proved",
        "numerical",
    )


def test_a_perfect_function_gives_way_to_a_simpler_sum():
    best = best_of(search(field_of("1/(x0**2 + x1**2 + x2**2)", 3)))
    assert str(best.expression) == "x0**2 + x1**2 + x2**2"


def test_the_front_is_one_and_is_judged_by_the_definition_on_all_points():
    rng = np.random.default_rng(3)
    points = rng.uniform(-2, 2, (1500, 2))
    gradients = cf.parse("sin(x0) + 0.5*x1**2", names=names_of(2)).gradient(
        points
    ) + 0.05 * rng.normal(size=(1500, 2))
    weights = rng.uniform(0, 2, 1500)
    field = GradientField.from_arrays(points, gradients, names=names_of(2), weights=weights)
    result = search(field, engine=TermSearch(stages=(100,), n_points=200, max_terms=4))
    assert len(result.front) > 3
    sizes = [c.complexity for c in result.front]
    values = [c.misalignment for c in result.front]
    assert sizes == sorted(set(sizes))
    assert values == sorted(values, reverse=True)
    for candidate in result.front:
        projected = field.project(candidate.expression.gradient(field.points))
        assert candidate.misalignment == pytest.approx(
            misalignment(projected, field.frames, weights=field.weights), rel=1e-8
        )
        assert candidate.complexity == candidate.expression.complexity()
    right = [str(c.expression) for c in result.front if c.misalignment < 1e-2]
    assert any(text.startswith("sin(x0) + 0.") and text.endswith("*x1**2") for text in right)


@pytest.mark.parametrize("first", [1000.0, 0.001])
def test_units_do_not_matter(first):
    factor = np.array([first, 1.0])
    best = best_of(search(field_of("sin(x0) + 0.5*x1**2", factor=factor)))
    assert best.misalignment < 1e-12
    assert str(best.expression) == f"sin({1 / first:g}*x0) + 0.5*x1**2"
    polynomial = best_of(search(field_of("x0**2 + 0.5*x1**2", factor=factor)))
    assert polynomial.misalignment < 1e-12


def test_antisymmetric_data():
    rng = np.random.default_rng(1)
    names = ["A11", "A12", "A21", "A22"]
    points = rng.normal(size=(300, 4))
    points[:, 2] = -points[:, 1]
    truth = cf.parse("A11*A22 - A12*A21", names=names)
    field = GradientField.from_arrays(points, truth.gradient(points), names=names)
    assert field.tangent.rank == 3
    best = best_of(search(field))
    assert best.misalignment < 1e-12
    assert str(best.expression) in (
        "A11*A22 + A12**2",
        "A12**2 + A11*A22",
        "A11*A22 - A12*A21",
        "A12*A21 - A11*A22",
    )


def test_a_stated_constraint():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    truth = cf.parse("x0*x1 + 0.5*x2", names=names_of(3))
    gradients = truth.gradient(points) + rng.normal(size=(300, 1)) * points
    field = GradientField.from_arrays(
        points, gradients, names=names_of(3), constraints=["x0**2 + x1**2 + x2**2"]
    )
    best = best_of(search(field))
    assert best.misalignment < 1e-12
    assert str(best.expression) in ("x0*x1 + 0.5*x2", "0.5*x2 + x0*x1")


def test_two_latents_give_two_concepts_each_modulo_the_other():
    names = names_of(4)
    points = np.random.default_rng(3).normal(size=(300, 4))
    first, second = cf.parse("x0*x1 + x2*x3", names=names), cf.parse("x0**2 - x3**2", names=names)
    one, two = first.gradient(points), second.gradient(points)
    field = GradientField.from_arrays(
        points, np.stack([one + 0.3 * two, two - one], axis=1), names=names
    )
    for known, other in ((first, second), (second, first)):
        best = best_of(search(field.modulo([known])))
        assert best.misalignment < 1e-12
        assert cf.same_concept(other, best.expression, constraints=[str(known)]).status in (
            "proved",
            "numerical",
        )


@pytest.mark.parametrize("evaluations", [1, 7, 60])
def test_the_evaluation_budget_is_kept(evaluations):
    result = search(
        field_of("tanh(x0*x1) + sin(3*x0) + x1**3"), budget=Budget(evaluations=evaluations)
    )
    assert result.status == "evaluations"
    assert result.statistics["evaluations"] == evaluations
    assert len(result.front) >= 1


def test_a_target_ends_the_search():
    result = search(field_of("sin(x0) + 0.5*x1**2"), budget=Budget(seconds=30, target=0.5))
    assert result.status == "target"


def test_limits_of_the_space():
    field = field_of("sin(x0) + 0.5*x1**2")
    space = SearchSpace(operators=["add", "mul", "cos"], max_complexity=12)
    for candidate in search(field, space).front:
        assert candidate.complexity <= 12
        assert "sin" not in str(candidate.expression)
    alone = search(field, SearchSpace(operators=["mul", "sin"]))
    assert alone.front.best is not None
    assert not [c for c in alone.front if "+" in str(c.expression) or "-" in str(c.expression)]


def test_the_users_term_is_used():
    field = field_of("tanh(x0 + 2*x1) + 0.3*x1**2")
    few = Budget(evaluations=1000)
    assert best_of(search(field, budget=few)).misalignment > 1e-6
    best = best_of(search(field, SearchSpace(terms=["tanh(x0 + 2*x1)"]), budget=few))
    assert str(best.expression) in ("tanh(x0 + 2*x1) + 0.3*x1**2", "0.3*x1**2 + tanh(x0 + 2*x1)")


def test_bad_fields_give_a_result():
    field = field_of("x0*x1", n_points=60)
    nothing = replace(field, weights=np.zeros(60))
    assert len(search(nothing).front) == 0
    rng = np.random.default_rng(0)
    noise = GradientField.from_arrays(
        rng.normal(size=(60, 3)), rng.normal(size=(60, 3)), names=names_of(3)
    )
    assert search(noise, engine=TermSearch(stages=(50,), max_terms=3)).status == "finished"
    one = GradientField.from_arrays(rng.normal(size=(60, 1)), rng.normal(size=(60, 1)), names=["x"])
    assert str(best_of(search(one)).expression) == "x"


def test_it_is_an_engine_and_checks_its_options():
    assert isinstance(TermSearch(), Engine)
    assert TermSearch().name == "terms"
    with pytest.raises(SpaceError, match="width"):
        TermSearch(width=0)
    with pytest.raises(SpaceError, match="stages"):
        TermSearch(stages=(0,))
