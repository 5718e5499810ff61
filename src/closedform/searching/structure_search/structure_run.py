"""One search by structure: merge what merges, read the rest by other engines, fit everything on the
whole field.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.progress import Progress, Snapshot
from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Tree
from closedform.field.alignment.refit import refit
from closedform.field.alignment.tolerances import PERFECT, ROUNDING
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import Decomposition, Engine, SearchResult, Status
from closedform.searching.evolution import operon
from closedform.searching.front import Candidate, Front
from closedform.searching.products import powers_distributed
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.decomposition_beam import (
    DecompositionBeam,
    ExactFieldError,
)
from closedform.searching.structure_search.finder import Finder, OutOfTimeError
from closedform.searching.structure_search.loss_tolerances import EXACT, find_levels
from closedform.searching.structure_search.power_laws import first_shots
from closedform.searching.structure_search.quantities import (
    Data,
    State,
    decompose,
    first_state,
    make_quantity,
)
from closedform.searching.structure_search.quotients import quotients
from closedform.searching.structure_search.small_fields import (
    OnlyTime,
    in_inputs,
    inputs_that_matter,
    interferences,
    promising_sets,
    reduced_field,
)

if TYPE_CHECKING:
    from closedform.searching.structure_search.structure_engine import StructureSearch


COMPLETE, PARTS = 12, 2
"""States of one quantity that become formulas, and states of each other size whose quantities
do.
"""

MUCH_BETTER = 0.1
"""What is found after a formula as good as the bias has to be this much better: a richer one fits
some of the bias.
"""

ALONE = 1 / 3
"""Share of the budget after which a field without structure is given up."""

LOOK, LOOKED_AT = 0.2, 4
"""Share for a first look at sums of a field in which nothing merges exactly, and inputs from which
on it is left to the engines that come later.
"""

SETS, FORMULAS = 4, 3
"""Small fields that are read, and formulas of each that are tried."""


class StructureRun:
    """What one search found so far."""

    def __init__(
        self, options: "StructureSearch", field: GradientField, space: SearchSpace, clock: Clock,
        rng: np.random.Generator, progress: Progress,
    ) -> None:  # fmt: skip
        self.options, self.field, self.space, self.clock = options, field, space, clock
        self.rng, self.progress = rng, progress
        self.status: Status = "finished"
        self.front = Front()
        self.data = Data.of(field, options.points, rng)
        self.start = first_state(self.data)
        self.unused: tuple[str, ...] = ()
        self.finder = Finder(self.data, space, clock, options.apart, self._exact_sums, self._show)
        self.beam = DecompositionBeam(self.finder)
        self.levels = EXACT
        self.is_known = True
        self._judged: set[Tree] = set()

    def go(self) -> None:
        """Merge, read, and merge what was read."""
        self._show()
        self._keep(first_shots(self.data, self._may_go_on))
        try:
            has_latents = self.field.latents is not None
            levels = find_levels(self.finder, self.start, self.field.quality, has_latents)
        except OutOfTimeError:
            return
        self.levels, self.is_known = levels, levels.is_known
        if levels is not EXACT:
            # Only where quantities merge exactly it is known that this is the way.
            self.clock.budget = self.clock.budget.share(self.options.inexact)
        if self.options.exactly:
            self.beam.is_thorough = False
            self._merge_at(ROUNDING, self.options.apart)
            return
        if levels is not EXACT and self.start.size < LOOKED_AT:
            # Of few inputs a short sum that no merge shows is found in a third of a second; what
            # follows may take all the time of a short budget, and would be judged without it.
            self._ask(self.options.terms, self.start, self._share(LOOK), keep=True)
        for number, (level, share) in enumerate(levels.steps):
            if level > ROUNDING:
                with suppress(OutOfTimeError):
                    self.beam.add_lossy(self.start)
            share = self.options.apart if share is None else share
            self.beam.is_thorough = level > ROUNDING
            if self._is_enough_at(level, share):
                return
            # A trained network follows neither side of a minimum exactly.
            if number == 0 and not has_latents:
                self._read_pieces()
                if self.front.lowest <= PERFECT:
                    return
            if level <= ROUNDING and any(good.size < self.start.size for (good,) in self._good(1)):
                self.levels, self.beam.is_thorough = EXACT, True
                if self._is_enough_at(level, share):
                    return
                break
        levels = self.levels
        if levels.is_biased and levels.is_structured and self._is_solved():
            if self.front.lowest > PERFECT:
                self._read_exactly()
            return
        self._read_what_is_left()
        if not levels.is_structured and self._may_go_on():
            self._merge_at(levels.bias, self.options.apart)

    def _read_exactly(self) -> None:
        """Look for an exact answer where one was found up to what seems a network's bias: only one
        that is much better takes its place.
        """
        known, self.is_known = self.front, False
        self._set_level(ROUNDING)
        lowest = self.front.lowest
        self._read_what_is_left()
        self.is_known = True
        if self.front.lowest > MUCH_BETTER * lowest:
            self.front = known
            self._set_level(self.levels.bias)

    def _read_pieces(self) -> None:
        """Minima and maxima of two formulas, each of which is exact on its side."""
        engine = self.options.pieces
        if engine is None or self.clock.stop_reason(self.front.lowest) is not None:
            return
        found = self._searched(engine, self.field, self.space, self._share(self.options.divided))
        self.front = self.front.merge(found.front)

    def _good(self, count: int) -> Iterator[list[State]]:
        """The best states that lose nothing, so many of each number of quantities, few first."""
        for size in reversed(self.beam.sizes):
            best = self.beam.best(size, count)
            if good := [state for state in best if self.finder.is_good(state, self.start)]:
                yield good

    def _is_enough_at(self, level: float, share: float) -> bool:
        # What is solved up to a bias may still have an exact answer.
        self._merge_at(level, share)
        return self.front.lowest <= PERFECT if self.levels.is_biased else not self._may_go_on()

    def _merge_at(self, level: float, share: float) -> None:
        """Merge what loses no more than a level, until a share of the budget is used."""
        self._set_level(level)
        self.finder.share = share
        used = inputs_that_matter(self.data, self.finder.level)
        if len(used) < self.start.size:
            self._divide_without(used)
            if self.unused:
                return
        self._divide(self.start)

    def _set_level(self, level: float) -> None:
        """What a true merge may lose from now on, and how descriptions are measured then."""
        yardstick = self.levels.yardstick(level)
        self.finder.data = replace(self.data, yardstick=yardstick)
        self.beam.set_level(level)

    def _read_what_is_left(self) -> None:
        """Let the other engines read states of few quantities."""
        left = self._left()
        for state in left:
            # Without any structure the other engines do as well on the inputs as they are: most of
            # the budget is left to them.
            is_early = state.size < self.start.size or self.clock.used <= ALONE
            if not is_early and not self.levels.is_structured:
                return
            if is_early:
                self._read_whole(state)
            if not self.finder.is_exact and self._may_go_on():
                self._keep(quotients(self.data, state, self._may_go_on))
            if state.size > 2 and self._may_go_on():
                self._read_parts(state)
            if not self._may_go_on():
                return
        if operon.why_unavailable() is None:
            for state in self._left()[:1]:
                limit = self.clock.remaining()
                if state.size == self.start.size:
                    if self.clock.used > ALONE:
                        return
                    limit = self._share(max(ALONE - self.clock.used, 0.01))
                self._ask(self.options.evolution, state, limit, keep=True)

    def _divide_without(self, used: list[int]) -> None:
        """Leave out the inputs that seem not to matter, and take them back if that leads to
        nothing.
        """
        whole, self.start = self.start, first_state(self.data, used)
        self.unused = tuple(
            name for column, name in enumerate(self.field.names) if column not in used
        )
        self._divide(self.start)
        if self.start.loss > ROUNDING and not self._is_solved():
            self.start, self.unused = whole, ()
            self.beam.states.clear()

    def _divide(self, state: State) -> None:
        try:
            self.beam.divide(state, only_good=True)
            if not self.finder.is_exact and not self._is_solved() and state is self.start:
                self.beam.divide(state, only_good=False)
        except OutOfTimeError:
            pass
        except ExactFieldError:
            # What was taken for noise or bias is none.
            self.levels, self.is_known = EXACT, True
            self._set_level(ROUNDING)
            self._divide(state)
            return
        self._judge()

    def _left(self) -> list[State]:
        """The states of fewest quantities that lose nothing, to be read as they are."""
        return next((good for good in self._good(2) if good[0].size > 1), [])

    def _share(self, part: float) -> Budget:
        """A part of the budget, as far as it is left."""
        return self.clock.budget.share(part).within(self.clock.remaining())

    def _exact_sums(self, state: State) -> list[Tree]:
        """A look at sums of terms that fit a state exactly: those come from null spaces alone."""
        engine = replace(self.options.terms, stages=())
        return self._ask(engine, state, self._share(LOOK), keep=True)

    def _read_whole(self, state: State) -> None:
        """A state's own field by the term search."""
        self._ask(self.options.terms, state, self._share(self.options.small / 2), keep=True)

    def _read_parts(self, state: State) -> None:
        """Pairs and triples of a state by the term search; what is found becomes a quantity."""
        sets = promising_sets(self.data, state)[:SETS]
        for places in sets:
            if not self._may_go_on():
                return
            limit = self._share(self.options.small / (2 * len(sets)))
            for tree in self._ask(self.options.terms, state, limit, places):
                new = make_quantity(self.data, tree)
                if new is None:
                    continue
                child = state.with_quantity(
                    self.data, state.descendant(self.data, new, places), places
                )
                if child.loss <= state.loss + self.finder.level:
                    self._divide(child)

    def _ask(
        self,
        engine: Engine,
        state: State,
        budget: Budget,
        places: tuple[int, ...] | None = None,
        *,
        keep: bool = False,
    ) -> list[Tree]:
        """What another engine finds in a state's quantities, written in the inputs; kept as answers
        if it is about all.
        """
        field = reduced_field(self.data, state, places)
        if field is None:
            return []
        space = replace(self.space.over(field.names), terms=interferences(field.names, self.space))
        goal = max(1e-12, min(10 * self.finder.level, 1e-2)) if not self.finder.is_exact else 1e-12
        result = self._searched(engine, field, space, replace(budget, target=goal))
        found = sorted(result.front, key=lambda candidate: candidate.misalignment)
        trees = [in_inputs(candidate.expression, state) for candidate in found]
        if keep:
            self._keep(trees)
        return trees[:FORMULAS]

    def _searched(
        self, engine: Engine, field: GradientField, space: SearchSpace, budget: Budget
    ) -> SearchResult:
        """What another engine finds, with its evaluations counted here."""
        (rng,) = self.rng.spawn(1)
        # Values of quantities may be of any size; what overflows is no answer.
        with np.errstate(all="ignore"):
            told = OnlyTime(self.progress, self.clock, self.options.name)
            result = engine.search(field, space, budget, rng, told)
        self.clock.evaluations += result.evaluations
        if result.status == "interrupted":
            raise KeyboardInterrupt
        return result

    def _judge(self) -> None:
        """Keep the states' formulas; quantities of larger states are simple ones."""
        complete = [state.quantities[0].tree for state in self.beam.best(1, COMPLETE)]
        partial = [
            quantity.tree
            for size in self.beam.sizes
            if size > 1
            for state in self.beam.best(size, PARTS)
            for quantity in state.quantities
        ]
        self._keep([*complete, *partial])

    def _keep(self, trees: list[Tree]) -> None:
        """Fit formulas on the whole field and put them on the front."""
        names, costs = self.field.names, self.space.costs
        # Quantities are powers of what stands in the formula, and powers of powers may be too high.
        written = [
            tree if self.space.allows(tree, names) else powers_distributed(tree) for tree in trees
        ]
        new = [
            tree
            for tree in dict.fromkeys(written)
            if tree not in self._judged and self.space.allows(tree, names)
        ]
        self._judged.update(new)
        small = [tree for tree in new if complexity(tree, costs) <= self.space.max_complexity]
        fitted, values = refit([Expression(tree, names) for tree in small], self.field)
        self.clock.evaluations += len(small)
        found = []
        for expression, value in zip(fitted, values.tolist(), strict=True):
            if value < 1:
                size = complexity(expression.tree, costs)
                found.append(Candidate(expression, value, size, self.options.name))
        self.front = self.front.merge(Front.of(found))

    def _is_solved(self) -> bool:
        """Whether some formula is as good as the field is."""
        is_told = self.is_known and not self.finder.is_exact
        return self.front.lowest <= PERFECT or (
            is_told and any(good.size == 1 for (good,) in self._good(1))
        )

    def _may_go_on(self) -> bool:
        self._show()
        return not self._is_solved() and self.clock.stop_reason(self.front.lowest) is None

    def _show(self) -> None:
        lines = tuple(
            (str(c.complexity), f"{c.misalignment:.1e}  {c.expression}") for c in self.front
        )
        self.progress.show(Snapshot(self.options.name, min(self.clock.used, 1.0), None, lines))

    def result(self) -> SearchResult:
        """The front, and what the search did."""
        status = (
            self.status
            if self.status == "interrupted"
            else self.clock.stop_reason(self.front.lowest) or "finished"
        )
        statistics: dict[str, Any] = {
            "engine": self.options.name,
            "seconds": self.clock.seconds,
            "evaluations": self.clock.evaluations,
            "is_solved": self._is_solved()
            and (self.front.lowest <= PERFECT or not self.levels.is_biased),
            "is_solved_up_to_bias": self._is_solved() and self.levels.is_biased,
        }
        structure = self.structure()
        if structure is not None:
            statistics["decomposition"] = structure.text.splitlines()
        return SearchResult(self.front, status, statistics, structure)

    def structure(self) -> Decomposition | None:
        """The shortest description of the field by fewer quantities than there are inputs; None if
        there is none.
        """
        for (good,) in self._good(1):
            if good.size < self.start.size or self.unused:
                return decompose(self.data, good, self.unused)
        return None
