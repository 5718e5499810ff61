"""Read problems one after another, and count: how many are right, how many verified, how many of
these right.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

import closedform as cf
from closedform.searching.budget import Budget
from closedform_bench.formulas.drawn_forms import draw_forms
from closedform_bench.formulas.feynman import EQUATIONS
from closedform_bench.formulas.grammar import draw_problems
from closedform_bench.formulas.problem import Problem, exact_field
from closedform_bench.formulas.scoring import is_right
from closedform_bench.formulas.surrogates import Half, surrogate_problems
from closedform_bench.invariants.bench_task import BenchTask, Content

FormulaSuite = Literal["feynman", "random", "forms", "surrogates"]
FormulaTrack = Literal["exact", "network"]

BUDGET = 12.0
"""Seconds for each reading."""


@dataclass(frozen=True, slots=True)
class FormulaPlan:
    """What is read, and how.

    Attributes
    ----------
    suite : {'feynman', 'random', 'forms', 'surrogates'}
    track : {'exact', 'network'}
        The truth's own directions, or those of a small network that was trained on its values.
    noise : float
        Degrees by which exact directions are turned.
    systems : tuple of str
        Names of problems; all by default.
    seed : int
        Of points, networks and searches, and of the suites `random` and `forms` themselves.
    count : int
        Problems of the suites `random` and `forms`.
    budget : float
    half : {'seen', 'unseen'}
        Of the suite `surrogates`; while the search is built, the unseen half is not read.
    """

    suite: FormulaSuite
    track: FormulaTrack = "exact"
    noise: float = 0.0
    systems: tuple[str, ...] = ()
    seed: int = 0
    count: int = 60
    budget: float = BUDGET
    half: Half = "seen"

    def problems(self) -> list[Problem]:
        """The problems, in order."""
        every = self._every_problem()
        unknown = set(self.systems) - {problem.name for problem in every}
        if unknown:
            raise cf.ClosedformError(
                f"The suite {self.suite} has no problem {sorted(unknown)[0]!r}; leave --systems "
                "out to run all."
            )
        return [problem for problem in every if not self.systems or problem.name in self.systems]

    def _every_problem(self) -> list[Problem]:
        if self.suite == "feynman":
            return [Problem(name, *entry) for name, entry in EQUATIONS.items()]
        if self.suite == "surrogates":
            return surrogate_problems(self.half)
        draw = draw_forms if self.suite == "forms" else draw_problems
        return draw(self.count, self.seed)

    def tasks(self) -> list[BenchTask]:
        """One task for each problem."""
        return [
            BenchTask(self._content(problem), partial(self._row, problem))
            for problem in self.problems()
        ]

    def _content(self, problem: Problem) -> Content:
        return {
            "suite": self.suite, "track": self.track, "system": problem.name,
            "truth": problem.truth, "seed": self.seed,
            "noise": self.noise, "budget": self.budget,
        }  # fmt: skip

    def _row(self, problem: Problem) -> Any:
        """Read one problem; the reading sees the field alone."""
        rng = np.random.default_rng([self.seed, *problem.name.encode()])
        row: dict[str, Any] = {
            "name": problem.name,
            "truth": problem.truth,
            "inputs": len(problem.ranges),
        }
        if problem.kind:
            row["kind"] = problem.kind
        if self.track == "network":
            from closedform_bench.formulas.trained import (
                CARRIED,
                carried,
                network_field,
                varied_network_field,
            )  # brings torch

            if self.suite in ("feynman", "random"):
                field = network_field(problem, rng)
            else:
                field, row["network"] = varied_network_field(problem, rng)
            row["carried"] = carried(problem, field)
            row["learned"] = row["carried"] <= CARRIED
        else:
            field = exact_field(problem, rng, degrees=self.noise)
        clock = Budget(seconds=self.budget).start()
        answer = cf.interpret_field(field, budget=self.budget, rng=self.seed, progress=False)
        seconds = clock.seconds
        nearly = self.track == "network" or self.noise > 0
        return row | {
            "found": None if answer.concept is None else str(answer.concept),
            "status": answer.verdict.status,
            "right": is_right(problem, answer.concept, approximately=nearly),
            "seconds": round(seconds, 3),
        }


def formula_summary(plan: FormulaPlan, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The object that ``--json`` prints."""
    result = {
        "suite": plan.suite,
        "track": plan.track,
        "noise": plan.noise,
        "seed": plan.seed,
        "problems": list(rows),
        **_counts(rows),
        "median_seconds": round(statistics.median(row["seconds"] for row in rows), 3)
        if rows
        else None,
    }
    kinds = dict.fromkeys(row["kind"] for row in rows if "kind" in row)
    if kinds:
        result["kinds"] = {
            kind: _counts([row for row in rows if row["kind"] == kind]) for kind in kinds
        }
    if plan.track == "network":
        learned = [row for row in rows if row["learned"]]
        result |= {"learned": len(learned), "learned_right": sum(row["right"] for row in learned)}
    return result


def _counts(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    verified = [row["right"] for row in rows if row["status"] == "verified"]
    return {
        "right": sum(row["right"] for row in rows),
        "of": len(rows),
        "verified": len(verified),
        "verified_right": sum(verified),
    }
