from dataclasses import dataclass, replace

import numpy as np
import pytest

import closedform as cf
from closedform.interpretation.answer import FrontEntry
from closedform.interpretation.evidence import Alignment, Misfit, Phi, Rival
from closedform.interpretation.verdict import CheckResult
from closedform.keywords import KeywordError
from closedform.searching.decomposition import Combination, Decomposition
from closedform.selection.regions import divide
from closedform.verification.alternatives import Contested
from closedform.verification.check_evidence import Evidence
from closedform.verification.checks import CHECKS, all_checks
from closedform.verification.judgement import judge, nothing_found, undecided
from closedform.verification.thresholds import Thresholds

NAMES = ["x", "v"]
CONCEPT = cf.parse("x**2 + v**2", names=NAMES)
PHI = Phi(-0.999, 0.99, 0.99, (0.0, 1.0), (1.0, 0.0))
POINTS = np.random.default_rng(0).uniform(-1, 1, (500, 2))
FIELD = cf.GradientField.from_arrays(POINTS, POINTS, names=NAMES)
SPACE = np.random.default_rng(1).uniform(-1, 1, (500, 3))
THREE = cf.GradientField.from_arrays(SPACE, SPACE, names=[*NAMES, "w"], tangent="none")


def other(text, misalignment, complexity):
    formula = cf.parse(text, names=NAMES)
    return FrontEntry(formula, complexity, misalignment, misalignment, misalignment, misalignment)


FIT = Misfit(1e-3, 9e-4, 20.0, "network")


def rival(text, difference, *, is_alternative=True):
    formula = cf.parse(text, names=NAMES)
    where = (("x", 2.0), ("v", 1.0))
    return Rival(formula, 5, 1e-3, difference, where, 40.0, 5.0, "made", 1.0, is_alternative)


def outcome(*rivals, fit=FIT):
    return Contested(fit, rivals, None, 30)


GOOD = Evidence(
    concept=CONCEPT,
    complexity=7,
    field=FIELD,
    rows=np.arange(500),
    labels=divide(FIELD, np.random.default_rng(0)),
    n_points=1500,
    rng=np.random.default_rng(0),
    thresholds=Thresholds(),
    alignment=Alignment(1e-3, 8e-4, 1.2e-3, 9e-4, 1e-3, 0.5, 2e-3, (1.0, 3.0, 5.0), 500),
    phi=PHI,
    outcome=outcome(),
    others=(other("x + v", 0.3, 3),),
    choice="It is the simplest.",
)
NOT_LOOKED = CheckResult.not_made("No other formula was looked for, as asked.", is_required=False)


def verdict_on(**change):
    return judge(CHECKS, replace(GOOD, **change))


def failed(verdict):
    return [check.name for check in verdict.checks if check.passed is False]


def test_all_is_well():
    verdict = verdict_on()
    assert verdict.status == "verified"
    assert failed(verdict) == []
    assert "within the network's own error of about 1.8 degrees" in verdict.sentence
    assert "1500 different usable points, and 500 of them" in " ".join(verdict.reasons)


@pytest.mark.parametrize(
    ("names", "change"),
    [
        (["alignment"], {"alignment": replace(GOOD.alignment, high=0.02, trimmed_high=0.011)}),
        (["points"], {"n_points": 99}),
        (["phi"], {"phi": replace(PHI, rank_correlation=0.97)}),
        (["fit"], {"outcome": outcome(fit=replace(FIT, kind="lack"))}),
        (["advantage"], {"others": (other("x", 0.004, 1),)}),
        (["economy"], {"concept": cf.parse("x**2 + 1.03*v**2 + 0.3*sin(x*v) + 0.1*exp(0.3*v)")}),
        (["choice"], {"outcome": outcome(rival("x*v", -1.0, is_alternative=False))}),
        (
            ["structure"],
            {
                "structure": Decomposition(
                    (Combination("x*v", ("x", "v"), 1e-6, 0.0, 2e-6),), (), 1e-6
                ),
                "field": THREE,
                "concept": cf.parse("x**2 + v**2", names=[*NAMES, "w"]),
            },
        ),
    ],
)
def test_each_failed_check_alone_makes_it_approximate(names, change):
    verdict = verdict_on(**change)
    assert verdict.status == "approximate"
    assert failed(verdict) == names
    assert verdict.reasons[0] == next(
        check.text for check in verdict.checks if check.name == names[0]
    )


