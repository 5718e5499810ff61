"""Read cases one after another, and count how far verdicts can be trusted."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import beta

import closedform as cf
from closedform.expressions.complexity import constant_values, fitted_positions
from closedform.expressions.tree import Constant
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.refit import refit
from closedform.judge.neighbours.same_form import free_positions
from closedform.judge.witnesses import Witnesses
from closedform.searching.budget import Budget
from closedform_bench.formulas.problem import Problem, exact_field
from closedform_bench.formulas.scoring import is_right
from closedform_bench.invariants.bench_task import BenchTask, Content
from closedform_bench.verdicts.case import PARTS, Part, VerdictCase
from closedform_bench.verdicts.drawing import draw_case

BUDGET = 10.0
"""Seconds for each reading."""

ROUNDING, STEPS = 1e-12, 60
"""Misalignment to the truth that the last digits of a constant make, and steps of the fit that
finds what constants are in truth."""

CARRIED, LEFT = 5e-3, 1e-3
"""A network that is misaligned to the truth by at most the first, or of whose variance the truth's
phi leaves at most the second, has learned it; those count whose formula the default search space
allows."""

SHARES = {
    "right_among_verified": "right among verified",
    "right_among_verified_networks": "right among verified, networks alone",
    "right_among_verified_plain": "of these without fitted numbers",
    "right_among_verified_fitted": "of these with fitted numbers",
    "carried_verified_right": "right and verified, of networks that carry the truth",
    "carried_in_set": "right and in the set, of these",
    "ambiguous_in_set": "true form in the set of ambiguous answers",
    "controls_verified": "controls verified",
}
"""What is counted, in words."""


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
        answer = cf.interpret_field(case.field, budget=self.budget, rng=self.seed, progress=False)
        seconds = clock.seconds
        row = {
            "name": case.name,
            "part": part,
            "has_values": case.field.latents is not None,
            "kind": case.kind,
            "inputs": len(case.field.names),
            "truth": None if case.problem is None else case.problem.truth,
            "found": None if answer.concept is None else str(answer.concept),
            "alternatives": [str(formula) for formula in answer.alternatives],
            "status": answer.verdict.status,
            "confidence": answer.confidence,
            "front": [str(entry.expression) for entry in answer.front],
            "failed": [check.name for check in answer.verdict.checks if check.passed is False],
            "seconds": round(seconds, 3),
        }
        return row | _scored(case, answer)


def _scored(case: VerdictCase, answer: cf.Interpretation) -> dict[str, Any]:
    """Whether the answer is right, and whether the truth is in its set; None for a control."""
    problem = case.problem
    if problem is None:
        return {
            "right": None, "in_set": None, "carried": None, "left": None, "in_vocabulary": None,
        }  # fmt: skip
    found = (answer.concept, *answer.alternatives)
    right, *others = (answers_case(case, formula) for formula in found)
    return {
        "right": right,
        "in_set": right or any(others),
        "carried": float(field_misalignment(problem.formula(), case.field).mean()),
        "left": left_by_truth(problem, case.field),
        "in_vocabulary": cf.SearchSpace().allows(problem.formula().tree, problem.names),
        "constants": constants_of(answer, problem, case.field) if right else [],
    }


def constants_of(
    answer: cf.Interpretation, problem: Problem, field: cf.GradientField
) -> list[list[float]]:
    """For every constant of a right answer: what was estimated, its standard error, the truth (the
    form fitted to exact gradients), and what directions alone say.
    """
    assert answer.concept is not None
    own = answer.concept.rename(problem.names)
    exact = exact_field(problem, np.random.default_rng(97))
    places = [
        place for place in free_positions(own.tree, own.names)
        if isinstance(own.tree.tokens[place], Constant)
    ]  # fmt: skip
    if not places or len(places) != len(answer.constants):
        return []
    (true,), (left,) = refit([own], exact, iterations=STEPS, positions=[places])
    (turned,), _ = refit([own], field, iterations=STEPS, positions=[places])
    if left > ROUNDING:
        return []
    values = (constant_values(form.tree, places) for form in (true, turned))
    return [
        [estimate.fitted, estimate.error, *pair]
        for estimate, *pair in zip(answer.constants, *values, strict=True)
    ]


def constants_summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How many intervals of 95% hold the truth, and how far off constants are in the median, by
    both witnesses and by directions alone.
    """
    table = np.array([one for row in rows for one in row.get("constants") or []]).reshape(-1, 4)
    fitted, error, true, turned = table.T
    held = np.abs(fitted - true) <= 1.96 * error + ROUNDING * np.abs(true)
    size = np.maximum(np.abs(true), np.finfo(float).tiny)
    both, alone = (np.abs(found - true) / size for found in (fitted, turned))
    return {
        "held": share_of(held.tolist()),
        "median_error": float(np.median(both)) if len(both) else None,
        "median_error_by_directions": float(np.median(alone)) if len(alone) else None,
    }


