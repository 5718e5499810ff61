"""Finds merges of the quantities of a state, remembers them, and counts what they cost."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, permutations

from closedform.expressions.tree import Tree, variable
from closedform.searching.budget import Clock
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import Forms, basic_forms, wider_forms
from closedform.searching.structure_search.merges import (
    REFINED,
    Merge,
    Pair,
    find_doubles,
    find_merges,
)
from closedform.searching.structure_search.quantities import Data, Quantity, State, substitute
from closedform.searching.structure_search.tuned_merges import find_any, find_beside


class OutOfTimeError(Exception):
    """The budget is used up."""


class ClockShare:
    """A share of a clock's budget."""

    def __init__(self, clock: Clock, share: float) -> None:
        self.clock, self.share = clock, share

    def count(self, evaluations: int) -> None:
        """Count on the clock."""
        self.clock.evaluations += evaluations

    def is_over(self) -> bool:
        """Whether the share is used up."""
        return self.clock.used >= self.share


class MergeFinder:
    """Merges of a state's quantities, by kind.

    Parameters
    ----------
    data : Data
    space : SearchSpace
    clock : ClockShare
    level : float
        A merge that loses no more than this explains its quantities up to rounding or noise.
    show : callable
        Called now and then, so that the search can be seen and stopped.
    """

    def __init__(
        self, data: Data, space: SearchSpace, clock: ClockShare, level: float,
        show: Callable[[], None],
    ) -> None:  # fmt: skip
        self.data, self.space, self.clock, self.level, self._show = data, space, clock, level, show
        self._forms: dict[tuple[Tree, bool], Forms] = {}
        self._merges: dict[object, list[Merge]] = {}

    def any_functions(self, state: State) -> list[Merge]:
        """Merges by any function each of two quantities."""
        found: list[Merge] = []
        for places in combinations(range(state.size), 2):
            self.count(1)
            found += find_any(Pair(self.data, state, *places), self.any_forms, self.level)
        return found

    def profiles(self, state: State) -> list[Merge]:
        """Merges by a plain function of one quantity and any of another, which is found by
        regression.
        """
        return self._one_by_one(
            state, lambda pair, plain: find_beside(pair, self.any_forms, plain, self.level)
        )

    def doubles(self, state: State) -> list[Merge]:
        """Merges by a sum of two functions of one quantity and one of another."""

        def find(pair: Pair, plain: Forms) -> list[Merge]:
            forms = self.any_forms(state.quantities[pair.first])
            return find_doubles(pair, forms, plain, self.level)

        return self._one_by_one(state, find)

    def _one_by_one(self, state: State, find: Callable[[Pair, Forms], list[Merge]]) -> list[Merge]:
        """What is found where one quantity enters by any form and another by a basic one."""
        found: list[Merge] = []
        for one, other in permutations(range(state.size), 2):
            self.count(1)
            plain = self.forms(state.quantities[other], False)
            found += find(Pair(self.data, state, one, other), plain)
            if any(merge.loss < self.level for merge in found):
                break
        return found

    def of_pairs(self, state: State, *, wider: bool) -> list[Merge]:
        """Merges of all pairs."""
        pairs = combinations(range(state.size), 2)
        return [merge for pair in pairs for merge in self.of_pair(state, pair, wider)]

    def of_pair(self, state: State, places: tuple[int, int], wider: bool) -> Iterator[Merge]:
        """Merges of two quantities; those with constants inside if they are wanted."""
        one, other = (state.quantities[place] for place in places)
        sums = [f"{state.slopes[:, place].sum():.9g}" for place in places]
        key = (one.tree, other.tree, wider, self.level, *sums)
        if key not in self._merges:
            self.count(2 if wider else 1)
            pair = Pair(self.data, state, *places)
            kinds = [(True, False), (False, True)] if wider else [(False, False)]
            found = [
                merge
                for kind in kinds
                for merge in find_merges(
                    pair, (self.forms(one, kind[0]), self.forms(other, kind[1])), self.level
                )
            ]
            # Kept as a tree of two variables: elsewhere the same quantities have other places.
            back = [variable(0)] * state.size
            back[places[1]] = variable(1)
            self._merges[key] = [
                replace(merge, tree=substitute(merge.tree, back)) for merge in found
            ]
        over = [variable(place) for place in places]
        for merge in self._merges[key]:
            yield replace(merge, places=places, tree=substitute(merge.tree, over))

    def any_forms(self, quantity: Quantity) -> Forms:
        """The functions of a quantity, those with constants inside too."""
        return self.forms(quantity, True)

    def forms(self, quantity: Quantity, wider: bool) -> Forms:
        """The functions of a quantity that are tried."""
        key = quantity.tree, wider
        if key not in self._forms:
            self._forms[key] = (
                wider_forms(quantity, self.space, any_power=True)
                if wider
                else basic_forms(quantity, self.space)
            )
        return self._forms[key]

    def count(self, screened: int) -> None:
        """Count a screening as the sums that are fitted in it; stop when the budget is over."""
        self.clock.count(REFINED * screened)
        self._show()
        if self.clock.is_over():
            raise OutOfTimeError
