import numpy as np
import pytest

import closedform as cf
from closedform.errors import ChoiceError
from closedform.judge.rules import Contender, Material, as_rule, choose, steepest_drop


def contender(text, complexity, score, misalignment):
    return Contender(cf.parse(text, names=["x", "v"]), complexity, score, 1.0, misalignment)


QUARTIC = [
    contender("x**2 + v**2 + x**4/2", 15, -90.0, 3.7e-4),
    contender("x**2 + v**2 + x**4/2 + 0.01*x*v", 25, -88.0, 3.3e-4),
    contender("x**2 + v**2", 7, -50.0, 0.03),
    contender("x + v", 3, -10.0, 0.4),
]


def test_the_evidence_decides():
    choice = choose(as_rule("evidence"), QUARTIC)
    assert choice.index == 0
    assert "by 2 nats more than for the next" in choice.reason


def test_the_very_best_fit_is_another_rule():
    assert choose(as_rule("accuracy"), QUARTIC).index == 1
    assert choose(as_rule(10), QUARTIC).index == 2


def test_the_steepest_drop_is_the_papers():
    front = sorted(QUARTIC, key=lambda one: one.complexity)
    logs = np.log([one.misalignment for one in front])
    slopes = np.diff(logs) / np.diff([one.complexity for one in front])
    expected = front[int(slopes.argmin()) + 1]
    assert QUARTIC[steepest_drop(QUARTIC)] is expected
    assert choose(as_rule("steepest_drop"), QUARTIC).index == QUARTIC.index(expected)


@pytest.mark.parametrize("rule", ["best", 0, True])
def test_impossible_rules(rule):
    with pytest.raises(ChoiceError, match=r"Use 'evidence'"):
        as_rule(rule)


def test_a_misspelt_rule_gets_a_suggestion():
    with pytest.raises(ChoiceError, match=r"did you mean 'steepest_drop'\? Use "):
        as_rule("steepest_dorp")
    with pytest.raises(ChoiceError, match=r"There is no rule 'zzz'\. Use "):
        as_rule("zzz")


def test_no_candidate_is_simple_enough():
    with pytest.raises(ChoiceError, match="the simplest has 3"):
        choose(as_rule(2), QUARTIC)


class NoQuartics:
    """A prior in four lines."""

    def penalty(self, formula):
        return 200.0 if "x**4" in str(formula) else float(formula.complexity())


def test_a_prior_takes_the_place_of_length():
    rule = as_rule(NoQuartics())
    assert rule.name == "NoQuartics"
    assert rule.cost(QUARTIC[0].expression, 0.4, None, None) == 200
    assert rule.cost(QUARTIC[3].expression, 0.4, None, None) == 3


def test_constants_that_carry_units_cost_more():
    rule, formula = as_rule("evidence"), cf.parse("x + 2.5*v", names=["x", "v"])
    plain = rule.cost(formula, 0.4, None, None)
    carried = rule.cost(formula, 0.4, None, cf.Units({"x": "m", "v": "m/s"}))
    same = rule.cost(formula, 0.4, None, cf.Units({"x": "m", "v": "m"}))
    assert plain == same < carried


def test_an_angle_that_matters_to_nobody_is_a_floor():
    assert Material(degrees=1.0).floor == pytest.approx(np.sin(np.radians(1)) ** 2)
    assert as_rule("evidence").floor == 0
