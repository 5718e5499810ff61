from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import closedform as cf
from closedform.field.alignment.refit import refit
from closedform.judge.rules import Material
from closedform.searching.front import Candidate, Front

NAMES = ["x", "v"]


@cache
def field_of(text, noise=0.0, *, phi=None, low=-1.5, high=1.5, seed=0, n_points=500):
    rng = np.random.default_rng(seed)
    points = rng.uniform(low, high, (n_points, 2))
    truth = cf.parse(text, names=NAMES)
    gradients = truth.gradient(points)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    return cf.GradientField.from_arrays(
        points, gradients + noise * rng.normal(size=gradients.shape),
        latents=None if phi is None else phi(truth(points)), names=NAMES, tangent="none",
    )  # fmt: skip


# How a rule chooses does not depend on how many functions there are.
FEW = cf.SearchSpace(operators=["add", "sub", "mul", "sin"])


@cache
def searched(field, *, few=False):
    """Several tests choose from what was found in one field."""
    budget, space = cf.Budget(evaluations=200), FEW if few else None
    return cf.search(field, engine="terms", budget=budget, rng=1, space=space)


def chosen(field, *, few=False, **options):
    found = cf.select(searched(field, few=few), field, rng=2, space=FEW if few else None, **options)
    assert found.chosen is not None
    return found.chosen.expression, found


def test_values_decide_what_directions_leave_open():
    """At two degrees x**3/6 hardly shows; the latent's values know it."""
    field = field_of("v**2/2 + sin(x)", noise=0.04, phi=np.tanh, n_points=300)
    formula, found = chosen(field)
    assert cf.same_concept(formula, "v**2/2 + sin(x)", NAMES).status != "different"
    assert found.contenders[0].left is not None
    assert found.contenders[0].left < 1e-4


def test_plain_numbers_are_preferred_where_they_fit():
    formula, _ = chosen(field_of("x**2 + v**2 + x**4/2", noise=0.02))
    assert cf.same_concept(formula, "x**2 + v**2 + x**4/2", NAMES).status == "proved"


def test_numbers_that_the_data_refute_are_not():
    formula, _ = chosen(field_of("x**2 + 0.87*v**2", noise=0.005))
    from closedform.expressions.complexity import constant_values, fitted_positions

    values = constant_values(formula.tree, fitted_positions(formula.tree))
    assert min(abs(value - 0.87) for value in values) < 0.01 or min(
        abs(value - 1 / 0.87) for value in values
    ) < 0.01  # fmt: skip


def test_an_even_latent_is_read_as_a_square():
    """Directions without signs cannot tell x*v from its square."""
    field = field_of("(x*v)**2", phi=np.tanh)
    formula, _ = chosen(field)
    assert cf.same_concept(formula, "x**2*v**2", NAMES).status != "different"


def test_exact_numbers_are_written_as_what_they_are():
    formula, _ = chosen(field_of("x**2 + v**2/7"))
    assert cf.same_concept(formula, "x**2 + v**2/7", NAMES).status == "proved"


def test_a_floor_prefers_what_is_simpler():
    field = field_of("x*v + 0.002*x**2", noise=1e-4, n_points=300)
    plain, _ = chosen(field, few=True)
    rough, _ = chosen(field, few=True, rule=Material(degrees=2.0))
    assert rough.complexity() < plain.complexity()


@pytest.mark.parametrize("rule", ["accuracy", "steepest_drop", 12])
def test_other_rules_choose_from_the_same_pool(rule):
    field = field_of("v**2/2 + sin(x)", noise=0.02, n_points=200)
    _, found = chosen(field, few=True, rule=rule)
    assert found.choice is not None
    best = min(one.misalignment for one in found.contenders)
    if rule == "accuracy":
        assert found.chosen is not None
        assert found.chosen.misalignment == best
    if rule == 12:
        assert found.chosen is not None
        assert found.chosen.complexity <= 12


def test_the_same_seed_chooses_the_same():
    field = field_of("v**2/2 + sin(x)", noise=0.02, n_points=200)
    first, second = (chosen(field, few=True)[1].contenders for _ in range(2))
    assert len(first) > 10
    assert first == second


SHORT = ["x**2 + 0.48*x**4 + v**2"]
OVERFITTED = [
    "0.984*x**2 + 0.492*x**4 + v**2", "7.3*x**2 + v**2 + 12.7*cos(x)",
    "x**2 + 0.503*x**4 + v**2 + 0.0089*v**4", "x**2 + 0.512*x**4 + v**2 + 0.0074*exp(v**2)",
    "x**2 + 0.495*x**4 + v**2 - 0.033*x**4*sin(v**2)",
    "0.964*x**2 + 0.634*x**4 + 0.087*x**2*v**2 + v**2 + 0.024*exp(v**2)",
    "0.968*x**2 + 0.674*x**4 + v**2 + 0.03*exp(v**2) - 0.223*cos(x*v)",
    "0.94*x**2 + 0.553*x**4 + 0.016*x**2*exp(v**2) + v**2",
    "0.93*x**2 + 0.552*x**4 + 0.033*v**4*sin(x**2) + v**2 - 0.042*v**4*cos(v)",
]  # fmt: skip


def test_without_time_all_that_was_found_is_weighed():
    """Six that followed the error took all the places, and the short one had none."""
    field = field_of("x**2 + v**2 + x**4/2", noise=0.02, phi=np.tanh)
    result = searched(field)
    formulas, _ = refit([cf.parse(text, names=NAMES) for text in (*SHORT, *OVERFITTED)], field)
    # Each longer one is said to be nearer, so that none leaves the front.
    front = Front.of(
        Candidate(one, 1e-3 * 0.9**place, one.complexity(), "terms")
        for place, one in enumerate(sorted(formulas, key=lambda formula: formula.complexity()))
    )
    found = cf.select(replace(result, front=front), field, rng=2, budget=1e-6)
    weighed = {one.complexity for one in found.contenders}
    assert weighed >= {one.complexity() for one in formulas}
    assert found.chosen is not None
    assert found.chosen.expression.complexity() <= formulas[0].complexity()


def test_a_number_that_only_moves_a_border_stays_as_it_was_found():
    """No direction changes while 0.3 moves a little, and it was chosen as 0.2988."""
    low, high = [-1.5, 1, 1, -1.5, 0.5], [1.5, 2, 2, 1.5, 2]
    points = np.random.default_rng(0).uniform(low, high, (1000, 5))
    truth = cf.parse("min(0.3*(d + 5/exp(c)), a*b*e**2/c + 1.5/exp(c))", names=list("abcde"))
    slopes = truth.gradient(points)
    slopes /= np.linalg.norm(slopes, axis=1, keepdims=True)
    field = cf.GradientField.from_arrays(points, slopes, names=list("abcde"), tangent="none")
    result = cf.search(field, engine="terms", budget=cf.Budget(evaluations=20), rng=1)
    front = Front.of([*result.front, Candidate(truth, 0.0, truth.complexity(), "pieces")])
    chosen = cf.select(replace(result, front=front), field, rng=2).chosen
    assert chosen is not None
    assert str(chosen.expression) == "min(0.3*d + 1.5/exp(c), a*b*e**2/c + 1.5/exp(c))"
