"""The engine ``auto``: the term search first, then evolution from its front, then the terms that evolution found.

The term search is exact and quick where the concept is a sum of known terms; evolution finds what no library holds. Each starts
from what the other found.
"""

from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from closedform.expressions.expression import Expression
from closedform.expressions.tree import Tree
from closedform.field.gradient_field import GradientField
from closedform.progress import Progress
from closedform.search.budget import Budget, Clock
from closedform.search.engine import SearchResult, Status
from closedform.search.evolution.engine import Evolution
from closedform.search.front import Front
from closedform.search.space import SearchSpace
from closedform.search.terms.engine import TermSearch

PERFECT = 1e-10
"""A misalignment below this is rounding: nothing can be better, only simpler."""


@dataclass(frozen=True, slots=True)
class Portfolio:
    """Options of the portfolio.

    Attributes
    ----------
    terms : TermSearch
    evolution : Evolution
    first : float
        Share of the budget for the first term search.
    confirm : float
        Share for evolution after the term search has found a perfect fit: only something simpler could still come.
    last : float
        Share for the second term search, with evolution's parts in its library.
    parts : int
        How many parts of evolution's expressions enter the library.

    Examples
    --------
    >>> Portfolio().name
    'auto'
    """

    terms: TermSearch = field(default_factory=TermSearch)
    evolution: Evolution = field(default_factory=Evolution)
    first: float = 0.4
    confirm: float = 0.1
    last: float = 0.15
    parts: int = 60

    @property
    def name(self) -> str:
        """The name under which the engine is registered."""
        return "auto"

    def search(
        self, field: GradientField, space: SearchSpace, budget: Budget, rng: np.random.Generator, progress: Progress
    ) -> SearchResult:
        """Run both engines within one budget."""
        clock = budget.start()
        run = _Run(clock, field, space, rng, progress)
        run.ask(self.terms, budget.share(self.first), space)
        if not evolution_is_available():
            return run.result("pyoperon is not installed here; the term search ran alone")
        if run.may_go_on():
            exact = run.lowest <= PERFECT
            share = self.confirm if exact else 1 - self.first - self.last
            limit = (
                _smaller(clock.remaining(), budget.share(share)) if exact else _without(clock.remaining(), budget, self.last)
            )
            run.ask(replace(self.evolution, seeds=(*self.evolution.seeds, *run.expressions())), limit, space)
            if not exact and run.may_go_on():
                terms = (*space.terms, *parts(run.front, self.parts))
                run.ask(self.terms, clock.remaining(), replace(space, terms=terms))
        return run.result(None)


class _Run:
    """What the engines have found together."""

    def __init__(
        self, clock: Clock, field: GradientField, space: SearchSpace, rng: np.random.Generator, progress: Progress
    ) -> None:
        self.clock, self.field, self.space, self.rng, self.progress = clock, field, space, rng, progress
        self.front = Front()
        self.status: Status = "finished"
        self.steps: list[dict[str, Any]] = []

    @property
    def lowest(self) -> float:
        return self.front.best.misalignment if self.front.best else 1.0

    def ask(self, engine: TermSearch | Evolution, budget: Budget, space: SearchSpace) -> None:
        """Let one engine search, and keep what it found."""
        (rng,) = self.rng.spawn(1)
        began = self.clock.seconds
        result = engine.search(self.field, space, budget, rng, self.progress)
        self.clock.evaluations += int(result.statistics.get("evaluations", 0))
        self.front = self.front.merge(result.front)
        self.status = result.status
        self.steps.append({"began": began, "lowest": self.lowest, "status": result.status, **result.statistics})

    def may_go_on(self) -> bool:
        """Whether there is budget left and nobody has interrupted."""
        return self.status != "interrupted" and self.clock.stop_reason(self.lowest) is None

    def expressions(self) -> tuple[Expression, ...]:
        """The front, to start from."""
        return tuple(candidate.expression for candidate in self.front)

    def result(self, remark: str | None) -> SearchResult:
        """The merged front, and which engine found what."""
        found_by = {str(candidate.expression): candidate.engine for candidate in self.front}
        statistics: dict[str, Any] = {
            "engine": "auto",
            "seconds": self.clock.seconds,
            "evaluations": self.clock.evaluations,
            "found_by": found_by,
            "steps": self.steps,
        }
        if remark:
            statistics["remark"] = remark
        status = self.status if self.status == "interrupted" else self.clock.stop_reason(self.lowest) or "finished"
        return SearchResult(self.front, status, statistics)


def evolution_is_available() -> bool:
    """Whether pyoperon is installed."""
    return find_spec("pyoperon") is not None


def parts(front: Front, count: int) -> tuple[Expression, ...]:
    """Subexpressions of the front that hold an input and more than one node, those of the best candidates first."""
    found: dict[Tree, None] = {}
    names: tuple[str, ...] = ()
    for candidate in reversed(front.candidates):
        names = candidate.expression.names
        pending = [candidate.expression.tree]
        while pending:
            tree = pending.pop()
            if tree.size > 1 and not tree.is_constant:
                found.setdefault(tree)
                pending += tree.children
    return tuple(Expression(tree, names) for tree in list(found)[:count])


def _smaller(first: Budget, second: Budget) -> Budget:
    seconds = [b.seconds for b in (first, second) if b.seconds is not None]
    evaluations = [b.evaluations for b in (first, second) if b.evaluations is not None]
    return Budget(min(seconds, default=None), min(evaluations, default=None), first.target)


def _without(remaining: Budget, whole: Budget, share: float) -> Budget:
    """What remains, less a share of the whole that is kept for later."""
    kept = whole.share(share)
    seconds = None if remaining.seconds is None else max(remaining.seconds - (kept.seconds or 0.0), 1e-3)
    evaluations = None if remaining.evaluations is None else max(remaining.evaluations - (kept.evaluations or 0), 1)
    return Budget(seconds, evaluations, remaining.target)
