"""The engine ``auto``: structure, then the term search, then evolution from its front.

The search by structure comes first: it is quick, and where it ends with a formula as good as the
field, nothing else runs. Only a look at short sums comes before it where there are many inputs,
since structure takes longer there. The term search is exact and quick where the concept is a sum of
known terms; evolution finds what no library holds, and starts from what the terms found. Before
that the field is looked at: inputs that do not matter are left out, inputs that enter through one
combination are taken together, and the parts of a separable concept are searched for one by one.
"""

import logging
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from closedform.basics.progress import Progress
from closedform.basics.threads import single_threaded
from closedform.errors import shown
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import signed_terms
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.compilation import compile_engines
from closedform.searching.engine import SearchResult
from closedform.searching.evolution import operon
from closedform.searching.evolution.evolution_engine import Evolution
from closedform.searching.front import Front
from closedform.searching.input_structure import find_structure
from closedform.searching.joint_run import JointRun, View
from closedform.searching.separable import Separation, find_separation, parts_of
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.structure_engine import StructureSearch
from closedform.searching.structure_search.structure_run import MUCH_BETTER
from closedform.searching.terms.term_engine import TermSearch
from closedform.searching.tolerances import RESOLVED

_logger = logging.getLogger(__name__)

_SETTLE_CONFIRM, _SETTLE_PART, _WIDER = 8, 5, 4
_LAST_OF_FRONT = 4
"""So many of the best candidates for a part of a separable concept lend their summands to the term
library.
"""


MANY_INPUTS = 5
"""From so many inputs on, a look at sums of few terms is quicker than looking for structure."""

