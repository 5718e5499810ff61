"""Rewriting to sums of products."""

import numpy as np
import pytest

from closedform import Expression, parse
from closedform.canonical.algebra import Algebra
from closedform.canonical.peel import Sample
from closedform.canonical.sum_spelling import spell
from closedform.expressions.printing import to_text

NAMES = ("x", "y", "z")


def algebra(low: float = -1.0) -> Algebra:
    points = np.random.default_rng(0).uniform(low, 1, (50, 3))
    return Algebra(Sample(parse("x + y + z").tree, points).sign_of)


def rewritten(text: str, low: float = -1.0, *, expanded: bool = False) -> str:
    rules = algebra(low)
    total = rules.normal(parse(text, NAMES).tree)
    return to_text(spell(rules.expanded(total) if expanded else total), NAMES)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("x + y - x", "y"),
        ("2*x*3*y", "6*x*y"),
        ("x*y*x/y", "x**2"),
        ("(x + y)*(x + y)", "(x + y)**2"),
        ("(2*x + 2*y)/(x + y)", "2"),
        ("exp(x)*exp(y)*exp(-x)", "exp(y)"),
        ("exp(x + 1)", "exp(x + 1)"),
        ("exp(2*log(x))", "x**2"),
        ("log(exp(x))", "x"),
        ("sqrt(x**2)", "abs(x)"),
        ("abs(x)**2", "x**2"),
        ("abs(-2*x)", "2*abs(x)"),
        ("abs(x + y)**2/(x + y)", "x + y"),
        ("sqrt(4*x)", "2*sqrt(x)"),
        ("sqrt(2)*sqrt(2)*x", "2*x"),
        ("sin(-x)", "-sin(x)"),
        ("cos(-x)", "cos(x)"),
        ("cos(x - pi)", "-cos(x)"),
        ("sin(x - pi/2)", "-cos(x)"),
        ("tan(x + pi)", "tan(x)"),
        ("exp(x)**y", "exp(x*y)"),
        ("x**(1 + 1)", "x**2"),
        ("x**pi", "x**pi"),
        ("sin(0)*x + cos(0)*y", "y"),
        ("log(1) + x", "x"),
        ("x*sin(0.3)", "sin(0.3)*x"),
        ("sqrt(x*y)", "sqrt(x*y)"),
        ("log(x*y)", "log(x*y)"),
    ],
)
def test_rules(text: str, form: str) -> None:
    assert rewritten(text) == form


@pytest.mark.parametrize(
    ("text", "form"),
    [("sqrt(x**2)", "x"), ("sqrt(x*y)", "sqrt(x)*sqrt(y)"), ("abs(x) + y", "x + y")],
)
def test_rules_for_positive_inputs(text: str, form: str) -> None:
    assert rewritten(text, low=0.1) == form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("(x + y)*(x - y)", "x**2 - y**2"),
        ("(x + 1)**2", "x**2 + 2*x + 1"),
        ("x*(y + z) - x*z", "x*y"),
    ],
)
def test_expansion(text: str, form: str) -> None:
    rules = algebra()
    total = rules.expanded(rules.normal(parse(text, NAMES).tree))
    assert total == rules.normal(parse(form, NAMES).tree)


@pytest.mark.parametrize(
    "text", ["1/0 + x", "sqrt(-2)*x", "log(-3)*x", "log(0*x)", "(x - x)**(-1)", "0**(-0.5)*x"]
)
def test_no_real_number(text: str) -> None:
    with pytest.raises(ArithmeticError):
        algebra().normal(parse(text, NAMES).tree)


@pytest.mark.parametrize(
    "text", ["x*(y + z)/y", "exp(x)/y**2 + 3", "sqrt(x**2 + y) - x/3", "log(x + y)*tanh(z - 1)/pi"]
)
def test_values_are_kept(text: str) -> None:
    points = np.random.default_rng(3).uniform(0.5, 2, (40, 3))
    expression = parse(text, NAMES)
    form = Expression(spell(algebra().normal(expression.tree)), NAMES)
    np.testing.assert_allclose(form(points), expression(points), rtol=1e-12)
