"""The quick look at units, by computing in two systems of them, agrees with the full analysis."""

import numpy as np
import pytest

import closedform as cf
from closedform.expressions.tape import compile_tapes
from closedform.expressions.units.legality import Legality
from closedform.searching.evolution.tape_units import UnitRules, possible
from closedform.testing import random_tree

OPERATORS = (
    "add", "sub", "mul", "div", "square", "sqrt", "sin", "exp", "log", "abs", "neg", "atan2", "min",
    "pow",
)  # fmt: skip


@pytest.mark.parametrize(
    ("inputs", "constants", "most_left"),
    [
        pytest.param({"x": "m", "y": "m", "t": "s"}, {}, 0.02, marks=pytest.mark.slow),
        # t**y becomes a power of itself, which the analysis does not see.
        ({"x": "m", "y": "km", "t": "1"}, {}, 0.03),
        # x + c*t needs a number for c, and x + t has none: only the analysis sees that.
        ({"x": "m", "y": "m/s", "t": "s"}, {"c": "3 m/s"}, 0.3),
    ],
)
def test_random_trees_are_judged_as_by_the_analysis(inputs, constants, most_left) -> None:
    units = cf.Units(inputs, constants=constants, pure_numbers=True)
    names, strict = list(inputs), Legality(units, may_carry=False)
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, int(rng.integers(1, 9)), 3, OPERATORS) for _ in range(1000)]
    rules = UnitRules.of(strict, names)
    assert rules is not None
    found = possible(compile_tapes(trees), rules)
    asked = np.array([strict.allows(tree, names) for tree in trees])
    # What is possible is never lost, and little that is impossible is left for the full analysis.
    lost = [str(cf.Expression(trees[i], tuple(names))) for i in np.flatnonzero(asked & ~found)]
    assert not lost, lost[:5]
    # Of a formula that is undefined at positive inputs it knows nothing.
    points = rng.uniform(0.1, 2.0, (60, 3))
    defined = [
        np.isfinite(cf.Expression(tree, tuple(names))(points)).mean() > 0.6 for tree in trees
    ]
    assert (found & ~asked & np.array(defined)).sum() <= most_left * len(trees)
    assert 0.1 < found.mean() < 0.9


def test_what_has_no_stated_unit_rules_nothing_out() -> None:
    strict = Legality(cf.Units({"x": "m"}), may_carry=False)
    tapes = compile_tapes([cf.parse(text, ["x", "q"]).tree for text in ("x + q", "x*sin(x)")])
    rules = UnitRules.of(strict, ["x", "q"])
    assert rules is not None
    assert possible(tapes, rules).tolist() == [True, False]


def test_constants_that_carry_units_rule_nothing_out() -> None:
    assert UnitRules.of(Legality(cf.Units({"x": "m"}), may_carry=True), ["x"]) is None
    assert UnitRules.of(None, ["x"]) is None
