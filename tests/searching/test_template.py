import numpy as np
import pytest

import closedform as cf
from closedform.basics.progress import Silent
from closedform.errors import SpaceError
from closedform.searching.budget import Budget
from closedform.searching.engine import get_engine
from closedform.searching.space import SearchSpace
from closedform.searching.template import read_template
from closedform.testing import KnownField

NAMES = ("x", "y", "z")


@pytest.mark.parametrize(
    ("template", "text", "fits"),
    [
        ("f(x) + g(y)", "sin(2*x)/x - 3*y**2 + 1", True),
        ("f(x) + g(y)", "2*(x**2 - y)", True),
        ("f(x) + g(y)", "x**2", True),
        ("f(x) + g(y)", "x*y", False),
        ("f(x) + g(y)", "sin(x + y)", False),
        ("f(x) + g(y)", "x + z", False),
        ("f(x, y) + g(z)", "x*y - exp(z)", True),
        ("f(x, y) + g(z)", "1/(x + z)", False),
        ("f(x)*g(y)", "-3*x**2*sin(y)/x", True),
        ("f(x)*g(y)", "(x/y)**3", True),
        ("f(x)*g(y)", "x*y + x", False),
        ("f(x)*g(y) + h(z)", "x**2*exp(y) + z - z**2", True),
        ("f(x)*g(y) + h(z)", "x*y + x**2*y**2", False),
        ("(f(x) + g(y))*h(z)", "(x - sin(y))/z", True),
        ("(f(x) + g(y))*h(z)", "x - sin(y)*z", False),
        ("x*f(y)", "x*sin(y)", True),
        ("x*f(y)", "x**2 + y", False),
        ("log(f(x, y)) - g(z)", "log(x*y) + z**2", True),
        ("log(f(x, y)) - g(z)", "x*y + z**2", False),
        ("f(x)**2 + g(y)", "square(sin(x)) + y", True),
        ("f(x)**2 + g(y)", "sin(x) + y", False),
        ("2*f(x) - g(y)/3", "y - x", True),
    ],
)
def test_forms(template, text, fits):
    assert read_template(template).fits(cf.parse(text, NAMES).tree, NAMES) is fits
    assert SearchSpace(templates=[template]).allows(cf.parse(text, NAMES).tree, NAMES) is fits


def test_one_of_several_templates_is_enough():
    space = SearchSpace(templates=["f(x) + g(y)", "f(x)*g(y)"])
    assert space.allows(cf.parse("x*y", NAMES).tree, NAMES)
    assert not space.allows(cf.parse("x*y + x", NAMES).tree, NAMES)


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        (["f(x) + sin(y)*"], "cannot be read"),
        (["sin(x) + y"], "sin is a known function"),
        (["f(2*x) + g(y)"], "takes names of inputs"),
        (["f() + g(y)"], "takes names of inputs"),
        ("f(x) + g(y)", "list of texts"),
        ([3], "A template is text"),
    ],
)
def test_wrong_templates_are_told_apart(templates, message):
    with pytest.raises(SpaceError, match=message):
        SearchSpace(templates=templates)


@pytest.mark.parametrize("engine", ["auto", "terms", "evolution"])
def test_unknown_inputs_get_a_suggestion(engine):
    if engine == "evolution":
        pytest.importorskip("pyoperon")
    field = KnownField("position + speed**2", ("position", "speed")).field(
        np.random.default_rng(0), n_points=60
    )
    for space in (
        SearchSpace(templates=["f(positon) + g(speed)"]),
        SearchSpace(inside={"sin": ["positon"]}),
    ):
        with pytest.raises(SpaceError, match="did you mean 'position'"):
            get_engine(engine).search(
                field, space, Budget(evaluations=10), np.random.default_rng(0), Silent()
            )


@pytest.mark.parametrize("engine", ["auto", "terms", "evolution"])
def test_engines_keep_to_a_template(engine):
    if engine == "evolution":
        pytest.importorskip("pyoperon")
    space = SearchSpace(templates=["f(x) + g(y)"])
    field = KnownField("x*y + x**2 + sin(y)", ("x", "y")).field(
        np.random.default_rng(0), n_points=200
    )
    result = get_engine(engine).search(
        field, space, Budget(evaluations=1200), np.random.default_rng(0), Silent()
    )
    assert len(result.front) > 2
    assert all(
        space.allows(candidate.expression.tree, candidate.expression.names)
        for candidate in result.front
    )


def test_a_template_leads_to_the_answer():
    field = KnownField("x**2 + sin(y)", ("x", "y")).field(np.random.default_rng(0))
    space = SearchSpace(templates=["f(x) + g(y)"])
    result = get_engine("terms").search(
        field, space, Budget(evaluations=2000), np.random.default_rng(0), Silent()
    )
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-12