def test_other_formulas_that_fit_as_well_make_it_ambiguous():
    verdict = verdict_on(outcome=outcome(rival("x*v", 0.1), rival("x + v", -0.1)))
    assert verdict.status == "ambiguous"
    assert failed(verdict) == ["alternatives"]
    assert [str(formula) for formula in verdict.alternatives] == ["x*v", "x + v"]
    assert "one of 3 formulas" in verdict.sentence
    assert "data there would decide" in verdict.reasons[0]


def test_a_linear_formula_of_a_curved_network_is_not_verified():
    points = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    curved = cf.GradientField.from_arrays(
        points, np.array([1.0, 2.0]) + 0.1 * points, names=NAMES, tangent="none"
    )
    verdict = verdict_on(concept=cf.parse("x + 2*v", names=NAMES), field=curved)
    assert verdict.status == "approximate"
    assert failed(verdict) == ["curvature"]


def test_a_poor_fit_is_none():
    poor = replace(GOOD.alignment, misalignment=0.05, high=0.06, trimmed_high=0.05)
    assert verdict_on(alignment=poor).status == "none"


@pytest.mark.parametrize("is_required", [True, False])
def test_a_check_that_was_not_made_never_counts_as_passed(is_required):
    missing = CheckResult.not_made("There was no time.", is_required=is_required)
    verdict = verdict_on(not_looked=missing)
    assert verdict.status == ("approximate" if is_required else "verified")
    (result,) = (check for check in verdict.checks if check.name == "alternatives")
    assert result.passed is None
    assert result.word == "not made"
    assert "Not made (alternatives): There was no time." in verdict.reasons
    if is_required:
        assert "these checks could not be made: choice, alternatives" in verdict.sentence


def test_where_no_other_formula_was_looked_for_the_claim_is_smaller():
    verdict = verdict_on(not_looked=NOT_LOOKED, choice="")
    assert verdict.status == "verified"
    assert verdict.sentence.endswith("no other was looked for.")
    assert {"choice", "alternatives"} <= {
        check.name for check in verdict.checks if check.passed is None
    }


def test_without_simpler_candidates_chance_is_the_measure():
    assert "better than chance" in " ".join(verdict_on(others=()).reasons)


def test_special_verdicts():
    line = cf.GradientField.from_arrays(POINTS[:, :1], POINTS[:, :1])
    verdict = undecided(line)
    assert verdict is not None
    assert verdict.status == "none"
    assert "every function fits" in verdict.reasons[0]
    assert undecided(FIELD) is None
    assert nothing_found("Nothing.").sentence == "Nothing."


@dataclass(frozen=True)
class Positive:
    """A user's check, in eight lines."""

    name: str = "positive"
    asks: str = "Is the concept positive on the data?"
    failure: str = "it is negative somewhere"

    def measure(self, evidence):
        lowest = evidence.concept(evidence.field.points).min()
        return CheckResult.made(lowest > 0, f"Its lowest value is {lowest:.2g}.")


@pytest.mark.parametrize(
    ("formula", "status"), [("x**2 + v**2", "verified"), ("-(x**2 + v**2)", "approximate")]
)
def test_a_users_check_counts_like_any_other(formula, status):
    answer = cf.verify(formula, FIELD, rivals=None, checks=[Positive()], rng=0)
    assert answer.verdict.status == status
    assert ("it is negative somewhere" in answer.verdict.sentence) == (status == "approximate")


def test_checks_can_be_added_and_never_left_out():
    assert all_checks([Positive()])[:-1] == CHECKS
    with pytest.raises(KeywordError, match="is not a check"):
        cf.verify("x", FIELD, rivals=None, checks=[Positive])  # type: ignore[list-item]


def test_a_nearly_linear_network_is_told_to_be_one():
    # Of such networks long sums that follow their bends were all that the verdict named.
    fit = replace(FIT, kind="lack")
    evidence = replace(GOOD, others=(other("x + 2*v", 3e-4, 5),), outcome=outcome(fit=fit))
    verdict = judge(CHECKS, evidence)
    assert verdict.status == "approximate"
    assert "It is nearly linear: x + 2*v follows it within about 0.99 degrees." in verdict.sentence
    far = judge(CHECKS, replace(evidence, others=(other("x + 2*v", 0.05, 5),)))
    assert "linear" not in far.sentence
