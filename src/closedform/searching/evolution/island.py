"""One island: a population that pyoperon breeds and the compiled judge scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.tape import CONSTANT_CODE, TapeBatch
from closedform.expressions.tree import Tree
from closedform.field.alignment.comparison import Comparison, fit_constants
from closedform.field.alignment.tolerances import LARGEST_FITTED
from closedform.searching.evolution.decode import decode, take
from closedform.searching.evolution.operon import Breeder, OperonReading
from closedform.searching.evolution.spelling import to_operon, to_tree
from closedform.searching.evolution.survival import HallOfFame, survival_scores
from closedform.searching.evolution.tree_facts import Rules, TreeFacts, describe, unseen

MAX_FITTED = 6
"""Trees with more constants are not fitted: it takes long, and they are no answers."""

MEMORY = 2**18
"""Structures without constants that an island remembers, so as not to judge them again."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """How constants are fitted.

    Attributes
    ----------
    share : float
        Share of offspring.
    iterations : int
    give_up : float
        Share of points at which a value may be undefined.
    comparison : Comparison
        The points on which constants are fitted: fewer than those on which trees are judged.
    """

    share: float
    iterations: int
    give_up: float
    comparison: Comparison


@dataclass(slots=True)
class Judged:
    """Individuals with what was found about them."""

    individuals: list[Any]
    tapes: TapeBatch
    structure: TreeFacts
    misalignments: FloatArray


class Island:
    """A population and how it goes on."""

    def __init__(
        self,
        breeder: Breeder,
        comparison: Comparison,
        rules: Rules,
        hall: HallOfFame,
        fitting: Fitting,
        rng: np.random.Generator,
    ) -> None:
        self._breeder, self._comparison, self._rules, self.hall = breeder, comparison, rules, hall
        self._fitting, self._rng = fitting, rng
        self.members: list[Any] = []
        self.misalignments = np.empty(0)
        self.costs = np.empty(0, dtype=np.int64)
        self.keys = np.empty(0, dtype=np.uint64)
        self.scores = np.empty(0)
        self.lowest = 1.0
        self._seen = np.zeros(MEMORY, dtype=np.uint64)

    def settle(self, count: int, seeds: Sequence[Tree]) -> int:
        """Begin (again) with a new population; gives the number of trees judged."""
        self.members, self.lowest = [], 1.0
        self.misalignments, self.scores = np.empty(0), np.empty(0)
        self.costs, self.keys = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64)
        self._seen[:] = 0
        planted = [individual for seed in seeds if (individual := self._plant(seed)) is not None]
        planted = planted[: max(1, count // 2)]
        judged = 0
        if planted:
            judged += self._take_in(planted, count, np.full(len(planted), True))
        created = self._breeder.create(max(count - len(planted), 1))
        return judged + self._take_in(created, count, None)

    def advance(self, count: int, population: int) -> int:
        """One generation: offspring, judged, the better half survives; gives the number of trees
        judged.
        """
        offspring = self._breeder.breed(self.members, self.scores.tolist(), count)
        return self._take_in(offspring, population, None)

    def emigrants(self, count: int) -> list[Any]:
        """The best individuals."""
        return [self.members[i] for i in np.argsort(self.misalignments, kind="stable")[:count]]

    def receive(self, individuals: list[Any], population: int) -> int:
        """Take in individuals of another island; gives the number of trees judged."""
        return self._take_in(individuals, population, np.full(len(individuals), False))

    def _take_in(
        self, individuals: list[Any], population: int, fitted: NDArray[np.bool_] | None
    ) -> int:
        judged = self._judge(individuals, fitted)
        self.hall.offer(judged.tapes, judged.misalignments, judged.structure)
        misalignments = np.concatenate([self.misalignments, judged.misalignments])
        costs = np.concatenate([self.costs, judged.structure.costs])
        keys = np.concatenate([self.keys, judged.structure.keys])
        scores = survival_scores(misalignments, costs, keys)
        kept = np.argsort(scores, kind="stable")[:population]
        everyone = [*self.members, *judged.individuals]
        self.members = [everyone[i] for i in kept.tolist()]
        self.misalignments, self.costs, self.keys, self.scores = (
            misalignments[kept],
            costs[kept],
            keys[kept],
            scores[kept],
        )
        self.lowest = float(self.misalignments.min(initial=1.0))
        return len(individuals)

    def _judge(self, individuals: list[Any], fitted: NDArray[np.bool_] | None) -> Judged:
        """Judge a batch and fit some of it; ``fitted`` says which, None draws a share."""
        reading = self._breeder.read(individuals)
        alphabet = self._breeder.alphabet
        decoded = decode(
            alphabet, reading.hashes, reading.coefficients, reading.starts, reading.leaf_starts
        )
        tapes, structure = decoded.tapes, describe(decoded.tapes, self._rules)
        fresh = structure.allowed & unseen(self._seen, structure.keys, structure.constants)
        if self.hall.space.templates:
            fresh &= self._has_form(tapes, fresh)
        misalignments = np.ones(tapes.n_trees)
        chosen = np.flatnonzero(fresh)
        misalignments[chosen], _ = self._comparison.misalignments(
            take(tapes, chosen)[0], give_up=self._fitting.give_up
        )
        chosen = (
            self._choose(misalignments, structure)
            if fitted is None
            else np.flatnonzero(fitted & fresh)
        )
        if len(chosen) and self._fitting.share > 0:
            tapes, misalignments = self._fit(
                individuals, reading, decoded.leaves, tapes, misalignments, chosen
            )
        return Judged(individuals, tapes, structure, misalignments)

    def _has_form(self, tapes: TapeBatch, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which trees have the form of a template, among those that are asked about."""
        found = np.zeros(tapes.n_trees, dtype=np.bool_)
        for index in np.flatnonzero(asked).tolist():
            tree = to_tree(tapes, index)
            found[index] = tree is not None and self.hall.space.has_form(tree, self.hall.names)
        return found

    def _choose(self, misalignments: FloatArray, structure: TreeFacts) -> NDArray[np.int64]:
        """Which trees to fit: a random share of the better half of those with few constants and a
        structure of their own.
        """
        able = (structure.constants > 0) & (structure.constants <= MAX_FITTED) & (misalignments < 1)
        able &= ~np.isin(structure.keys, self.keys)
        able = np.flatnonzero(able)
        able = able[np.unique(structure.keys[able], return_index=True)[1]]
        quota = min(round(self._fitting.share * len(misalignments)), len(able))
        if quota == 0:
            return able[:0]
        better = able[np.argsort(misalignments[able], kind="stable")[: max(quota, len(able) // 2)]]
        return np.sort(self._rng.choice(better, quota, replace=False))

    def _fit(
        self, individuals: list[Any], reading: OperonReading, leaves: NDArray[np.int64],
        tapes: TapeBatch, misalignments: FloatArray, chosen: NDArray[np.int64],
    ) -> tuple[TapeBatch, FloatArray]:  # fmt: skip
        part, nodes = take(tapes, chosen)
        iterations = np.full(len(chosen), self._fitting.iterations)
        numbers, _, _ = fit_constants(
            self._fitting.comparison, part, iterations, give_up=self._fitting.give_up
        )
        part = part.with_numbers(numbers)
        fitted, _ = self._comparison.misalignments(part, give_up=self._fitting.give_up)
        allowed = describe(part, self._rules).allowed
        better = allowed & (fitted < misalignments[chosen])
        misalignments = misalignments.copy()
        misalignments[chosen[better]] = fitted[better]
        all_numbers = tapes.numbers.copy()
        changed = np.repeat(better, np.diff(part.starts)) & (part.codes == CONSTANT_CODE)
        all_numbers[nodes[changed]] = numbers[changed]
        coefficients = reading.coefficients.copy()
        coefficients[leaves[nodes[changed]]] = np.clip(
            numbers[changed], -LARGEST_FITTED, LARGEST_FITTED
        )
        for index in chosen[better].tolist():
            low, high = reading.leaf_starts[index], reading.leaf_starts[index + 1]
            self._breeder.write(individuals[index], coefficients[low:high])
        return tapes.with_numbers(all_numbers), misalignments

    def _plant(self, tree: Tree) -> Any | None:
        return self._breeder.plant(to_operon(tree, self._breeder.functions))
