"""The later entries of the table in the rooms that read them, where a test by name would not tell
right from wrong.
"""

import numpy as np
import pytest
import sympy

import closedform as cf
from closedform.canonical.form import canonical_form
from closedform.expressions.sympy_bridge import symbols, to_sympy
from closedform.report.mathml import mathml_terms
from closedform.searching.evolution.operon import is_available

POINTS = np.random.default_rng(0).uniform(-0.9, 0.9, (400, 2))


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("erf(x) + y", "-erf(-x) + y", "proved"),
        ("erf(x)", "x", "proved"),
        ("erf(x) + y", "tanh(x) + y", "different"),
        ("sinh(x) + y", "exp(x)/2 - exp(-x)/2 + y", "proved"),
        ("cosh(x)**2 + y", "sinh(x)**2 + y", "proved"),
        ("asin(x/3) + y", "y - acos(x/3)", "proved"),
        ("max(x, y)", "(x + y + abs(x - y))/2", "numerical"),
        ("max(x, y)", "min(x, y)", "different"),
        ("atan2(y, 3 + x)", "y/(3 + x)", "proved"),
    ],
)
def test_same_concept(first, second, status):
    assert cf.same_concept(first, second).status == status


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("erf(-x) + y", "y - erf(x)"),
        ("cosh(-x) + y", "y + cosh(x)"),
        ("2*sinh(3*x)", "x"),
        ("erf(x + y)", "x + y"),
        ("max(3*y, 3*x)", "max(x, y)"),
        ("atan2(2*y, 2*x)*2 + 1", "atan2(y, x)"),
        ("min(2, 3)*x + y*max(1, 0)", "2*x + y"),
    ],
)
def test_canonical_form(text, expected):
    found = canonical_form(cf.parse(text, ["x", "y"]), POINTS)
    assert str(getattr(found, "expression", found)) == expected


@pytest.mark.parametrize(
    "text",
    ["erf(x)", "atan2(y, x)", "max(x, y)", "min(x, y)*asin(x)", "sinh(x) + cosh(y)", "acos(x)"],
)
def test_sympy_has_the_same_values(text):
    e = cf.parse(text, ["x", "y"])
    function = sympy.lambdify(symbols(e.names), to_sympy(e), ["scipy", "numpy"])
    np.testing.assert_allclose(function(*POINTS.T), e(POINTS))


@pytest.mark.parametrize(
    ("text", "source", "mathml"),
    [
        ("erf(x)", r"\operatorname{erf}{\left(x \right)}", "<mi>erf</mi>"),
        ("max(x, y)", r"\max\left(x, y\right)", "<mi>max</mi>"),
        ("asin(x)", r"\operatorname{asin}{\left(x \right)}", "<mi>arcsin</mi>"),
    ],
)
def test_typesetting(text, source, mathml):
    e = cf.parse(text)
    assert e.latex() == source
    assert mathml in "".join(mathml_terms(e))


@pytest.mark.parametrize(
    "text",
    ["min(x", "min(x)", "min(x, y, z)", "sin(x, y)", "(x, y)", "x, y", "min(, x)", "min(x, )"],
)
def test_commas_and_missing_arguments_are_refused(text):
    with pytest.raises(cf.errors.ExpressionError):
        cf.parse(text)


def test_what_is_not_a_number_stays_visible_in_min_and_max():
    points = np.array([[np.nan, 1.0], [1.0, np.nan]])
    for name in ("min", "max"):
        assert np.isnan(cf.parse(f"{name}(x, y)").numpy()(*points.T)).all()


def search(text, operators, engine, **options):
    points = np.random.default_rng(3).uniform(0.2, 2, (400, 2))
    field = cf.GradientField.from_arrays(
        points, cf.parse(text, ["x", "y"]).gradient(points), names=["x", "y"]
    )
    space = cf.SearchSpace(operators=operators)
    result = cf.search(field, space=space, engine=engine, rng=0, progress=False, **options)
    return min(result.front, key=lambda candidate: candidate.misalignment)


@pytest.mark.parametrize("text", ["x**2 + erf(y)", "x + max(x, y)", "y**2 + atan2(x, y)"])
def test_the_term_search_finds_them(text):
    operators = ["add", "mul", "erf", "max", "atan2"]
    best = search(text, operators, "terms", budget=cf.Budget(seconds=20))
    assert best.misalignment < 1e-12
    assert cf.same_concept(best.expression, text, ["x", "y"], domain=(0.2, 2)).status != "different"


@pytest.mark.skipif(not is_available(), reason="needs pyoperon")
@pytest.mark.parametrize(("text", "name"), [("x*x + sinh(y)", "sinh"), ("x + max(x*x, y)", "max")])
def test_evolution_breeds_those_that_pyoperon_has(text, name):
    best = search(
        text, ["add", "mul", name], "evolution", budget=cf.Budget(evaluations=20_000, target=1e-12)
    )
    assert best.misalignment < 1e-12
    assert name in str(best.expression)
