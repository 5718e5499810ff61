"""A long budget is a short round first."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.expressions.expression import Expression
from closedform.reading.settings import FIRST_ROUND, read_in_rounds


@pytest.fixture(scope="module")
def field() -> cf.GradientField:
    points = np.random.default_rng(0).uniform(1, 2, (300, 2))
    return cf.GradientField.from_arrays(points, points[:, ::-1], names=["x", "y"])


@pytest.fixture(scope="module")
def verified(field) -> cf.Interpretation:
    return cf.interpret_field(field, engine="terms", budget=cf.Budget(evaluations=600), rng=0)


def with_status(answer: cf.Interpretation, status: str) -> cf.Interpretation:
    return replace(answer, verdict=replace(answer.verdict, status=status))


class Reading:
    """Gives prepared answers, and notes what it was asked."""

    def __init__(self, *answers: cf.Interpretation) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[cf.Budget, list[Expression]]] = []

    def __call__(self, budget: cf.Budget, known: Sequence[Expression]) -> cf.Interpretation:
        self.asked.append((budget, list(known)))
        return self.answers.pop(0)


def test_what_is_verified_in_the_first_round_is_the_answer(field, verified) -> None:
    read = Reading(verified)
    assert read_in_rounds(field, cf.Budget(seconds=60), read) is verified
    assert read.asked == [(cf.Budget(seconds=FIRST_ROUND), [])]


def test_the_rest_of_the_budget_starts_from_the_first_round(field, verified) -> None:
    unsure = with_status(verified, "approximate")
    read = Reading(unsure, verified)
    found = read_in_rounds(field, cf.Budget(seconds=60), read)
    assert found.verdict.status == "verified"
    assert found.provenance.evaluations == 2 * verified.provenance.evaluations
    budget, known = read.asked[1]
    assert budget.seconds == pytest.approx(60, abs=1)  # prepared answers take no time
    assert known == [entry.expression for entry in unsure.front]


def test_a_second_round_never_makes_the_verdict_worse(field, verified) -> None:
    read = Reading(with_status(verified, "ambiguous"), with_status(verified, "none"))
    assert read_in_rounds(field, cf.Budget(seconds=60), read).verdict.status == "ambiguous"


def test_somebody_who_stops_the_first_round_stops_all(field, verified) -> None:
    unsure = with_status(verified, "approximate")
    stopped = replace(unsure, provenance=replace(unsure.provenance, status="interrupted"))
    assert read_in_rounds(field, cf.Budget(seconds=60), Reading(stopped)) is stopped


@pytest.mark.parametrize("limits", [cf.Budget(seconds=19), cf.Budget(evaluations=500)])
def test_short_budgets_and_evaluations_are_one_round(field, verified, limits) -> None:
    read = Reading(with_status(verified, "none"))
    read_in_rounds(field, limits, read)
    assert read.asked == [(limits, [])]


def test_evaluations_beside_seconds_count_over_all_rounds(field, verified) -> None:
    unsure = with_status(verified, "none")
    read = Reading(unsure, verified)
    read_in_rounds(field, cf.Budget(seconds=60, evaluations=100_000), read)
    left = read.asked[1][0].evaluations
    assert left == 100_000 - unsure.provenance.evaluations
