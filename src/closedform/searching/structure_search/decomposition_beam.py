"""A beam over decompositions: states of fewer and fewer quantities, the shortest descriptions of
each size first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Tree
from closedform.field.alignment.refit import refit
from closedform.field.alignment.tolerances import ROUNDING
from closedform.searching.structure_search.conditional import find_conditional
from closedform.searching.structure_search.exact_quotients import exact_quotients
from closedform.searching.structure_search.merge_finder import MergeFinder
from closedform.searching.structure_search.merges import REFINED, Merge, Pair
from closedform.searching.structure_search.quantities import (
    Data,
    State,
    first_state,
    make_quantities,
    make_state,
    substitute,
)
from closedform.searching.structure_search.quotients import quotients
from closedform.searching.structure_search.similarity import similarities
from closedform.searching.structure_search.small_fields import in_inputs, reduced_field
from closedform.searching.structure_search.tuned_merges import find_any, find_with_power
from closedform.searching.structure_search.two_products import two_products
from closedform.searching.structure_search.two_terms import FITTED, two_terms

WIDTH = 6
"""States of each size that are divided further."""

NARROW = 2
"""The same while every step explains the field up to its noise."""

WIDER_PAIRS = 2
"""Pairs of a noisy state for which forms with constants inside compete with those without."""

CHILDREN, OF_A_PAIR = 8, 2
"""Merges of a state that are tried, in all and of the same quantities."""


SIMILAR, BEST_SIMILAR = 4, 2
"""Pairs of products that quantities are tried to enter through, and those of exact fields."""


POWER = "log: x"
"""The family whose sums are products of powers."""


FindChildren = Callable[[], list[State]]
"""A way to find states of fewer quantities."""


class ExactFieldError(Exception):
    """A merge loses nothing, so the field has neither noise nor bias."""


class DecompositionBeam:
    """States that were found, and how to find more.

    Parameters
    ----------
    finder : MergeFinder
        Finds merges, and knows what they may lose.
    exact_sums : callable
        Formulas of a state, in the inputs, that an engine finds as sums of terms.

    Attributes
    ----------
    is_thorough : bool
        Whether dear kinds of merges are tried too; what the cheap ones left over is not tried with
        these again.
    """

    def __init__(self, finder: MergeFinder, exact_sums: Callable[[State], list[Tree]]) -> None:
        self.finder, self.exact_sums = finder, exact_sums
        self.is_thorough = True
        self.states: dict[int, dict[frozenset[Tree], State]] = {}
        self._divided: set[tuple[frozenset[Tree], bool]] = set()
        self._left_over: set[frozenset[Tree]] = set()

    @property
    def level(self) -> float:
        """What a true merge loses at most."""
        return self.finder.level

    @property
    def data(self) -> Data:
        """The field, and how descriptions of it are measured."""
        return self.finder.data

    def set_level(self, level: float) -> None:
        """Begin anew with another level; states that were found stay."""
        if level != self.level:
            self.finder.level = level
            self._divided.clear()
            self._left_over.clear()

    def add(self, state: State) -> None:
        """Keep a state, if it is new."""
        self.states.setdefault(state.size, {}).setdefault(state.key, state)

    def best(self, size: int, count: int) -> list[State]:
        """The shortest descriptions by so many quantities."""
        return sorted(self.states.get(size, {}).values(), key=self._length)[:count]

    def _length(self, state: State) -> float:
        """Of the description that a state is."""
        return float(self.data.yardstick(state.loss, state.complexity))

    def is_good(self, state: State, start: State) -> bool:
        """Whether a state explains the field up to rounding or noise."""
        return state.loss <= start.loss + self.level * max(start.size - state.size, 1)

    @property
    def sizes(self) -> list[int]:
        """Numbers of quantities for which there are states, the largest first."""
        return sorted(self.states, reverse=True)

    def divide(self, start: State, *, only_good: bool) -> None:
        """Merge quantities until one is left, or nothing merges any more.

        Parameters
        ----------
        start : State
        only_good : bool
            Take only merges that explain their quantities up to rounding or noise, and look harder
            for them.

        Raises
        ------
        ExactFieldError
            If merges were allowed to lose something, and one loses nothing.
        """
        self.add(start)
        # The first way down is mostly the right one; an exact merge is hardly ever false.
        is_exact = self.level <= ROUNDING
        widths = (1, NARROW if is_exact else WIDTH // 2) if only_good else (WIDTH,)
        for width in widths:
            for size in range(start.size, 1, -1):
                states = self.best(size, width)
                if only_good:
                    states = [state for state in states if self.is_good(state, start)]
                for state in states:
                    self._divide_one(state, only_good=only_good)
            if is_exact and any(self.is_good(state, start) for state in self.best(1, 1)):
                return

    def _divide_one(self, state: State, *, only_good: bool) -> None:
        is_left_over = self.is_thorough and state.key in self._left_over
        if (state.key, only_good) in self._divided and not (only_good and is_left_over):
            return
        self._divided.add((state.key, only_good))
        for child in self.good_children(state) if only_good else self.children(state):
            self.add(child)
            if self.level > ROUNDING and child.size < state.size and child.loss <= ROUNDING:
                raise ExactFieldError

    def good_children(self, state: State) -> Iterable[State]:
        """States of fewer quantities that lose nothing: those of the first kind of merge that gives
        any.
        """
        if self.level > ROUNDING and state.size == 2:
            return self._last_children(state)
        if self.level > ROUNDING and (good := self._noisy_merges(state)):
            return self._merged(state, good)
        cheap, dear = self._kinds(state)
        if state.key not in self._left_over:
            for find in cheap:
                if children := find():
                    return children
        if not self.is_thorough:
            self._left_over.add(state.key)
            return []
        self._left_over.discard(state.key)
        for find in dear:
            if children := find():
                return children
        return []

    def _noisy_merges(self, state: State) -> list[Merge]:
        """Merges without constants inside, and for the pairs for which most speaks those with
        constants too: noise makes such forms alike, so they have to compete.
        """
        merges = [
            merge for merge in self.finder.of_pairs(state, wider=False) if merge.loss < self.level
        ]
        pairs = list(dict.fromkeys(merge.places for merge in self._ranked(state, merges)))
        for pair in pairs[:WIDER_PAIRS]:
            assert len(pair) == 2
            merges += [m for m in self.finder.of_pair(state, pair, True) if m.loss < self.level]
        return merges

    def _kinds(self, state: State) -> tuple[list[FindChildren], list[FindChildren]]:
        """Cheap ways to find children of an exact field, likely ones first, and dear ones.

        A new kind of merge stands here, and for noisy fields in `_noisy_merges` and
        `_last_children`: noise makes forms alike, so there kinds compete.
        """

        def from_merges(find: Callable[[], list[Merge]]) -> FindChildren:
            return lambda: self._merged(
                state, [merge for merge in find() if merge.loss < self.level]
            )

        def of_all(find: Callable[[State], Iterator[State]]) -> FindChildren:
            return lambda: [one for one in find(state) if one.loss < state.loss + self.level]

        is_last, is_exact = state.size == 2, self.level <= ROUNDING
        exact_sums = [of_all(self.exact_sums_of)] if is_exact and not is_last else []
        cheap = [
            from_merges(lambda: self.finder.of_pairs(state, wider=False)),
            from_merges(lambda: find_conditional(self.data, state)),
            of_all(self.quotients_of),
            *exact_sums,
            from_merges(lambda: self.finder.any_functions(state)),
            lambda: list(self._similar(state)),
            *([lambda: list(self._of_two_products(state))] if is_exact else []),
            from_merges(lambda: self.finder.profiles(state)),
        ]
        wider = from_merges(lambda: self.finder.of_pairs(state, wider=True))
        doubles = from_merges(lambda: self.finder.doubles(state))
        return cheap, [wider, of_all(self.sums_of), doubles] if is_last else [of_all(self.sums_of)]

    def _merged(self, state: State, good: Sequence[Merge]) -> list[State]:
        """Children by good merges: several at once, and the best by themselves."""
        ranked = self._ranked(state, good)
        chosen = ranked[: NARROW if self.level <= ROUNDING else CHILDREN]
        singly = [child for merge in chosen if (child := self._applied(state, [merge])) is not None]
        together = self._applied(state, _apart(ranked))
        return singly if together is None else [together, *singly]

    def _last_children(self, state: State) -> Iterator[State]:
        """Between forms that noise makes alike all kinds compete; likely ones come first, as time
        may run out.
        """
        merges = [
            *self.finder.of_pairs(state, wider=False),
            *self.finder.of_pairs(state, wider=True),
            *self.finder.profiles(state),
        ]
        yield from self._best_of(state, merges)
        yield from self._similar(state)
        yield from self.sums_of(state)
        yield from self._best_of(state, self.finder.doubles(state))

    def exact_sums_of(self, state: State) -> Iterator[State]:
        """Children by sums of terms of all quantities."""
        yield from self._whole(state, self.exact_sums(state))

    def sums_of(self, state: State) -> Iterator[State]:
        """Children by sums of two terms of all quantities."""
        field = reduced_field(self.data, state)
        if field is None:
            return
        self.finder.count(FITTED // REFINED)
        space, yardstick = self.finder.space.over(field.names), self.data.yardstick
        found = two_terms(field, space, yardstick, self._is_over)
        yield from self._whole(state, [in_inputs(one, state) for one in found])

    def quotients_of(self, state: State) -> Iterator[State]:
        """Children by quotients of sums of monomials."""
        self.finder.count(1)
        if self.level <= ROUNDING:
            trees = exact_quotients(self.data, state)
        else:
            trees = quotients(self.data, state, lambda: not self._is_over())
        field = reduced_field(self.data, first_state(self.data))
        if field is not None:
            # Moments are squares, and so is the rounding of what comes from them.
            fitted, _ = refit([Expression(tree, field.names) for tree in trees], field)
            yield from self._whole(state, [one.tree for one in fitted])

    def _is_over(self) -> bool:
        return self.finder.clock.is_over()

    def _whole(self, state: State, trees: list[Tree]) -> Iterator[State]:
        """Children by formulas of all quantities, written in the inputs."""
        for tree, made in zip(trees, make_quantities(self.data, trees), strict=True):
            if made is not None and self.finder.space.allows(tree, self.data.names):
                yield make_state(self.data, (state.descendant(self.data, made, range(state.size)),))

    def _best_of(self, state: State, merges: Sequence[Merge]) -> Iterator[State]:
        for merge in self._ranked(state, merges)[: 2 * WIDTH]:
            if (child := self._applied(state, [merge])) is not None:
                yield child

    def _similar(self, state: State) -> Iterator[State]:
        """Children by a product of powers times a function of another, for the quantities whose
        slopes say best what they are.
        """
        # In an exact field the best is right, or none is.
        count = BEST_SIMILAR if self.level <= ROUNDING else SIMILAR
        for similar in similarities(self.data, state)[:count]:
            one = self._in_products(state, similar.places, (similar.outer, similar.inner))
            if one is None:
                continue
            good = [merge for merge in self._of_products(one) if merge.loss < self.level]
            yield from self._best_of(one, good)
            if good and self.level <= ROUNDING:
                return

    def _in_products(
        self, state: State, places: Sequence[int], products: Sequence[Tree]
    ) -> State | None:
        """The state with two products in the places of what enters through them; they come last."""
        parts = [quantity.tree for quantity in state.quantities]
        trees = [substitute(product, parts) for product in products]
        new = [quantity for quantity in make_quantities(self.data, trees) if quantity is not None]
        kept = [q for place, q in enumerate(state.quantities) if place not in places]
        return make_state(self.data, (*kept, *new)) if len(new) == len(trees) else None

    def _of_two_products(self, state: State) -> Iterator[State]:
        """Children by a sum of any functions of two products, which may share quantities."""
        for found in two_products(self.data, state, self.finder.count):
            one = self._in_products(state, found.places, found.products)
            if one is None:
                continue
            self.finder.count(1)
            pair = Pair(self.data, one, one.size - 2, one.size - 1)
            merges = find_any(pair, self.finder.any_forms, self.level)
            good = [merge for merge in merges if merge.loss < self.level]
            yield from self._best_of(one, good)
            if good:
                return

    def _of_products(self, state: State) -> list[Merge]:
        """Merges of the last two quantities by a power of the first and any function of the
        second; if none is good, a power of that times any function.
        """
        self.finder.count(1)
        second, first = state.size - 2, state.size - 1
        pair = Pair(self.data, state, first, second)
        powers = (
            self.finder.forms(state.quantities[first], False).only((POWER,)),
            self.finder.forms(state.quantities[second], False).only((POWER,)),
        )
        return find_with_power(pair, self.finder.any_forms, powers, self.level)

    def _ranked(self, state: State, merges: Sequence[Merge]) -> list[Merge]:
        """The best forms of the pairs for which most speaks, best pairs first; then their second
        best forms.
        """
        of_pair: dict[tuple[int, ...], list[Merge]] = {}
        for merge in sorted(
            merges, key=lambda m: float(self.data.yardstick(m.loss, complexity(m.tree)))
        ):
            of_pair.setdefault(merge.places, []).append(merge)
        if state.size == 2 or self.level <= ROUNDING:
            return sorted(
                merges, key=lambda m: float(self.data.yardstick(m.loss, complexity(m.tree)))
            )
        pairs = sorted(of_pair.values(), key=lambda found: -found[0].evidence(self.level))
        return [*(found[0] for found in pairs), *(found[1] for found in pairs if len(found) > 1)]

    def children(self, state: State) -> list[State]:
        """States of one quantity less, the shortest descriptions first."""
        with self.at_any_loss():
            merges = [
                *self.finder.of_pairs(state, wider=False),
                *find_conditional(self.data, state),
                *self.finder.of_pairs(state, wider=True),
            ]
        merges.sort(
            key=lambda merge: float(self.data.yardstick(state.loss + merge.loss, merge.tree.size))
        )
        chosen: list[Merge] = []
        for merge in merges:
            if (
                sum(other.places == merge.places for other in chosen) < OF_A_PAIR
                and len(chosen) < CHILDREN
            ):
                chosen.append(merge)
        return [child for merge in chosen if (child := self._applied(state, [merge])) is not None]

    def similar_children(self, state: State) -> list[State]:
        """What `_similar` finds, whatever it loses."""
        with self.at_any_loss():
            return list(self._similar(state))

    @contextmanager
    def at_any_loss(self) -> Iterator[None]:
        """Take merges for good whatever they lose, for a while."""
        level, self.finder.level = self.level, np.inf
        try:
            yield
        finally:
            self.finder.level = level

    def _applied(self, state: State, merges: Sequence[Merge]) -> State | None:
        """The state after merges without common quantities."""
        parts = [quantity.tree for quantity in state.quantities]
        trees = [substitute(merge.tree, parts) for merge in merges]
        legality = self.finder.space.legality
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


def _apart(merges: Sequence[Merge]) -> list[Merge]:
    """The first merges that have no quantity in common."""
    used: set[int] = set()
    chosen = []
    for merge in merges:
        if used.isdisjoint(merge.places):
            chosen.append(merge)
            used.update(merge.places)
    return chosen
