"""A beam over decompositions: states of fewer and fewer quantities, the shortest descriptions of
each size first.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from closedform.expressions.tree import Tree
from closedform.field.alignment.tolerances import ROUNDING
from closedform.searching.structure_search.child_finder import CHILDREN, ChildFinder
from closedform.searching.structure_search.conditional import find_conditional
from closedform.searching.structure_search.merges import Merge
from closedform.searching.structure_search.quantities import Data, State

WIDTH = 6
"""States of each size that are divided further."""

NARROW = 2
"""The same while every step explains the field up to its noise."""

WIDER_PAIRS = 2
"""Pairs of a noisy state for which forms with constants inside compete with those without."""

OF_A_PAIR = 2
"""Merges of the same quantities that are tried, where they may lose something."""

FindChildren = Callable[[], list[State]]
"""A way to find states of fewer quantities."""


class ExactFieldError(Exception):
    """A merge loses nothing, so the field has neither noise nor bias."""


class DecompositionBeam:
    """States that were found, and how to find more.

    Parameters
    ----------
    child_finder : ChildFinder
        Finds states of fewer quantities.

    Attributes
    ----------
    is_thorough : bool
        Whether dear kinds of merges are tried too; what the cheap ones left over is not tried with
        these again.
    """

    def __init__(self, child_finder: ChildFinder) -> None:
        self.child_finder, self.finder = child_finder, child_finder.finder
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
            return self.child_finder.merged(state, good)
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
        pairs = list(
            dict.fromkeys(merge.places for merge in self.child_finder.ranked(state, merges))
        )
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
            return lambda: self.child_finder.merged(
                state, [merge for merge in find() if merge.loss < self.level]
            )

        def of_all(find: Callable[[State], Iterator[State]]) -> FindChildren:
            return lambda: [one for one in find(state) if self.is_good(one, state)]

        is_last, is_exact = state.size == 2, self.level <= ROUNDING
        exact_sums = [of_all(self.child_finder.exact_sums_of)] if is_exact and not is_last else []
        cheap = [
            from_merges(lambda: self.finder.of_pairs(state, wider=False)),
            from_merges(lambda: find_conditional(self.data, state)),
            of_all(self.child_finder.quotients_of),
            *exact_sums,
            from_merges(lambda: self.finder.any_functions(state)),
            lambda: list(self.child_finder.similar(state)),
            lambda: list(self.child_finder.of_two_products(state)),
            from_merges(lambda: self.finder.profiles(state)),
        ]
        sums = of_all(self.child_finder.sums_of)
        wider = from_merges(lambda: self.finder.of_pairs(state, wider=True))
        doubles = from_merges(lambda: self.finder.doubles(state))
        return cheap, [wider, sums, doubles] if is_last else [sums]

    def _last_children(self, state: State) -> Iterator[State]:
        """Between forms that noise makes alike all kinds compete; likely ones come first, as time
        may run out.
        """
        merges = [
            *self.finder.of_pairs(state, wider=False),
            *self.finder.of_pairs(state, wider=True),
            *self.finder.profiles(state),
            *self.finder.any_functions(state),
        ]
        yield from self.child_finder.best_of(state, merges)
        yield from self.child_finder.quotients_of(state)
        yield from self.child_finder.similar(state)
        yield from self.child_finder.of_two_products(state)
        yield from self.child_finder.sums_of(state)
        yield from self.child_finder.best_of(state, self.finder.doubles(state))

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
        return [
            child
            for merge in chosen
            if (child := self.child_finder.applied(state, [merge])) is not None
        ]

    def children_of_all(self, state: State) -> Iterator[State]:
        """What describes all quantities at once, whatever it loses."""
        with self.at_any_loss():
            yield from self.child_finder.similar(state)
            yield from self.child_finder.quotients_of(state)

    @contextmanager
    def at_any_loss(self) -> Iterator[None]:
        """Take merges for good whatever they lose, for a while."""
        level, self.finder.level = self.level, np.inf
        try:
            yield
        finally:
            self.finder.level = level
