"""What all kinds of merges need: functions of quantities, merges of pairs, and the states that
merges lead to; remembered, and counted on the clock.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np

from closedform.expressions.tree import Tree, variable
from closedform.field.alignment.tolerances import ROUNDING
from closedform.searching.budget import Clock
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import Forms, basic_forms, wider_forms
from closedform.searching.structure_search.merges import REFINED, Merge, Pair, find_merges
from closedform.searching.structure_search.quantities import (
    Data,
    Quantity,
    State,
    make_quantities,
    make_state,
    substitute,
)
from closedform.searching.structure_search.similarity import Products

CHILDREN, FEW_CHILDREN, BEST = 8, 2, 12
"""Merges that are tried of a state, of an exact one, and where it has two quantities."""


class OutOfTimeError(Exception):
    """The budget is used up."""


class Finder:
    """Finds merges of a state's quantities and applies them.

    A merge that loses no more than `level` explains its quantities up to rounding or noise; `share`
    is the share of the clock's budget that merging may use. `exact_sums` asks an engine for sums of
    terms in a state's quantities, and `show` lets the search be seen and stopped.
    """

    def __init__(
        self, data: Data, space: SearchSpace, clock: Clock, share: float,
        exact_sums: Callable[[State], list[Tree]], show: Callable[[], None],
    ) -> None:  # fmt: skip
        self.data, self.space, self.clock, self.share = data, space, clock, share
        self.level, self.exact_sums, self._show = ROUNDING, exact_sums, show
        self._forms: dict[tuple[Tree, bool], Forms] = {}
        self._merges: dict[object, list[Merge]] = {}

    @property
    def is_exact(self) -> bool:
        """Whether a true merge loses nothing but rounding."""
        return self.level <= ROUNDING

    def is_good(self, state: State, start: State) -> bool:
        """Whether a state explains the field up to rounding or noise, beyond what it began with."""
        return state.loss <= start.loss + self.level * max(start.size - state.size, 1)

    def is_over(self) -> bool:
        """Whether the share of the budget is used up."""
        return self.clock.used >= self.share

    def count(self, screened: int) -> None:
        """Count a screening as the sums that are fitted in it; stop when the budget is over."""
        self.clock.evaluations += REFINED * screened
        self._show()
        if self.is_over():
            raise OutOfTimeError

    @contextmanager
    def at_any_loss(self) -> Iterator[None]:
        """Take merges for good whatever they lose, for a while."""
        level, self.level = self.level, np.inf
        try:
            yield
        finally:
            self.level = level

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

    def one_by_one(self, state: State, find: Callable[[Pair, Forms], list[Merge]]) -> list[Merge]:
        """What is found where one quantity enters by any form and another by a basic one, up to
        the first pair that merges.
        """
        found: list[Merge] = []
        for one, other in permutations(range(state.size), 2):
            self.count(1)
            plain = self.forms(state.quantities[other], False)
            found += find(Pair(self.data, state, one, other), plain)
            if any(merge.loss < self.level for merge in found):
                break
        return found

    def good_children(self, state: State, found: Iterable[Merge | State]) -> list[State]:
        """Children by the good ones of some merges, several at once and the best by themselves;
        what is a child already stays.
        """
        every = list(found)
        merges = [one for one in every if isinstance(one, Merge)]
        children = [one for one in every if isinstance(one, State)]
        ranked = self.ranked(state, [merge for merge in merges if merge.loss < self.level])
        chosen = ranked[: FEW_CHILDREN if self.is_exact else CHILDREN]
        made = (self.applied(state, each) for each in [_apart(ranked), *([one] for one in chosen)])
        return [*(child for child in made if child is not None), *children]

    def children(self, state: State, found: Iterable[Merge | State]) -> Iterator[State]:
        """Children one by one, as they are found, and those by the best merges."""
        merges = []
        for one in found:
            if isinstance(one, State):
                yield one
            else:
                merges.append(one)
        yield from self.best_of(state, merges)

    def best_of(self, state: State, merges: Sequence[Merge]) -> Iterator[State]:
        """Children by the best merges, each by itself."""
        for merge in self.ranked(state, merges)[:BEST]:
            if (child := self.applied(state, [merge])) is not None:
                yield child

    def ranked(self, state: State, merges: Sequence[Merge]) -> list[Merge]:
        """The best forms of the pairs for which most speaks, best pairs first; then their second
        best forms.
        """
        every = sorted(merges, key=lambda m: self.data.yardstick.of(m.tree, m.loss))
        if state.size == 2 or self.is_exact:
            return every
        of_pair: dict[tuple[int, ...], list[Merge]] = {}
        for merge in every:
            of_pair.setdefault(merge.places, []).append(merge)
        pairs = sorted(of_pair.values(), key=lambda found: -found[0].evidence(self.level))
        return [*(found[0] for found in pairs), *(found[1] for found in pairs if len(found) > 1)]

    def applied(self, state: State, merges: Sequence[Merge]) -> State | None:
        """The state after merges without common quantities."""
        parts = [quantity.tree for quantity in state.quantities]
        trees = [substitute(merge.tree, parts) for merge in merges]
        legality = self.space.legality
        if legality and not all(legality.allows(tree, self.data.names) for tree in trees):
            return None
        made = make_quantities(self.data, trees)
        new = [
            state.descendant(self.data, quantity, merge.places)
            for quantity, merge in zip(made, merges, strict=True)
            if quantity is not None
        ]
        if len(new) < len(made) or not new:
            return None
        gone = {place for merge in merges for place in merge.places}
        kept = [quantity for place, quantity in enumerate(state.quantities) if place not in gone]
        return make_state(self.data, (*kept, *new))

    def whole(self, state: State, trees: Sequence[Tree]) -> Iterator[State]:
        """Children by formulas of all quantities, written in the inputs."""
        # Of the last two quantities of a noisy field all compete: fits on the whole field decide.
        are_all_kept = state.size == 2 and not self.is_exact
        for tree, made in zip(trees, make_quantities(self.data, trees), strict=True):
            if made is not None and self.space.allows(tree, self.data.names):
                own = state.descendant(self.data, made, range(state.size))
                child = make_state(self.data, (own,))
                if are_all_kept or self.is_good(child, state):
                    yield child

    def with_products(self, state: State, found: Products) -> State | None:
        """The state with products in the places of what enters through them; they come last."""
        parts = [quantity.tree for quantity in state.quantities]
        first, second = make_quantities(
            self.data, [substitute(product, parts) for product in found.products]
        )
        if first is None or second is None:
            return None
        kept = [q for place, q in enumerate(state.quantities) if place not in found.places]
        return make_state(self.data, (*kept, first, second))


def _apart(merges: Sequence[Merge]) -> list[Merge]:
    """The first merges that have no quantity in common."""
    used: set[int] = set()
    chosen = []
    for merge in merges:
        if used.isdisjoint(merge.places):
            chosen.append(merge)
            used.update(merge.places)
    return chosen
