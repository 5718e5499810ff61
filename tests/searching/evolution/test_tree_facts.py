import numpy as np
import pytest

import closedform as cf
from closedform.expressions.complexity import Costs, complexity
from closedform.expressions.tape import compile_tapes
from closedform.searching.evolution.tree_facts import Rules, describe
from closedform.searching.space import SearchSpace
from closedform.testing import random_tree

NAMES = ["x", "y"]


def described(text, space=None):
    return describe(
        compile_tapes([cf.parse(text, names=NAMES).tree]), Rules.of(space or SearchSpace(), NAMES)
    )


def key(text):
    return int(described(text).keys[0])


def test_costs_are_those_of_the_space():
    """Never below the true complexity, and equal to it for most trees."""
    rng = np.random.default_rng(0)
    operators = ("add", "sub", "mul", "div", "square", "sqrt", "sin", "exp")
    for costs in (Costs(), Costs(constant=1, variable=2, operators={"sin": 2, "mul": 3})):
        trees = [random_tree(rng, int(rng.integers(1, 25)), 2, operators) for _ in range(500)]
        found = describe(compile_tapes(trees), Rules.of(SearchSpace(costs=costs), NAMES)).costs
        true = np.array([complexity(tree, costs) for tree in trees])
        assert (found >= true).all()
        assert (found == true).mean() > 0.9


def test_keys_ignore_constants_and_order():
    assert key("2*x + sin(y)") == key("sin(y) + x*7")
    assert key("x*x*2 + 3*4") == key("5 + x*x*9")
    texts = [
        "x",
        "y",
        "x + y",
        "x*y",
        "x - y",
        "y - x",
        "x/y",
        "y/x",
        "sin(x)",
        "cos(x)",
        "x + 1",
        "x*(x + y)",
        "x*x + y",
    ]
    assert len({key(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("text", "options", "allowed"),
    [
        ("sin(x + sin(y))", {}, False),
        ("sin(x) + sin(y)", {}, True),
        ("exp(x*sin(exp(y)))", {}, False),
        ("exp(x*y)", {"inside": {"exp": ["x"]}}, False),
        ("exp(x)*y", {"inside": {"exp": ["x"]}}, True),
        ("x**7.5 + y", {}, False),
        ("x**5.5 + y", {}, True),
        ("3", {}, False),
    ],
)
def test_limits(text, options, allowed):
    assert described(text, SearchSpace(**options)).allowed[0] == allowed