NOISE_FACTOR = 1.1
"""A misalignment within this factor of what the directions' noise causes leaves nothing to explain,
only to simplify.
"""


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
        Largest number of terms in the first search and in those for parts, which use the first
        library only.
    confirm : float
        Share for evolution after the term search has found a perfect fit: only something simpler
        could still come.
    apart : float
        Share for the parts of a separable concept together.
    reduced : float
        Share for the field without the inputs that do not matter, if there are such; what is left
        is for the whole field, and only used if nothing fits perfectly.
    structure : StructureSearch or None
        Runs first; None leaves it out.
    look : float
        Share for a first look at sums of few terms of many inputs before it: where one is exact,
        nothing else runs.
    structured : float
        Share for it; a field in which it sees no structure costs a third of that.
    beside : float
        Share for sums of terms where it has found a formula as good as a network's bias.

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
    apart: float = 0.4
    reduced: float = 0.8
    structure: StructureSearch | None = field(default_factory=StructureSearch)
    look: float = 0.03
    structured: float = 0.7
    beside: float = 0.2

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
        run = JointRun(clock, View(field, space), rng, progress)
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
        whole = run.whole
        if self.structure is not None and (
            self._search_short_sums(run) or self._search_by_structure(run, self.structure)
        ):
            return
        if not self._is_solved_up_to_bias(run):
            self._search_by_others(run, can_evolve=can_evolve)
            return
        # Sums of plain terms are short, so they may compete; what evolution adds would fit the bias
        # and nothing else, unless it is exact.
        run.ask(self._small_terms, whole, run.clock.budget.share(self.beside))
        known = whole.front
        if run.may_go_on():
            self._search_by_others(run, can_evolve=can_evolve)
        if whole.lowest > MUCH_BETTER * known.lowest:
            whole.front = known

    def _search_short_sums(self, run: JointRun) -> bool:
        """Whether a look at many inputs finds an exact sum of fewer terms than inputs: in such a
        sum nothing is multiplied out that structure would show.
        """
        if len(run.whole.field.names) < MANY_INPUTS:
            return False
        run.ask(self._small_terms, run.whole, run.clock.budget.share(self.look))
        best = run.whole.front.best
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

    def _search_by_others(self, run: JointRun, *, can_evolve: bool) -> None:
        whole = run.whole
        structure = find_structure(whole.field)
        run.sentences += structure.sentences
        # A template speaks of the user's inputs.
        if not structure.is_trivial and not whole.space.templates:
            is_plain = all(len(group) == 1 for group in structure.groups)
            reduced = View(
                structure.reduce(whole.field),
                structure.restrict(whole.space),
                structure.expand,
                is_plain,
            )
            self._search_view(
                run, reduced, run.clock.budget.share(self.reduced), can_evolve=can_evolve
            )
            if whole.lowest <= PERFECT or not run.may_go_on():
                return
        self._search_view(run, whole, run.clock.remaining(), can_evolve=can_evolve)

    def _search_by_structure(self, run: JointRun, engine: StructureSearch) -> bool:
        """Whether nothing is left to search for afterwards."""
        result = run.ask(engine, run.whole, run.clock.budget.share(self.structured))
        return bool(result.statistics.get("is_solved")) or not run.may_go_on()

    def _search_view(self, run: JointRun, view: View, budget: Budget, *, can_evolve: bool) -> None:
        """Terms, the parts of a separable concept, and evolution, on one field."""
        stage = _Stage(run, budget)
        enough = max(PERFECT, NOISE_FACTOR * resolved_noise(view.field))
        goal = max(enough, budget.target or 0.0)
        first = budget.share(self.first if can_evolve else 1.0)
        # A sum of terms that is perfect ends that search by itself, at its own pace.
        first = replace(first, target=goal) if goal > PERFECT else first
        run.ask(self._small_terms if can_evolve else self.terms, view, first)
        if not can_evolve or not stage.may_go_on():
            return
        if view.lowest > enough:
            self._search_parts(run, view, stage)
            if not stage.may_go_on():
                return
        evolution = replace(self.evolution, seeds=(*self.evolution.seeds, *view.expressions))
        limit = stage.left()
        if view.lowest <= enough:
            limit = replace(limit.within(budget.share(self.confirm)), target=goal)
            evolution = replace(evolution, settle=min(evolution.settle, _SETTLE_CONFIRM))
        run.ask(evolution, view, limit)

    def _search_parts(self, run: JointRun, view: View, stage: "_Stage") -> None:
        """Search for the parts of a separable concept one by one, and give what is found to the
        term search.
        """
        can_separate = not view.space.templates and view.space.allows_operator("add")
        separation = find_separation(view.field) if can_separate else None
        if separation is None:
            return
        run.sentences.append(separation.sentence)
        found: dict[Expression, None] = {}
        apart = _Stage(run, stage.budget.share(self.apart))
        for index, block in enumerate(separation.blocks):
            if not (apart.may_go_on() and stage.may_go_on()):
                break
            share = 1 / (len(separation.blocks) - index)
            limit = apart.left().within(stage.left()).share(share)
            front = self._search_part(run, view, separation, index, limit)
            trees = [candidate.expression.tree for candidate in front.candidates[-_LAST_OF_FRONT:]]
            names = tuple(view.field.names[column] for column in block)
            for tree in parts_of(trees, len(block)):
                found.setdefault(Expression(tree, names).rename(view.field.names))
        if found and stage.may_go_on():
            # A library of what was found and nothing else, in which no better fit of few terms can
            # hide the answer.
            only = replace(self.terms, stages=(1,))
            run.ask(
                only, view, stage.left(), replace(view.space, terms=(*view.space.terms, *found))
            )

    def _search_part(
        self, run: JointRun, view: View, separation: Separation, index: int, limit: Budget
    ) -> Front:
        """Terms, then evolution, on one part beside an input that stands for the others."""
        part = separation.part(view.field, index, run.rng)
        space = view.space.over(part.names)
        form = f"f({', '.join(f'`{name}`' for name in part.names[:-1])}) + {separation.others}"
        # Slopes come from a fit: what is as good as the fit cannot be told from the truth.
        goal = max(3 * separation.misalignment, 1e-12)
        half = replace(limit.share(0.5), target=goal)
        # The library of a part is small, so the beam may be wide.
        wide = replace(self._small_terms, width=_WIDER * self.terms.width)
        front = run.consult(wide, part, replace(space, templates=[form]), half).front
        if not run.may_go_on() or (front.best is not None and front.best.misalignment <= goal):
            return front
        quick = replace(self.evolution, settle=min(self.evolution.settle, _SETTLE_PART))
        return front.merge(run.consult(quick, part, space, half).front)

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


class _Stage:
    """A part of the run with a budget of its own."""

    def __init__(self, run: JointRun, budget: Budget) -> None:
        self.run, self.budget, self._clock = run, budget, budget.start()
        self._before = run.clock.evaluations

    def left(self) -> Budget:
        """What is left."""
        self._clock.evaluations = self.run.clock.evaluations - self._before
        return self._clock.remaining()

    def may_go_on(self) -> bool:
        """Whether this budget and that of the whole run last, and nobody has interrupted."""
        self.left()
        return self.run.may_go_on() and self._clock.stop_reason(self.run.whole.lowest) is None


def resolved_noise(field: GradientField) -> float:
    """The misalignment that the directions' noise causes, or 0 where the points lie too far from
    each other to tell.
    """
    resolution = field.quality.noise_resolution_degrees
    return (
        field.quality.noise_misalignment
        if resolution is not None and resolution <= RESOLVED
        else 0.0
    )
