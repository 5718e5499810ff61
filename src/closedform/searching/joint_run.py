"""What engines find together within one budget: one front, one record of steps, one bar of
progress.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedform.basics.progress import Progress, Snapshot
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import Engine, SearchResult, Status
from closedform.searching.front import Front
from closedform.searching.space import SearchSpace


class JointRun:
    """One search by several engines.

    Parameters
    ----------
    clock : Clock
        Of the whole budget.
    field : GradientField
    space : SearchSpace
    rng : Generator
    progress : Progress
    """

    def __init__(
        self,
        clock: Clock,
        field: GradientField,
        space: SearchSpace,
        rng: np.random.Generator,
        progress: Progress,
    ) -> None:
        self.clock, self.field, self.space, self.rng = clock, field, space, rng
        self.bar = Bar(progress, clock)
        self.front = Front()
        self.status: Status = "finished"
        self.steps: list[dict[str, Any]] = []
        self.structure: Any = None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The front, to start from."""
        return tuple(candidate.expression for candidate in self.front)

    def ask(self, engine: Engine, budget: Budget) -> SearchResult:
        """Let one engine search, and keep what it found."""
        (rng,) = self.rng.spawn(1)
        began = self.clock.seconds
        self.bar.begin(budget, self.front)
        result = engine.search(self.field, self.space, budget, rng, self.bar)
        self.clock.evaluations += int(result.statistics.get("evaluations", 0))
        self.status = result.status
        self.structure = self.structure or result.structure
        self.front = self.front.merge(result.front)
        step = {"began": began, "lowest": self.front.lowest, "status": result.status}
        self.steps.append({**step, **result.statistics})
        return result

    def may_go_on(self) -> bool:
        """Whether there is budget left and nobody has interrupted."""
        return self.status != "interrupted" and self.clock.stop_reason(self.front.lowest) is None

    def result(self, remark: str | None) -> SearchResult:
        """The merged front, and which engine found what."""
        front = self.front
        statistics: dict[str, Any] = {
            "engine": "auto",
            "seconds": self.clock.seconds,
            "evaluations": self.clock.evaluations,
            "found_by": {str(candidate.expression): candidate.engine for candidate in front},
            "steps": self.steps,
        }
        if remark:
            statistics["remark"] = remark
        status = (
            self.status
            if self.status == "interrupted"
            else self.clock.stop_reason(self.front.lowest) or "finished"
        )
        return SearchResult(front, status, statistics, self.structure)


class Bar:
    """Progress over the whole budget: each engine's part of it is rescaled, and the bar never goes
    back.

    Parameters
    ----------
    progress : Progress
        Whom to tell.
    clock : Clock
        Of the whole budget.
    """

    def __init__(self, progress: Progress, clock: Clock) -> None:
        self.progress, self.clock = progress, clock
        self._done = self._start = 0.0
        self._extent = 1.0
        self._known: list[tuple[str, str]] = []

    def begin(self, budget: Budget, front: Front) -> None:
        """Another engine starts, with this part of the budget."""
        whole = self.clock.budget
        shares = [
            part / of
            for part, of in (
                (budget.seconds, whole.seconds),
                (budget.evaluations, whole.evaluations),
            )
            if part is not None and of is not None
        ]
        self._start, self._extent = self.clock.used, min(shares, default=0.0)
        self._known = [(str(c.complexity), f"{c.misalignment:.1e}  {c.expression}") for c in front]

    def show(self, snapshot: Snapshot) -> None:
        """Pass on an engine's news as news of the whole."""
        self._done = max(self._done, min(self._start + snapshot.done * self._extent, 1.0))
        seconds = self.clock.seconds
        left = seconds * (1 - self._done) / self._done if self._done > 0 else None
        details = _best_lines([*self._known, *snapshot.details])
        # One name for all steps: another one would begin another line.
        self.progress.show(
            replace(snapshot, step="auto", done=self._done, seconds_left=left, details=details)
        )

    def close(self) -> None:
        """One engine is done; the bar is closed by `finish`."""

    def finish(self) -> None:
        """All are done."""
        self.progress.close()


@dataclass(frozen=True, slots=True)
class OnlyTime:
    """Tells that a search goes on, without the formulas of an engine that sees other inputs than
    the user's.
    """

    progress: Progress
    clock: Clock  # of the whole search
    step: str

    def show(self, snapshot: Snapshot) -> None:
        """Pass on how far the search is."""
        self.progress.show(Snapshot(self.step, min(self.clock.used, 1.0)))

    def close(self) -> None:
        """One engine is done; the search is not."""


def _best_lines(lines: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Lines of rising complexity and falling misalignment."""
    kept: list[tuple[str, str]] = []
    lowest = np.inf
    for size, text in sorted(lines, key=lambda line: (int(line[0]), float(line[1].split("  ")[0]))):
        value = float(text.split("  ")[0])
        if value < lowest:
            kept.append((size, text))
            lowest = value
    return tuple(kept)
