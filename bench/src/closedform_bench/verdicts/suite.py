"""Read cases one after another, and count how far verdicts can be trusted."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from scipy.stats import beta

import closedform as cf
from closedform.alignment.scores import field_misalignment
from closedform.searching.budget import Budget
from closedform_bench.formulas.problem import Problem
from closedform_bench.formulas.scoring import is_right
from closedform_bench.invariants.task import BenchTask, Content
from closedform_bench.verdicts.case import PARTS, Part, VerdictCase
from closedform_bench.verdicts.drawing import draw_case

BUDGET = 10.0
"""Seconds for each reading."""

CARRIED = 5e-3
"""A network that is misaligned to the truth by at most this has learned it."""


@dataclass(frozen=True, slots=True)
class VerdictPlan:
    """What is read, and how.

    Attributes
    ----------
    parts : tuple of {'fields', 'networks', 'controls'}
    seed : int
        Of the cases and of the readings.
    start, count : int
        Cases of each part: from this number on, so many.
    budget : float
    """

    parts: tuple[Part, ...] = PARTS
    seed: int = 0
    start: int = 0
    count: int = 60
    budget: float = BUDGET

    def __post_init__(self) -> None:
        for part in self.parts:
            if part not in PARTS:
                raise cf.ClosedformError(
                    f"The suite verdict has no part {part!r}; choose from {', '.join(PARTS)}."
                )

    def tasks(self) -> list[BenchTask]:
        """One task for each case."""
        return [
            BenchTask(self._content(part, number), partial(self._row, part, number))
            for part in self.parts
            for number in range(self.start, self.start + self.count)
        ]

    def _content(self, part: Part, number: int) -> Content:
        return {
            "suite": "verdict", "system": f"{part}-{self.seed}-{number}", "seed": self.seed,
            "budget": self.budget,
        }  # fmt: skip

    def _row(self, part: Part, number: int) -> Any:
        """Read one case; the reading sees the field and, of a network, its gradients."""
        case = draw_case(part, self.seed, number)
        clock = Budget(seconds=self.budget).start()
        answer = cf.interpret_field(
            case.field, budget=self.budget, rng=self.seed, progress=False, query=case.query
        )
        seconds = clock.seconds
        row = {
            "name": case.name,
            "part": part,
            "kind": case.kind,
            "inputs": len(case.field.names),
            "truth": None if case.problem is None else case.problem.truth,
            "found": None if answer.concept is None else str(answer.concept),
            "alternatives": [str(formula) for formula in answer.alternatives],
            "status": answer.verdict.status,
            "failed": [check.name for check in answer.verdict.checks if check.passed is False],
            "seconds": round(seconds, 3),
        }
        return row | _scored(case, answer)


def _scored(case: VerdictCase, answer: cf.Interpretation) -> dict[str, Any]:
    """Whether the answer is right, and whether the truth is in its set; None for a control."""
    problem = case.problem
    if problem is None:
        return {"right": None, "in_set": None, "carried": None}
    nearly = case.kind != "exact"
    right = _is_right(problem, answer.concept, approximately=nearly)
    others = (_is_right(problem, formula, approximately=nearly) for formula in answer.alternatives)
    return {
        "right": right,
        "in_set": right or any(others),
        "carried": float(field_misalignment(problem.formula(), case.field).mean()),
    }


def _is_right(problem: Problem, found: cf.Expression | None, *, approximately: bool) -> bool:
    try:
        return is_right(problem, found, approximately=approximately)
    except cf.ClosedformError:  # a formula that is not defined on the problem's ranges
        return False


def verdict_summary(plan: VerdictPlan, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The object that ``--json`` prints."""
    true = [row for row in rows if row["part"] != "controls"]
    networks = [row for row in rows if row["part"] == "networks"]
    carried = [row for row in networks if row["carried"] <= CARRIED]
    controls = [row for row in rows if row["part"] == "controls"]
    ambiguous = [row for row in true if row["status"] == "ambiguous"]
    sure = ("verified", "ambiguous")
    return {
        "suite": "verdict",
        "seed": plan.seed,
        "start": plan.start,
        "count": plan.count,
        "right_among_verified": _share([row["right"] for row in _verified(true)]),
        "right_among_verified_networks": _share([row["right"] for row in _verified(networks)]),
        "carried_verified_right": _share(
            [row["status"] == "verified" and row["right"] for row in carried]
        ),
        "carried_in_set": _share([row["status"] in sure and row["in_set"] for row in carried]),
        "ambiguous_in_set": _share([row["in_set"] for row in ambiguous]),
        "controls_verified": _share([row["status"] == "verified" for row in controls]),
        "statuses": {
            part: {
                status: sum(row["status"] == status and row["part"] == part for row in rows)
                for status in ("verified", "ambiguous", "approximate", "none")
            }
            for part in PARTS
        },
        "median_seconds": round(statistics.median(row["seconds"] for row in rows), 3)
        if rows
        else None,
        "longest_seconds": max((row["seconds"] for row in rows), default=None),
        "problems": list(rows),
    }


def _verified(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["status"] == "verified"]


def _share(hits: Sequence[bool]) -> dict[str, Any]:
    """How many, of how many, and the exact interval of 95% of their share (Clopper and Pearson).

    Examples
    --------
    >>> _share([True, True, False])["interval"]
    [0.094, 0.992]
    """
    count, total = sum(map(bool, hits)), len(hits)
    low = 0.0 if count == 0 else float(beta.ppf(0.025, count, total - count + 1))
    high = 1.0 if count == total else float(beta.ppf(0.975, count + 1, total - count))
    return {"count": count, "of": total, "interval": [round(low, 3), round(high, 3)]}
