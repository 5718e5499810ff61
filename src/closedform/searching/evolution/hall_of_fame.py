"""HallOfFame: the best tree at each complexity that a search has met, among those that the space
allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.tape import TapeBatch
from closedform.expressions.tree import Tree
from closedform.field.alignment.tolerances import ROUNDING
from closedform.searching.evolution.spelling import tidy, to_tree
from closedform.searching.evolution.tree_facts import TreeFacts
from closedform.searching.space import SearchSpace


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
