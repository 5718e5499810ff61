from dataclasses import replace

import numpy as np
import pytest

from closedform.expressions.parse import parse
from closedform.report.errors import ReportError
from closedform.report.figure_data import CandidateView, Curve, DirectionField, FindingView, ReportData


def candidate(**options):
    return CandidateView(parse("x*y"), **({"complexity": 3, "misalignment": 0.1, "engine": "terms"} | options))


def test_the_choice_is_the_chosen_candidate(example):
    assert example.choice is example.candidates[example.chosen]
    assert ReportData("t", "none", "s").choice is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chosen": 99}, "99"),
        ({"steepest_drop": -1}, "-1"),
        ({"status": "sure"}, "verified, approximate, none"),
    ],
)
def test_data_that_do_not_fit_are_refused(example, change, message):
    with pytest.raises(ReportError, match=message):
        replace(example, **change)


def test_candidates_come_in_order_of_complexity(example):
    with pytest.raises(ReportError, match="order of complexity"):
        replace(example, candidates=example.candidates[::-1])


def test_candidates_with_half_their_data_are_refused():
    with pytest.raises(ReportError, match="both or neither"):
        candidate(latent_values=np.ones(3))
    with pytest.raises(ReportError, match="one length"):
        candidate(latent_values=np.ones(3), concept_values=np.ones(4))
    with pytest.raises(ReportError, match="finite"):
        candidate(misalignment=float("nan"))


def test_shapes_and_severities_are_checked():
    with pytest.raises(ReportError, match="one length"):
        Curve(np.ones(3), np.ones(2))
    with pytest.raises(ReportError, match="network"):
        DirectionField(("x", "y"), np.ones((3, 2)), np.ones((4, 2)), np.ones((3, 2)))
    with pytest.raises(ReportError, match="info, warning, error"):
        replace(FindingView("info", "text"), severity="bad")
