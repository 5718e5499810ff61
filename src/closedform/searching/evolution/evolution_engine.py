"""The engine `evolution`: islands of expressions, bred by pyoperon, judged by the compiled
kernel.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.progress import Progress, Snapshot
from closedform.basics.threads import single_threaded
from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.printing import to_text
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree
from closedform.field.alignment.comparison import Comparison, fit_constants, prepare
from closedform.field.alignment.tolerances import ROUNDING
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import SearchResult, Status
from closedform.searching.evolution.decode import Alphabet, decode
from closedform.searching.evolution.island import Fitting, Island
from closedform.searching.evolution.operon import Breeder, load, usable_operators
from closedform.searching.evolution.spelling import tidy, to_tree
from closedform.searching.evolution.survival import HallOfFame, survival_scores
from closedform.searching.evolution.tree_facts import Rules, describe, unseen
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace

POLISH_POINTS, FIT_POINTS = 4096, 128
NEWS_SECONDS = 0.3
EMIGRANTS = 5


@dataclass(frozen=True)
class Evolution:
    """Evolutionary search.

    Attributes
    ----------
    population : int
        Individuals on an island, and offspring in a generation.
    islands : int
        Populations that exchange their best now and then. Results depend on it, never on the number
        of workers.
    max_length, max_depth : int
        Largest trees that are bred.
    fitted : float
        Share of offspring whose constants are fitted.
    fit_iterations : int
        Steps of a fit.
    points : int
        Points that the search uses; the front is judged on all.
    tournament : int
        Parents compared in each selection.
    patience : int
        Generations without a better best after which all islands start again; the hall of fame
        stays.
    settle : int
        Generations without a simpler answer after which a search ends that met its target or an
        exact answer.
    exchange : int
        Generations between exchanges of islands.
    give_up : float
        Share of the points at which an expression may be undefined.
    seeds : tuple of Expression
        Expressions to start from, besides the space's guesses.

    Examples
    --------
    >>> Evolution().name
    'evolution'
    """

    population: int = 400
    islands: int = 3
    max_length: int = 35
    max_depth: int = 10
    fitted: float = 0.05
    fit_iterations: int = 5
    points: int = 512
    tournament: int = 3
    patience: int = 50
    settle: int = 20
    exchange: int = 20
    give_up: float = 0.05
    seeds: tuple[Expression, ...] = ()
    name: str = field(default="evolution", init=False)

    @single_threaded
    def search(
        self,
        field: GradientField,
        space: SearchSpace,
        budget: Budget,
        rng: np.random.Generator,
        progress: Progress,
    ) -> SearchResult:
        """Look for expressions whose gradients lie in the field's row space.

        Raises
        ------
        OperonMissingError
            If pyoperon cannot be used here.
        """
        load()
        space.check_inputs(field.names)
        usable = np.flatnonzero(field.weights > 0)
        if len(usable) == 0 or not usable_operators(space):
            return SearchResult(
                Front(), "finished", {"engine": self.name, "seconds": 0.0, "evaluations": 0}
            )
        compile_evolution()
        clock = budget.start()
        run, front, status = None, Front(), "interrupted"
        try:
            run = EvolutionRun(self, field, space, usable, rng)
            status = run.go(clock, progress)
            front = run.front(polish=status != "interrupted")
        except KeyboardInterrupt:
            status, front = "interrupted", Front() if run is None else run.front(polish=False)
        finally:
            progress.close()
        statistics = {
            "engine": self.name,
            "seconds": clock.seconds,
            "evaluations": clock.evaluations,
            **({} if run is None else run.statistics()),
        }
        return SearchResult(front, status, statistics)


@dataclass(slots=True)
class Era:
    """The time between two restarts."""

    lowest: float = 1.0
    stale: int = 0

    def is_over(self, lowest: float, patience: int, goal: float) -> bool:
        """Whether the best is not good enough and has not improved for too long."""
        self.stale = 0 if lowest < 0.999 * self.lowest else self.stale + 1
        self.lowest = min(self.lowest, lowest)
        return self.stale >= patience and self.lowest > goal


class EvolutionRun:
    """One search: what it holds and how it goes on."""

    def __init__(
        self,
        options: Evolution,
        field: GradientField,
        space: SearchSpace,
        usable: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        self.options, self.field, self.space, self.usable = options, field, space, usable
        self.units = (
            choose_units(field.scale) if space.allows_operator("mul") else np.ones(len(field.scale))
        )
        self.hall = HallOfFame(space, field.names)
        self.generations = self.restarts = self.evaluations_to_best = 0
        self.seconds_to_best = 0.0
        count = min(options.points, len(usable))
        chosen = (
            np.sort(rng.choice(usable, count, replace=False)) if count < len(usable) else usable
        )
        self.comparison = _comparison(field, chosen, self.units)
        self.seeds = list(_seeds(options.seeds, space, field.names, self.units))
        rules = self.rules = Rules.of(space, field.names)
        few = chosen[:: -(-count // FIT_POINTS)]
        fitting = Fitting(
            options.fitted,
            options.fit_iterations,
            options.give_up,
            _comparison(field, few, self.units),
        )
        cheapest = min(
            space.costs.variable,
            space.costs.constant,
            *(space.costs.of(name) for name in space.operator_names),
        )
        longest = (
            options.max_length if cheapest < 1 else min(options.max_length, space.max_complexity)
        )
        self.islands = []
        for island_rng in rng.spawn(options.islands):
            breeder = Breeder(
                len(field.names), space, seed=int(island_rng.integers(2**31)), max_length=longest,
                max_depth=options.max_depth, tournament=options.tournament,
            )  # fmt: skip
            self.islands.append(
                Island(breeder, self.comparison, rules, self.hall, fitting, island_rng)
            )

    def go(self, clock: Clock, progress: Progress) -> Status:
        """Search until the budget or the work is done."""
        try:
            return self._loop(clock, progress)
        except KeyboardInterrupt:
            return "interrupted"

    def _loop(self, clock: Clock, progress: Progress) -> Status:
        goal = max(ROUNDING, clock.budget.target or 0.0)
        lowest, quiet, news = 1.0, 0, 0.0
        simplest: int | None = None
        era = Era()
        self._judge_seeds(clock)
        self._settle(clock)
        while (reason := clock.stop_reason()) is None:
            if self.hall.lowest < 0.999 * lowest:
                lowest, self.seconds_to_best, self.evaluations_to_best = (
                    self.hall.lowest,
                    clock.seconds,
                    clock.evaluations,
                )
            before, simplest = simplest, self.hall.simplest(goal)
            quiet = quiet + 1 if simplest == before else 0
            if simplest is not None and quiet >= self.options.settle:
                return "finished" if clock.budget.target is None else "target"
            if clock.seconds - news > NEWS_SECONDS:
                news = clock.seconds
                progress.show(self._snapshot(clock))
            self.generations += 1
            if era.is_over(
                min(island.lowest for island in self.islands), self.options.patience, goal
            ):
                self.restarts += 1
                era = Era()
                self._settle(clock)
            else:
                self._advance(clock)
        return reason

    def _judge_seeds(self, clock: Clock) -> None:
        """Seeds count as they are, also those that pyoperon could not breed from."""
        if self.seeds:
            tapes = compile_tapes(self.seeds)
            iterations = np.full(
                len(self.seeds), self.options.fit_iterations if self.options.fitted > 0 else 0
            )
            numbers, misalignments, _ = fit_constants(
                self.comparison, tapes, iterations, give_up=self.options.give_up
            )
            for version, found in (
                (tapes, self.comparison.misalignments(tapes, give_up=self.options.give_up)[0]),
                (tapes.with_numbers(numbers), misalignments),
            ):
                self.hall.offer(version, found, describe(version, self.rules))
            clock.evaluations += len(self.seeds)

    def _settle(self, clock: Clock) -> None:
        """New populations everywhere: islands exchange their best, so one that is stuck would soon
        hold back a new one.
        """
        for island in self.islands:
            if clock.stop_reason() is None:
                clock.evaluations += island.settle(
                    _batch(clock, self.options.population), self.seeds
                )

    def _advance(self, clock: Clock) -> None:
        """One generation on every island, and now and then an exchange."""
        population = self.options.population
        for position, island in enumerate(self.islands):
            if clock.stop_reason() is not None or not island.members:
                return
            clock.evaluations += island.advance(_batch(clock, population), population)
            if len(self.islands) > 1 and self.generations % self.options.exchange == 0:
                neighbour = self.islands[(position + 1) % len(self.islands)]
                clock.evaluations += neighbour.receive(island.emigrants(EMIGRANTS), population)

    def front(self, *, polish: bool) -> Front:
        """The hall of fame in the user's coordinates, judged on all points."""
        names, trees = self.field.names, [tree for _, tree in self.hall.front()]
        if not trees:
            return Front()
        trees = [*trees, *self._polished(trees)] if polish else trees
        found = {tidy(tree, 1 / self.units) if np.any(self.units != 1) else tree for tree in trees}
        ordered = sorted(
            (tree for tree in found if tree is not None), key=lambda tree: to_text(tree, names)
        )
        kept = [tree for tree in ordered if self.space.allows(tree, names)]
        sizes = [complexity(tree, self.space.costs) for tree in kept]
        judge = _comparison(self.field, self.usable, np.ones(len(names)))
        misalignments, _ = judge.misalignments(compile_tapes(kept))
        return Front.of(
            Candidate(Expression(tree, names), float(misalignment), size, self.options.name)
            for tree, misalignment, size in zip(kept, misalignments, sizes, strict=True)
            if misalignment < 1 and size <= self.space.max_complexity
        )

    def _polished(self, trees: list[Tree]) -> Iterator[Tree]:
        """The same trees with their constants fitted on more points."""
        step = -(-len(self.usable) // POLISH_POINTS)
        comparison = _comparison(self.field, self.usable[::step], self.units)
        tapes = compile_tapes(trees)
        numbers, _, _ = fit_constants(
            comparison, tapes, np.full(len(trees), 20), give_up=self.options.give_up
        )
        fitted = tapes.with_numbers(numbers)
        for index in range(len(trees)):
            tree = to_tree(fitted, index)
            tidied = None if tree is None else tidy(tree, np.ones(len(self.units)))
            if tidied is not None:
                yield tidied

    def statistics(self) -> dict[str, Any]:
        """What the search did."""
        return {
            "generations": self.generations,
            "restarts": self.restarts,
            "seconds_to_best": self.seconds_to_best,
            "evaluations_to_best": self.evaluations_to_best,
        }

    def _snapshot(self, clock: Clock) -> Snapshot:
        done, seconds = min(clock.used, 1.0), clock.seconds
        details: list[tuple[str, str]] = []
        for misalignment, tree in self.hall.front():
            shown = tidy(tree, 1 / self.units)
            if shown is not None:
                size = complexity(shown, self.space.costs)
                details.append(
                    (str(size), f"{misalignment:.1e}  {to_text(shown, self.field.names)}")
                )
        left = seconds * (1 - done) / done if done > 0 else None
        rate = clock.evaluations / seconds if seconds > 0 else None
        return Snapshot(self.options.name, done, left, tuple(details), rate)


def choose_units(scale: FloatArray) -> FloatArray:
    """A power of 1000 for each input that brings its spread near 1.

    A finer unit would turn x**2 + y**2 into an expression with two constants whenever the spreads
    differ a little.

    Examples
    --------
    >>> choose_units(np.array([0.5, 2200.0, 0.001]))
    array([1.e+00, 1.e+03, 1.e-03])
    """
    return 1000.0 ** np.round(np.log10(scale) / 3)


@cache
def compile_evolution() -> None:
    """Call everything that is compiled once, so that a budget of seconds is spent on the search."""
    comparison = prepare(np.ones((2, 1)), np.ones((2, 1, 1)))
    tapes = compile_tapes([parse("x0 + 2", names=["x0"]).tree])
    rules = Rules.of(SearchSpace(), ["x0"])
    comparison.misalignments(tapes)
    fit_constants(comparison, tapes, np.array([1]))
    structure = describe(tapes, rules)
    unseen(np.zeros(4, dtype=np.uint64), structure.keys, structure.constants)
    survival_scores(np.zeros(1), structure.costs, structure.keys)
    alphabet = Alphabet.of(1, {}, [2])
    decode(alphabet, np.array([2], dtype=np.uint64), np.ones(1), np.array([0, 1]), np.array([0, 1]))


def _comparison(field: GradientField, chosen: np.ndarray, units: FloatArray) -> Comparison:
    return prepare(
        field.points[chosen] / units,
        field.frames[chosen],
        scale=field.scale / units,
        tangent=_tangent(field, chosen),
        weights=field.weights[chosen],
    )


def _tangent(field: GradientField, chosen: np.ndarray) -> FloatArray | None:
    basis = field.tangent.basis
    return basis[chosen] if basis is not None and basis.ndim == 3 else basis


def _seeds(
    given: tuple[Expression, ...], space: SearchSpace, names: tuple[str, ...], units: FloatArray
) -> Iterator[Tree]:
    """What to start from, in the search's units."""
    for seed in (*given, *space.guesses):
        expression: Any = (
            parse(seed, names=list(names)) if isinstance(seed, str) else seed.rename(names)
        )
        tree = tidy(expression.tree, units)
        if tree is not None:
            yield tree


def _batch(clock: Clock, population: int) -> int:
    """How many trees to judge next; the last batch of an evaluation budget is smaller."""
    limit = clock.budget.evaluations
    return population if limit is None else max(1, min(population, limit - clock.evaluations))
