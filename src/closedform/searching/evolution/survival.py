"""Which trees stay: NSGA-II survival on misalignment and complexity, compiled (ranks, crowding, and
duplicates to the end of the queue), and the hall of fame, the best at each complexity.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.basics.compiled import compiled, compiled_part
from closedform.expressions.complexity import complexity
from closedform.expressions.tape import TapeBatch
from closedform.expressions.tree import Tree
from closedform.field.alignment.tolerances import ROUNDING, SAME
from closedform.searching.evolution.spelling import tidy, to_tree
from closedform.searching.evolution.tree_facts import TreeFacts
from closedform.searching.space import SearchSpace

DUPLICATE = 1e6
"""Added to the score of a tree whose structure, or whose pair of objectives, occurs already."""


def survival_scores(
    misalignments: FloatArray, costs: NDArray[np.int64], keys: NDArray[np.uint64]
) -> FloatArray:
    """Lower is better: the rank of a tree's front, plus a fraction that is small where its front is
    sparse.

    Of several trees of one structure only the best counts; on ties the one that stands first.

    Examples
    --------
    >>> keys = np.array([1, 2, 3, 3], dtype=np.uint64)
    >>> survival_scores(np.array([0.5, 0.1, 0.7, 0.8]), np.array([3, 9, 5, 5]), keys).astype(
    ...     int
    ... ).tolist()
    [0, 0, 1, 1000000]
    """
    order = np.lexsort((np.arange(len(costs)), costs, misalignments))
    scores = np.empty(len(costs))
    _score(misalignments, costs, keys, order, np.argsort(keys, kind="stable"), scores)
    return scores


@compiled
def _score(misalignments, costs, keys, order, by_key, scores):
    count = costs.shape[0]
    duplicate = np.zeros(count, np.bool_)
    best = 0
    for position in range(1, count):
        i, j = by_key[position], by_key[best]
        if keys[i] != keys[j]:
            best = position
        elif misalignments[i] < misalignments[j]:
            duplicate[j] = True
            best = position
        else:
            duplicate[i] = True
    highest = 0
    for i in range(count):
        highest = max(highest, costs[i])
    last = np.full(highest + 1, -1.0)
    smallest = np.empty(count, np.int64)
    front = np.full(count, -1, np.int64)
    n_fronts = np.int64(
        0
    )  # a plain 0 is a type of its own, for which `_crowd` would be compiled again
    for position in range(count):
        i = order[position]
        if duplicate[i]:
            continue
        seen = last[costs[i]]
        if seen >= 0.0 and misalignments[i] - seen <= SAME * (seen + 1e-9):
            duplicate[i] = True
            continue
        last[costs[i]] = misalignments[i]
        # In order of misalignment a front dominates a tree if its cheapest member so far costs no
        # more.
        low, high = 0, n_fronts
        while low < high:
            middle = (low + high) // 2
            if smallest[middle] <= costs[i]:
                low = middle + 1
            else:
                high = middle
        front[i] = low
        smallest[low] = costs[i]
        n_fronts = max(n_fronts, low + 1)
    _crowd(misalignments, costs, order, front, n_fronts, max(highest, 1), duplicate, scores)


@compiled_part
def _crowd(misalignments, costs, order, front, n_fronts, highest, duplicate, scores):
    count = costs.shape[0]
    previous = np.full(n_fronts, -1, np.int64)
    before = np.full(n_fronts, -1, np.int64)
    for i in range(count):
        scores[i] = DUPLICATE + misalignments[i] if duplicate[i] else float(front[i])
    for position in range(count):
        i = order[position]
        f = front[i]
        if f < 0:
            continue
        a, b = before[f], previous[f]
        if a >= 0:
            gap = 10.0 * ((costs[a] - costs[i]) / highest + misalignments[i] - misalignments[a])
            scores[b] = f + 0.999 / (1.0 + gap)
        before[f] = b
        previous[f] = i


@dataclass(slots=True)
class HallOfFame:
    """Best by complexity.

    Attributes
    ----------
    space : SearchSpace
    names : sequence of str
    best : dict of int to (float, Tree)
        Misalignment and tree at each complexity, in the search's own units.
    """

    space: SearchSpace
    names: Sequence[str]
    best: dict[int, tuple[float, Tree]] = field(default_factory=dict)

    @property
    def lowest(self) -> float:
        """The lowest misalignment."""
        return min((entry[0] for entry in self.best.values()), default=1.0)

    def simplest(self, goal: float) -> int | None:
        """The lowest complexity at which the misalignment is no higher than this."""
        return min((size for size, entry in self.best.items() if entry[0] <= goal), default=None)

    def offer(self, tapes: TapeBatch, misalignments: FloatArray, structure: TreeFacts) -> None:
        """Take in what beats everything of its complexity or less."""
        misalignments = np.maximum(misalignments, ROUNDING)
        bounds = self._bounds()
        costs = np.minimum(structure.costs, len(bounds) - 1)
        hopeful = np.flatnonzero(
            structure.allowed & (misalignments < bounds[costs] * (1 - 1e-9)) & (misalignments < 1)
        )
        for index in hopeful[np.lexsort((costs[hopeful], misalignments[hopeful]))]:
            if misalignments[index] < bounds[costs[index]] * (1 - 1e-9):
                self._enter(to_tree(tapes, int(index)), float(misalignments[index]))
                bounds = self._bounds()

    def front(self) -> list[tuple[float, Tree]]:
        """Entries that nothing simpler matches, simplest first."""
        kept: list[tuple[float, Tree]] = []
        for size in sorted(self.best):
            if not kept or self.best[size][0] < kept[-1][0]:
                kept.append(self.best[size])
        return kept

    def _enter(self, plain: Tree | None, misalignment: float) -> None:
        tidied = None if plain is None else tidy(plain, np.ones(len(self.names)))
        if plain is None or tidied is None:
            return
        allowed = [tree for tree in (tidied, plain) if self.space.allows(tree, self.names)]
        if not allowed:
            return
        size, tree = min(
            ((complexity(tree, self.space.costs), tree) for tree in allowed), key=itemgetter(0)
        )
        if size > self.space.max_complexity:
            return
        if misalignment < self.best.get(size, (1.0,))[0]:
            self.best[size] = (misalignment, tree)

    def _bounds(self) -> FloatArray:
        """For each complexity the lowest misalignment of anything that is no more complex."""
        bounds = np.ones(self.space.max_complexity + 20)
        for size, (misalignment, _) in self.best.items():
            bounds[size] = misalignment
        return np.minimum.accumulate(bounds)
