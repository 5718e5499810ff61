from dataclasses import dataclass, replace

import numpy as np
import pytest

import closedform as cf
from closedform.interpretation.answer import FrontEntry
from closedform.interpretation.evidence import Alignment, Phi, Rival, Stability
from closedform.interpretation.verdict import CheckResult
from closedform.keywords import KeywordError
from closedform.selection.regions import divide
from closedform.verification.checks import CHECKS, all_checks
from closedform.verification.evidence import Evidence
from closedform.verification.judgement import judge, nothing_found, undecided
from closedform.verification.thresholds import Thresholds

NAMES = ["x", "v"]
CONCEPT = cf.parse("x**2 + v**2", names=NAMES)
PHI = Phi(-0.999, 0.99, 0.99, (0.0, 1.0), (1.0, 0.0))
POINTS = np.random.default_rng(0).uniform(-1, 1, (500, 2))
FIELD = cf.GradientField.from_arrays(POINTS, POINTS, names=NAMES)


def other(text, misalignment, complexity):
    formula = cf.parse(text, names=NAMES)
    return FrontEntry(formula, complexity, misalignment, misalignment, misalignment, misalignment)


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
    stability=Stability((CONCEPT, CONCEPT), (True, True), (0.0, 0.0)),
    others=(other("x + v", 0.3, 3),),
    choice="It is the simplest.",
)
MEDIOCRE = Alignment(4e-3, 3e-3, 5e-3, 3e-3, 4e-3, 0.5, 2e-3, (1.0, 3.0, 5.0), 500)
NOT_LOOKED = CheckResult.not_made("No other formula was looked for, as asked.", is_required=False)


def verdict_on(**change):
    return judge(CHECKS, replace(GOOD, **change))


def failed(verdict):
    return [check.name for check in verdict.checks if check.passed is False]


def test_all_is_well():
    verdict = verdict_on()
    assert verdict.status == "verified"
    assert [check.passed for check in verdict.checks] == [True] * len(CHECKS)
    assert "1500 different usable points, and 500 of them" in " ".join(verdict.reasons)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("alignment", {"alignment": replace(GOOD.alignment, high=0.02, trimmed_high=0.011)}),
        ("points", {"n_points": 99}),
        ("phi", {"phi": replace(PHI, rank_correlation=0.97)}),
        (
            "halves",
            {"stability": Stability((CONCEPT, cf.parse("x + v")), (True, False), (0.0, 0.2))},
        ),
        ("advantage", {"others": (other("x", 0.004, 1),)}),
        ("gain", {"alignment": MEDIOCRE, "others": (other("x + v", 0.019, 4),)}),
        ("rivals", {"rivals": (Rival(cf.parse("x*v"), 3, 1e-3, -1e-4, (), 40.0, 5.0),)}),
        (
            "choice",
            {
                "choice": "",
                "others": (other("x**2 + v**2 + 0*x*v", 1e-12, 15),),
                "concept": cf.parse("x**2 + 2*v**2"),
            },
        ),
    ],
)
def test_each_failed_check_alone_makes_it_approximate(name, change):
    verdict = verdict_on(**change)
    assert verdict.status == "approximate"
    assert failed(verdict) == [name]
    assert verdict.reasons[0] == next(check.text for check in verdict.checks if check.name == name)


def test_an_excellent_fit_may_have_a_near_simpler_formula():
    def near(misalignment):
        return (other("x + v", misalignment, 4),)

    assert (
        verdict_on(others=near(2e-3), alignment=replace(GOOD.alignment, trimmed_high=9e-4)).status
        == "verified"
    )
    assert verdict_on(others=near(2e-3)).status == "verified"
    assert verdict_on(others=near(2e-3), alignment=MEDIOCRE).status == "approximate"
    assert verdict_on(others=near(9e-3), alignment=MEDIOCRE).status == "approximate"
    assert verdict_on(others=near(9e-3), alignment=MEDIOCRE, noise=4e-3).status == "verified"
    assert verdict_on(others=near(0.021), alignment=MEDIOCRE).status == "verified"


def test_a_poor_fit_is_none():
    poor = replace(GOOD.alignment, misalignment=0.05, high=0.06, trimmed_high=0.05)
    assert verdict_on(alignment=poor).status == "none"


@pytest.mark.parametrize("is_required", [True, False])
def test_a_check_that_was_not_made_never_counts_as_passed(is_required):
    missing = CheckResult.not_made("There were too few points.", is_required=is_required)
    verdict = verdict_on(stability=missing)
    assert verdict.status == ("approximate" if is_required else "verified")
    (result,) = (check for check in verdict.checks if check.name == "halves")
    assert result.passed is None
    assert result.word == "not made"
    assert "Not made (halves): There were too few points." in verdict.reasons
    if is_required:
        assert "these checks could not be made: halves" in verdict.sentence


def test_where_no_other_formula_was_looked_for_the_claim_is_smaller():
    verdict = verdict_on(others=NOT_LOOKED, choice="")
    assert verdict.status == "verified"
    assert verdict.sentence.endswith("no other was looked for.")
    assert {check.name for check in verdict.checks if check.passed is None} == {
        "gain",
        "rivals",
        "choice",
    }


def test_a_more_complex_rival_is_no_obstacle():
    rival = Rival(cf.parse("x**2 + v**2 + x*v"), 15, 9e-4, -1e-4, (), 40.0, 5.0)
    assert verdict_on(rivals=(rival,)).status == "verified"


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