def left_by_truth(problem: Problem, field: cf.GradientField) -> float | None:
    """Share of the latent's variance that phi of the truth leaves; None without values."""
    witnesses = Witnesses.of(field)
    squares = witnesses.hear(problem.formula().tree).squares()[1]
    return None if squares is None else float(witnesses.steepness @ squares)


def is_carried(row: dict[str, Any]) -> bool:
    """Whether a network has learned the truth, by directions or by values."""
    left = row.get("left")  # measurements of 0.1.0 lack it, as they lack confidences
    by_values = left is not None and left <= LEFT
    return (row["carried"] <= CARRIED or by_values) and bool(row["in_vocabulary"])


def calibration(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Expected calibration error over ten bins of equal counts, and the bins: mean confidence,
    share right, count. Controls count as wrong.
    """
    pairs = sorted((row.get("confidence") or 0.0, bool(row["right"])) for row in rows)
    bins = [one for one in np.array_split(np.array(pairs, dtype=float), 10) if len(one)]
    table = [[*(round(float(v), 4) for v in one.mean(axis=0)), len(one)] for one in bins]
    error = sum(abs(sure - right) * count for sure, right, count in table) / max(len(pairs), 1)
    return {"error": round(error, 4), "bins": table}


def answers_case(case: VerdictCase, found: cf.Expression | None) -> bool:
    """Whether a formula is the truth; of an exact field up to the last digits of its constants."""
    problem = case.problem
    try:
        if problem is None or found is None or not is_right(problem, found, approximately=True):
            return False
        if case.kind != "exact":
            return True
        field = exact_field(problem, np.random.default_rng(97))
        return float(field_misalignment(found.rename(problem.names), field).mean()) < ROUNDING
    except cf.ClosedformError:  # a formula that is not defined on the problem's ranges
        return False


def verdict_summary(plan: VerdictPlan, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The object that ``--json`` prints."""
    true = [row for row in rows if row["part"] != "controls"]
    networks = [row for row in rows if row["part"] == "networks"]
    carried = [row for row in networks if is_carried(row)]
    values = [row for row in rows if row["part"] == "networks" or row.get("has_values")]
    others = [row for row in rows if row not in values]
    controls = [row for row in rows if row["part"] == "controls"]
    ambiguous = [row for row in true if row["status"] == "ambiguous"]
    sure = ("verified", "ambiguous")
    return {
        "suite": "verdict",
        "seed": plan.seed,
        "start": plan.start,
        "count": plan.count,
        "right_among_verified": share_of([row["right"] for row in _verified(true)]),
        "right_among_verified_networks": share_of([row["right"] for row in _verified(networks)]),
        "right_among_verified_plain": share_of(
            [row["right"] for row in _verified(networks) if not _has_fitted(row)]
        ),
        "right_among_verified_fitted": share_of(
            [row["right"] for row in _verified(networks) if _has_fitted(row)]
        ),
        "carried_verified_right": share_of(
            [row["status"] == "verified" and row["right"] for row in carried]
        ),
        "carried_in_set": share_of([row["status"] in sure and row["in_set"] for row in carried]),
        "ambiguous_in_set": share_of([row["in_set"] for row in ambiguous]),
        "controls_verified": share_of([row["status"] == "verified" for row in controls]),
        "carried_by_directions": sum(row["carried"] <= CARRIED for row in carried),
        "sure_right": share_of(
            [row["right"] for row in rows if (row.get("confidence") or 0) > 0.9]
        ),
        "constants": constants_summary(networks),
        "calibration_with_values": calibration(values),
        "calibration_without_values": calibration(others),
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


def _has_fitted(row: dict[str, Any]) -> bool:
    return bool(fitted_positions(cf.parse(row["found"]).tree))


def share_of(hits: Sequence[bool]) -> dict[str, Any]:
    """How many, of how many, and the exact interval of 95% of their share (Clopper and Pearson).

    Examples
    --------
    >>> share_of([True, True, False])["interval"]
    [0.0943, 0.9916]
    """
    count, total = sum(map(bool, hits)), len(hits)
    low = 0.0 if count == 0 else float(beta.ppf(0.025, count, total - count + 1))
    high = 1.0 if count == total else float(beta.ppf(0.975, count + 1, total - count))
    return {"count": count, "of": total, "interval": [round(low, 4), round(high, 4)]}


def interval_text(share: dict[str, Any]) -> str:
    """The interval of a share in per cent.

    Examples
    --------
    >>> interval_text({"interval": [0.0943, 0.9998]})
    '9.43 to 99.98%'
    """
    low, high = (f"{100 * end:.4g}" for end in share["interval"])
    return f"{low} to {high}%"
