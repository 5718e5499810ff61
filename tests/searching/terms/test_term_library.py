import numpy as np
import pytest

import closedform as cf
from closedform.errors import ExpressionError
from closedform.expressions.printing import to_text
from closedform.searching.space import SearchSpace
from closedform.searching.terms.library import build_library

NAMES = ["x", "y"]
RNG = np.random.default_rng(0)
ANY = RNG.uniform(-2, 2, (100, 2))
POSITIVE = RNG.uniform(0.5, 2, (100, 2))


def texts(space=None, points=ANY, limit=3000, scale=(1.0, 1.0), importance=(1.0, 1.0), names=NAMES):
    library = build_library(
        space or SearchSpace(), names, points, np.array(scale), np.array(importance), limit
    )
    return [to_text(term.tree, names) for term in library]


def test_what_a_default_library_holds():
    found = texts()
    for text in (
        "x",
        "x*y",
        "x**3*y",
        "sin(x)",
        "cos(x*y)",
        "exp(x - y)",
        "y*sin(x)",
        "exp(-x**2)",
        "x/(1 + y**2)",
        "1/sqrt(x**2 + y**2)",
        "log(x**2 + y**2)",
        "sqrt(1 + x**2)",
        "sin(x)*cos(y)",
        "sin(2*x)",
    ):
        assert text in found
    assert len(set(found)) == len(found)


def test_no_poles_among_the_data():
    assert not {"1/x", "log(x)", "sqrt(x)", "y/x", "1/x**2"} & set(texts())
    assert {"1/x", "log(x)", "sqrt(x)", "y/x", "1/x**2", "1/(x + y)", "x*log(y)"} <= set(
        texts(points=POSITIVE)
    )


def test_only_allowed_operators():
    space = SearchSpace(operators=["add", "mul", "cos"], max_degree=3)
    found = texts(space)
    assert "cos(x + y)" in found
    assert not [text for text in found if "sin" in text or "exp" in text or "/" in text]
    assert "x**4" not in found


def test_the_spaces_limits_on_functions_hold():
    space = SearchSpace(inside={"sin": ["x"]}, max_power=2)
    found = texts(space)
    assert "sin(x)" in found
    assert not [text for text in found if "sin(y" in text or "sin(x + y" in text or "**3" in text]


def test_cheap_terms_come_first_and_the_limit_holds():
    space = SearchSpace()
    library = build_library(space, NAMES, ANY, np.ones(2), np.ones(2), 50)
    assert len(library) == 50
    assert to_text(library[0].tree, NAMES) == "x"
    assert library[-1].cost >= library[10].cost
    for term in library:
        assert term.cost == cf.parse(to_text(term.tree, NAMES), names=NAMES).complexity()


def test_functions_are_not_crowded_out_by_many_inputs():
    names = [f"x{i}" for i in range(32)]
    found = texts(
        points=RNG.normal(size=(50, 32)),
        scale=np.ones(32),
        importance=np.ones(32),
        names=names,
        limit=5000,
    )
    assert "sin(x31)" in found
    assert "x30*x31" in found
    assert "x0*x1*x2" in found


def test_important_inputs_first():
    names = ["a", "b", "c"]
    found = texts(
        points=RNG.normal(size=(50, 3)), scale=np.ones(3), importance=[0.0, 0.5, 1.0], names=names
    )
    assert found.index("c") < found.index("b") < found.index("a")
    assert "b*c" in found
    assert "c*b" not in found


def test_functions_take_inputs_in_fitting_units():
    found = texts(points=ANY * [1000, 0.001], scale=(1500.0, 0.0015))
    assert "sin(0.001*x)" in found
    assert "sin(1000*y)" in found
    assert "sin(x)" not in found
    assert "x**2" in found


def test_the_users_terms_and_parts_of_guesses():
    space = SearchSpace(
        operators=["add", "mul"], terms=["tanh(x)"], guesses=[cf.parse("exp(y) + x*y*3")]
    )
    library = build_library(space, NAMES, ANY, np.ones(2), np.ones(2), 4)
    found = {to_text(term.tree, NAMES): term for term in library}
    assert list(found)[:2] == ["tanh(x)", "exp(y) + x*y*3"]
    assert found["tanh(x)"].is_given
    assert "x*y*3" in found
    assert "exp(y)" not in found, "a part is taken only if the space allows it"


def test_a_term_of_unknown_inputs_is_an_error():
    with pytest.raises(ExpressionError, match="q"):
        texts(SearchSpace(terms=["sin(q)"]))
