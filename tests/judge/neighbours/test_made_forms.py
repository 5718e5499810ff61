"""Forms that are made of stand-ins: those that were missing when these were once verified."""

import numpy as np
import pytest

import closedform as cf
from closedform.judge.neighbours.made_forms import made_forms, stock_of, variants
from closedform.judge.neighbours.same_form import group_by_form
from closedform.searching.space import SearchSpace

NAMES = ["x", "y", "z", "w"]
POINTS = np.random.default_rng(0).uniform(0.5, 2.5, (800, 4))


def field_of(text):
    gradients = cf.parse(text, names=NAMES).gradient(POINTS)
    return cf.GradientField.from_arrays(POINTS, gradients, names=NAMES, tangent="none")


@pytest.mark.parametrize(
    ("truth", "stand_in", "part"),
    [
        ("(x*log(1 + y) + sqrt(w))/z", "(x*sqrt(y) + sqrt(w))/z", "log(y + 1)"),
        ("x*y**2*exp(-1/sqrt(z)) + w", "w + x*y**2/(1/z + 1)", "exp(-1/sqrt(z))"),
        ("x/sqrt(9 - y**2/z**2)*w", "x*(y**2/z**2 + 1.5)*w", ")**(-0."),
        ("x*(1 - exp(-sqrt(y)))", "x*y/(y + 1)", "x*(exp(-sqrt(y)) - 1)"),
        ("x**3*tanh(y/3)", "(1/y + 0.6)/x**2", "tanh("),
        ("z*log(x/y)", "z*(x/y - y/x)", "z*log(x/y)"),
        ("x/(exp(x/(3*y)) - 1)", "y - 0.15*x", "exp("),
        ("w + x**2 + x**4/2", "w + exp(0.7*x**2)", "x**2 + "),
    ],
)
def test_a_part_is_exchanged_wherever_it_stands(truth, stand_in, part):
    made = made_forms(
        cf.parse(stand_in, names=NAMES), field_of(truth),
        stock_of(field_of(truth), SearchSpace(), np.random.default_rng(0)),
    )  # fmt: skip
    assert any(part in str(cf.Expression(tree, tuple(NAMES))) for tree in made)


def test_few_are_made_when_time_is_over():
    field = field_of("x*y/z + w")
    some = made_forms(
        cf.parse("(x*sqrt(y) + sqrt(w))/z", names=NAMES), field,
        stock_of(field, SearchSpace(), np.random.default_rng(0)), may_go_on=lambda: False,
    )  # fmt: skip
    assert 0 < len(some) <= 100


def test_what_is_dropped_leaves_no_zeros():
    """A formula with 0*y in it was chosen where no time was left for its canonical form."""
    formula = cf.parse("x**2 + 1.3*y**2*(0.01*x**2 + 1.7)", names=["x", "y"])
    texts = [str(one) for one in variants(formula, [0.1, 0.01, 0.1], POINTS[:, :2])]
    assert not any("0*" in text.replace("10*", "") for text in texts)
    assert "x**2 + 1.3*y**2*1.7" in texts


def test_variants_are_plainer():
    formula = cf.parse("1.98*x**2 + 0.06*y + z", names=NAMES)
    texts = [str(one) for one in variants(formula, [0.05, 0.01], POINTS)]
    assert any("2*x**2" in text for text in texts)
    assert any("y" not in text for text in texts)
    assert all(not cf.parse(text, names=NAMES).tree.is_constant for text in texts)


def test_forms_that_differ_in_numbers_or_spelling_are_one():
    texts = ("x*y", "log(x) + log(y)", "x**2 + 2*y", "x**2 + 2.2*y", "x**2 + y**2", "x**2.05*y**2")
    formulas = [cf.parse(text, names=NAMES) for text in texts]
    groups = group_by_form(formulas, field_of("x*y + z + w"))
    assert groups[0] == groups[1]
    assert groups[2] == groups[3]
    assert len({groups[0], groups[2], groups[4], groups[5]}) >= 3


def test_parts_are_exchanged_on_a_curved_surface_too():
    angles = np.random.default_rng(0).uniform(0.2, 1.2, (400, 2))
    points = np.column_stack([np.cos(angles[:, 0]), np.sin(angles[:, 0]), angles[:, 1]])
    truth = cf.parse("sin(z) + x*y", names=["x", "y", "z"])
    field = cf.GradientField.from_arrays(
        points, truth.gradient(points), names=["x", "y", "z"], constraints=["x**2 + y**2"]
    )
    assert field.tangent.basis is not None
    stock = stock_of(field, SearchSpace(), np.random.default_rng(0))
    made = made_forms(cf.parse("z - 0.15*z**3 + x*y", names=["x", "y", "z"]), field, stock)
    assert any("sin(z)" in str(cf.Expression(tree, field.names)) for tree in made)
