"""The engine ``auto``: structure, then the term search, then evolution from its front.

The search by structure comes first: it is quick, and where it ends with a formula as good as the
field, nothing else runs. Only a look at short sums comes before it where there are many inputs,
since structure takes longer there. The term search is exact and quick where the concept is a sum of
known terms; evolution finds what no library holds, and starts from what the terms found.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from closedform.basics.progress import Progress, Snapshot
from closedform.basics.threads import single_threaded
from closedform.errors import shown
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import signed_terms
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import Engine, SearchResult, Status
from closedform.searching.evolution import operon
from closedform.searching.evolution.evolution_engine import Evolution, compile_evolution
from closedform.searching.front import Front
from closedform.searching.pieces import Pieces
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.loss_tolerances import resolved_noise
from closedform.searching.structure_search.merges import compile_structure
from closedform.searching.structure_search.structure_engine import StructureSearch
from closedform.searching.structure_search.structure_run import MUCH_BETTER
from closedform.searching.terms.term_engine import TermSearch
from closedform.searching.terms.term_run import compile_terms
from closedform.searching.values.value_sums import ValueSums

_logger = logging.getLogger(__name__)

_SETTLE_CONFIRM = 8
"""Generations without a simpler answer after which evolution beside a perfect fit ends."""

MANY_INPUTS = 5
"""From so many inputs on, a look at sums of few terms is quicker than looking for structure."""

NOISE_FACTOR = 1.1
"""A misalignment within this factor of what the directions' noise causes leaves nothing to explain,
only to simplify.
"""


class JointRun:
    """What engines find together within one budget: one front, one record of steps, one bar."""

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


@dataclass(frozen=True, slots=True)
class Portfolio:
    """Options of the portfolio.

    Attributes
    ----------
    terms : TermSearch
    evolution : Evolution
    first : float
        Share of the budget for the first term search.
    small : int
        Largest number of terms in the first search, which uses the first two libraries only.
    confirm : float
        Share for evolution after the term search has found a perfect fit: only something simpler
        could still come.
    structure : StructureSearch or None
        Runs first; None leaves it out.
    look : float
        Share for a first look at sums of few terms of many inputs before it: where one is exact,
        nothing else runs.
    structured : float
        Share for it; where nothing merges exactly, three quarters of that, and a third where it
        sees no structure.
    beside : float
        Share for sums of terms where it has found a formula as good as a network's bias.
    values : ValueSums or None
        Sums that the latent's values propose, where they are known; None leaves them out.
    heard : float
        Share for them.

    Examples
    --------
    >>> Portfolio().name
    'auto'
    """

    terms: TermSearch = field(default_factory=TermSearch)
    evolution: Evolution = field(default_factory=Evolution)
    first: float = 0.4
    small: int = 8
    confirm: float = 0.1
    structure: StructureSearch | None = field(
        default_factory=lambda: StructureSearch(pieces=Pieces(), inexact=0.75)
    )
    look: float = 0.03
    structured: float = 0.95
    beside: float = 0.2
    values: ValueSums | None = field(default_factory=ValueSums)
    heard: float = 0.35

    @property
    def name(self) -> str:
        """The name under which the engine is registered."""
        return "auto"

    @single_threaded
    def search(
        self,
        field: GradientField,
        space: SearchSpace,
        budget: Budget,
        rng: np.random.Generator,
        progress: Progress,
    ) -> SearchResult:
        """Run the engines within one budget."""
        space.check_inputs(field.names)
        missing = operon.why_unavailable()
        compile_engines()
        clock = budget.start()
        run = JointRun(clock, field, space, rng, progress)
        try:
            self._search(run, can_evolve=missing is None)
        except KeyboardInterrupt:
            run.status = "interrupted"
        finally:
            run.bar.finish()
        if missing is None:
            return run.result(None)
        _say_once(missing)
        return run.result(f"pyoperon cannot be used here ({missing}); the term search ran alone")

    def _search(self, run: JointRun, *, can_evolve: bool) -> None:
        if self.values is not None and run.field.has_values and run.field.held is None:
            run.ask(self.values, run.clock.budget.share(self.heard))
        if self.structure is not None and (
            self._search_short_sums(run) or self._search_by_structure(run, self.structure)
        ):
            return
        if not self._is_solved_up_to_bias(run):
            self._search_by_others(run, can_evolve=can_evolve)
            return
        # Sums of plain terms are short, so they may compete; what evolution adds would fit the bias
        # and nothing else, unless it is exact.
        run.ask(self._small_terms, run.clock.budget.share(self.beside))
        known = run.front
        if run.may_go_on():
            self._search_by_others(run, can_evolve=can_evolve)
        if run.front.lowest > MUCH_BETTER * known.lowest:
            run.front = known

    def _search_short_sums(self, run: JointRun) -> bool:
        """Whether a look at many inputs finds an exact sum of fewer terms than inputs: in such a
        sum nothing is multiplied out that structure would show.
        """
        if len(run.field.names) < MANY_INPUTS:
            return False
        run.ask(self._small_terms, run.clock.budget.share(self.look))
        best = run.front.best
        return (
            best is not None
            and best.misalignment <= PERFECT
            and len([*signed_terms(best.expression.tree)]) < len(best.expression.tree.variables)
        )

    def _is_solved_up_to_bias(self, run: JointRun) -> bool:
        """Whether the search by structure ended with a formula as good as what seems a network's
        bias: then only an exact one is still looked for.
        """
        return bool(run.steps and run.steps[-1].get("is_solved_up_to_bias"))

    def _search_by_structure(self, run: JointRun, engine: StructureSearch) -> bool:
        """Whether nothing is left to search for afterwards."""
        result = run.ask(engine, run.clock.budget.share(self.structured))
        return bool(result.statistics.get("is_solved")) or not run.may_go_on()

    def _search_by_others(self, run: JointRun, *, can_evolve: bool) -> None:
        """Terms, and evolution."""
        budget = run.clock.remaining()
        enough = max(PERFECT, NOISE_FACTOR * resolved_noise(run.field.quality))
        goal = max(enough, budget.target or 0.0)
        first = budget.share(self.first if can_evolve else 1.0)
        # A sum of terms that is perfect ends that search by itself, at its own pace.
        first = replace(first, target=goal) if goal > PERFECT else first
        run.ask(self._small_terms if can_evolve else self.terms, first)
        if not can_evolve or not run.may_go_on():
            return
        evolution = replace(self.evolution, seeds=(*self.evolution.seeds, *run.expressions))
        limit = run.clock.remaining()
        if run.front.lowest <= enough:
            limit = replace(limit.within(budget.share(self.confirm)), target=goal)
            evolution = replace(evolution, settle=min(evolution.settle, _SETTLE_CONFIRM))
        run.ask(evolution, limit)

    @property
    def _small_terms(self) -> TermSearch:
        return replace(
            self.terms,
            stages=self.terms.stages[:2],
            max_terms=min(self.terms.max_terms, self.small),
        )


@cache
def _say_once(missing: str) -> None:
    """Tell it to whoever reads logs, and to a terminal: a process searches many times."""
    _logger.warning(
        "The engine 'auto' runs without evolution: pyoperon cannot be used here (%s).",
        shown(missing),
    )


@cache
def compile_engines() -> None:
    """Call every compiled function of the engines that can run here once, before a clock starts."""
    compile_terms()
    compile_structure()
    if operon.why_unavailable() is None:
        compile_evolution()
