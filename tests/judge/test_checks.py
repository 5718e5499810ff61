from dataclasses import dataclass, replace

import numpy as np
import pytest

import closedform as cf
from closedform.basics.keywords import KeywordError
from closedform.interpretation.evidence import Alignment, Misfit, Rival
from closedform.interpretation.verdict import CheckResult
from closedform.judge.checks import CHECKS, Evidence, all_checks, judge, nothing_found, undecided
from closedform.judge.confidence import Judged
from closedform.judge.thresholds import Thresholds

NAMES = ["x", "v"]
CONCEPT, OTHER = (cf.parse(text, names=NAMES) for text in ("x**2 + v**2", "x*v"))
POINTS = np.random.default_rng(0).uniform(-1, 1, (500, 2))
FIELD = cf.GradientField.from_arrays(POINTS, POINTS, names=NAMES)
RIVAL = Rival(OTHER, 3, 1e-3, 0.25, (), 5.0, 2.0)
FIT = Misfit(1e-3, 30.0, "network")
SURE = Judged(
    weights=np.array([0.99, 0.01]),
    groups=(0, 1),
    unknown=0.01,
    means=np.zeros((2, 2)),
    predicted=np.array([[0.1, 0.1], [-0.2, 0.1]]),
)
GOOD = Evidence(
    concept=CONCEPT,
    field=FIELD,
    rows=np.arange(500),
    n_points=1500,
    rng=np.random.default_rng(0),
    thresholds=Thresholds(),
    alignment=Alignment(1e-3, 8e-4, 1.2e-3, 9e-4, 1e-3, 0.5, 2e-3, (1.0, 3.0, 5.0), 500),
    judged=SURE,
)


def verdict_on(others=(RIVAL,), **change):
    return judge(CHECKS, replace(GOOD, **change), FIT, others)


def failed(verdict):
    return [check.name for check in verdict.checks if check.passed is False]


def test_all_is_well():
    verdict = verdict_on()
    assert verdict.status == "verified"
    assert failed(verdict) == []
    assert verdict.alternatives == ()
    assert "within the network's own error of about 1.8 degrees" in verdict.sentence
    assert "confidence 0.98" in verdict.sentence


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("points", {"n_points": 99}),
        ("unseen", {"judged": replace(SURE, predicted=np.array([[0.1, 0.1], [0.4, 0.1]]))}),
    ],
)
def test_each_failed_check_alone_makes_it_approximate(name, change):
    verdict = verdict_on(**change)
    assert verdict.status == "approximate"
    assert failed(verdict) == [name]


def test_shared_weight_makes_it_ambiguous():
    split = replace(SURE, weights=np.array([0.6, 0.4]))
    verdict = verdict_on(judged=split)
    assert verdict.status == "ambiguous"
    assert failed(verdict) == ["confidence"]
    assert verdict.alternatives == (OTHER,)
    # It once said that the network computes one of them, which was true of 5 in 13.
    assert verdict.sentence == (
        "This formula fits as well as anything found, and 1 other fits as well; the truth may be "
        "another (confidence 0.59 for this one, 0.25 for the other, 0.16 kept for what was not "
        "found)."
    )


def test_spellings_of_one_form_are_no_alternatives():
    verdict = verdict_on(others=(), judged=replace(SURE, weights=np.array([0.6, 0.4])))
    assert verdict.status == "ambiguous"
    assert verdict.alternatives == ()
    assert verdict.sentence == (
        "No other form that was found fits as well as this formula, but the truth may be another "
        "(confidence 0.59; 0.41 is kept for what was not found)."
    )


def test_mostly_unknown_is_approximate():
    verdict = verdict_on(judged=replace(SURE, unknown=0.7))
    assert verdict.status == "approximate"
    alone = verdict_on(others=(), judged=replace(SURE, unknown=0.2))
    assert alone.status == "approximate"
    assert "a formula that was not found may be the truth" in alone.sentence


def test_a_poor_fit_is_none():
    poor = replace(GOOD.alignment, misalignment=0.05, high=0.06)
    by_directions = replace(SURE, predicted=SURE.predicted[:1])
    assert verdict_on(alignment=poor, judged=by_directions).status == "none"
    unsure = replace(SURE, unknown=0.7)
    assert verdict_on(alignment=poor, judged=unsure).status == "none"


def test_a_check_that_was_not_made_never_counts_as_passed():
    verdict = verdict_on(is_complete=False)
    assert verdict.status == "approximate"
    assert "these checks could not be made: confidence" in verdict.sentence


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
