from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ChoiceError
from closedform.selection.contenders import Contender
from closedform.selection.regions import RegionalScores
from closedform.selection.rules import RuleLike, Scene, as_rule, choose, steepest_drop

RNG = np.random.default_rng


def case(*rows, spread=0.05, seed=0):
    """Contenders from (text, complexity, parts, misalignment), with a common error in each of 24
    regions.
    """
    rng = RNG(seed)
    common = np.exp(spread * rng.normal(size=24))
    table = np.array(
        [value * common * np.exp(0.2 * spread * rng.normal(size=24)) for *_, value in rows]
    )
    contenders = [
        Contender(cf.parse(text, names=["x", "v"]), size, parts, value, float(values.mean()))
        for (text, size, parts, value), values in zip(rows, table, strict=True)
    ]
    return contenders, RegionalScores(table, np.full(24, 1 / 24), tuple(np.empty(0) for _ in rows))


def chosen(contenders, scores, *, rule: RuleLike = "factor", noise=0.0):
    return choose(as_rule(rule), Scene(contenders, scores, noise, RNG(0)))


QUARTIC = case(
    ("x + v", 3, 2, 0.4),
    ("x**2 + v**2", 7, 2, 0.03),
    ("x**2 + v**2 + x**4/2", 15, 3, 3.7e-4),
    ("x**2 + v**2 + x**4/2 + 0.01*x*v", 25, 5, 3.3e-4),
    ("x**2 + v**2 + x**4/2 + 0.01*x*v + 0.02*x**3", 33, 7, 3.0e-4),
)


def test_the_rule_stops_where_further_terms_gain_little():
    choice = chosen(*QUARTIC)
    assert choice.index == 2
    assert choice.better == (3, 4)
    assert "none of the 2 more complex" in choice.reason
    assert choice.floor == pytest.approx(3.0e-4, rel=0.1)


def test_the_very_best_fit_is_another_rule():
    assert chosen(*QUARTIC, rule="accuracy").index == 4
    assert chosen(*QUARTIC, rule=10).index == 1


def test_a_gain_that_regions_do_not_confirm_is_none():
    rows = [("x", 1, 1, 0.01), ("x + v", 3, 2, 0.004)]
    contenders, scores = case(*rows)
    rng = RNG(1)
    scores.misalignments[0, 0] += 24 * 0.02  # one bad region makes the simple one worse on average
    scores.misalignments[0, 1:] = scores.misalignments[1, 1:] * np.exp(0.3 * rng.normal(size=23))
    assert chosen(contenders, scores).index == 0


def test_perfect_fits_are_alike():
    contenders, scores = case(("x**2", 3, 1, 1e-16), ("x**2 + v", 5, 2, 1e-19))
    assert chosen(contenders, scores).index == 0


def test_known_noise_sharpens_the_choice():
    rows = [("x + 2*v", 6, 2, 4.6e-4), ("x + 2.1*v", 6, 3, 3.1e-4)]
    assert chosen(*case(*rows)).index == 0
    assert chosen(*case(*rows), noise=3.0e-4).index == 1


def test_the_steepest_drop_is_the_papers():
    contenders, scores = QUARTIC
    slopes = np.diff(np.log(scores.means())) / np.diff([c.complexity for c in contenders])
    assert steepest_drop(contenders, scores.means()) == int(slopes.argmin()) + 1


@pytest.mark.parametrize("rule", ["best", 0])
def test_impossible_rules(rule):
    with pytest.raises(ChoiceError, match=r"Use 'factor'"):
        chosen(*QUARTIC, rule=rule)


def test_the_smallest_complexity_is_a_rule():
    assert as_rule(1).name == "complexity 1"


def test_a_misspelt_rule_gets_a_suggestion():
    with pytest.raises(ChoiceError, match=r"did you mean 'steepest_drop'\? Use "):
        as_rule("steepest_dorp")
    with pytest.raises(ChoiceError, match=r"There is no rule 'zzz'\. Use "):
        as_rule("zzz")


def test_no_candidate_is_simple_enough():
    with pytest.raises(ChoiceError, match="the simplest has 3"):
        chosen(*QUARTIC, rule=2)


class NoQuartics:
    """A prior in four lines."""

    def penalty(self, formula):
        return 20.0 if "x**4" in str(formula) else float(formula.complexity())


def test_a_prior_decides_about_order_and_price():
    # In the prior's order: the quartics are last, and must be exp(13) times better than the square.
    contenders, scores = QUARTIC
    rule = as_rule(NoQuartics())
    places = sorted(range(5), key=lambda i: rule.order(contenders[i]))
    table = RegionalScores(scores.misalignments[places], scores.weights, scores.errors)
    found = choose(rule, Scene([contenders[i] for i in places], table, 0.0, RNG(0)))
    assert str(contenders[places[found.index]].expression) in ("x + v", "x**2 + v**2")
    assert found.rule == "NoQuartics"


def test_plain_numbers_stand_only_within_their_errors():
    """Exponents 0.79 and 0.37 once became 2/3 and 1/2, many standard errors away."""
    rows = [("x**(2/3)*sqrt(v)", 9, 1, 1.1e-2), ("x**0.79*v**0.37", 9, 3, 9.0e-3)]
    contenders, scores = case(*rows)
    assert chosen(contenders, scores).index == 0
    fitted = replace(contenders[1], errors=(0.01, 0.004))
    assert chosen([contenders[0], fitted], scores).index == 1


def test_a_longer_formula_has_to_gain_more_where_bias_is_left():
    rows = [("1.5*x**3 - v", 9, 2, 1.8e-4), ("1.5*x**3 - v - 1/3/x**4", 17, 3, 4.0e-5)]
    contenders, scores = case(*rows)
    rule = as_rule("factor")
    noisy, biased = (
        Scene(contenders, scores, 0.0, RNG(0), np.full(2, share)) for share in (0.0, 0.95)
    )
    assert choose(rule, noisy).index == 1
    assert choose(rule, biased).index == 0


@pytest.mark.parametrize(
    ("linear", "curved", "winner"),
    [(9.2e-6, 2.5e-6, 0), (9.2e-4, 2.0e-4, 1), (9.2e-6, 1.0e-9, 1)],
    ids=["network's error", "further off", "exact"],
)
def test_a_linear_formula_that_a_network_follows_closely_stays(
    linear: float, curved: float, winner: int
) -> None:
    """687/(A11 + A22) + (A12 + A21)**(4/3) was read from a network of A11 + A22."""
    rows = [("x + v", 3, 2, linear), ("687/(x + v) + x**(4/3)", 13, 3, curved)]
    contenders, scores = case(*rows)
    scene = Scene(contenders, scores, 0.0, RNG(0), np.full(2, 0.8))
    assert choose(as_rule("factor"), scene).index == winner
