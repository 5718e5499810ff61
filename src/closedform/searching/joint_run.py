"""What engines find together within one budget: one front in the user's inputs, one record of
steps, one bar of progress.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedform.basics.progress import Progress, Snapshot
from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.tape import compile_tapes
from closedform.field.alignment.comparison import comparison_of
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import Engine, SearchResult, Status
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace

NOTHING = Front()


@dataclass
class View:
    """A field to search, which may have fewer inputs than the user's, and what was found in its
    inputs.

    Attributes
    ----------
    field : GradientField
    space : SearchSpace
    expand : callable or None
        From its inputs to the user's; None if they are the same.
    is_plain : bool
        Whether its inputs are some of the user's, so that what it finds can be shown as it is.
    front : Front
    """

    field: GradientField
    space: SearchSpace
    expand: Callable[[Expression], Expression] | None = None
    is_plain: bool = True
    front: Front = NOTHING

    @property
    def lowest(self) -> float:
        """The lowest misalignment."""
        return self.front.lowest

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The front, to start from."""
        return tuple(candidate.expression for candidate in self.front)


class JointRun:
    """One search by several engines.

    Parameters
    ----------
    clock : Clock
        Of the whole budget.
    whole : View
        The user's field.
    rng : Generator
    progress : Progress
    """

    def __init__(
        self, clock: Clock, whole: View, rng: np.random.Generator, progress: Progress
    ) -> None:
        self.clock, self.whole, self.rng = clock, whole, rng
        self.bar = Bar(progress, clock)
        self.status: Status = "finished"
        self.steps: list[dict[str, Any]] = []
        self.sentences: list[str] = []
        self.structure: Any = None

    def ask(
        self, engine: Engine, view: View, budget: Budget, space: SearchSpace | None = None
    ) -> SearchResult:
        """Let one engine search a view, and keep what it found."""
        self.bar.shows_news = view.is_plain
        result = self._run(engine, view.field, space or view.space, budget, view.expand)
        view.front = view.front.merge(result.front)
        if view is not self.whole:
            expand = view.expand or (lambda expression: expression)
            found = rewritten(result.front, expand, self.whole.field, self.whole.space)
            self.whole.front = self.whole.front.merge(found)
        self.steps[-1]["lowest"] = self.whole.lowest
        return result

    def consult(
        self, engine: Engine, searched: GradientField, space: SearchSpace, budget: Budget
    ) -> SearchResult:
        """Let one engine search any field; what it finds is no answer yet, and is not shown."""
        self.bar.shows_news = False
        return self._run(engine, searched, space, budget, None)

    def _run(
        self, engine: Engine, searched: GradientField, space: SearchSpace, budget: Budget,
        expand: Callable[[Expression], Expression] | None,
    ) -> SearchResult:  # fmt: skip
        (rng,) = self.rng.spawn(1)
        began = self.clock.seconds
        self.bar.begin(budget, self.whole.front)
        result = engine.search(searched, space, budget, rng, self.bar)
        self.clock.evaluations += int(result.statistics.get("evaluations", 0))
        self.status = result.status
        self.structure = self.structure or result.structure
        statistics = dict(result.statistics)
        for key in ("concepts", "others"):
            if expand is not None and key in statistics:
                statistics[key] = [
                    str(expand(parse(text, searched.names))) for text in statistics[key]
                ]
        step = {
            "inputs": list(searched.names),
            "began": began,
            "lowest": self.whole.lowest,
            "status": result.status,
        }
        self.steps.append({**step, **statistics})
        return result

    def may_go_on(self) -> bool:
        """Whether there is budget left and nobody has interrupted."""
        return self.status != "interrupted" and self.clock.stop_reason(self.whole.lowest) is None

    def result(self, remark: str | None) -> SearchResult:
        """The merged front, and which engine found what."""
        front = self.whole.front
        statistics: dict[str, Any] = {
            "engine": "auto",
            "seconds": self.clock.seconds,
            "evaluations": self.clock.evaluations,
            "structure": list(self.sentences),
            "found_by": {str(candidate.expression): candidate.engine for candidate in front},
            "steps": self.steps,
        }
        if remark:
            statistics["remark"] = remark
        status = (
            self.status
            if self.status == "interrupted"
            else self.clock.stop_reason(self.whole.lowest) or "finished"
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
        self.shows_news = True
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
        details = _best_lines([*self._known, *(snapshot.details if self.shows_news else ())])
        # One name for all steps: another one would begin another line.
        self.progress.show(
            replace(snapshot, step="auto", done=self._done, seconds_left=left, details=details)
        )

    def close(self) -> None:
        """One engine is done; the bar is closed by `finish`."""

    def finish(self) -> None:
        """All are done."""
        self.progress.close()


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


def rewritten(
    front: Front,
    expand: Callable[[Expression], Expression],
    field: GradientField,
    space: SearchSpace,
) -> Front:
    """Candidates in the user's inputs, judged on the user's field: what a view left out counts
    again.
    """
    written = [(expand(candidate.expression), candidate) for candidate in front.all]
    # Inputs that were taken together may not all stand where one of them may.
    if space.inside or space.legality is not None:
        written = [pair for pair in written if space.allows(pair[0].tree, field.names)]
    if not written:
        return Front()
    tapes = compile_tapes([expression.tree for expression, _ in written])
    values, _ = comparison_of(field).misalignments(tapes)
    sizes = [complexity(expression.tree, space.costs) for expression, _ in written]
    judged = zip(written, values.tolist(), sizes, strict=True)
    return Front.of(
        Candidate(expression, value, size, candidate.engine)
        for (expression, candidate), value, size in judged
        if value < 1 and size <= space.max_complexity
    )
