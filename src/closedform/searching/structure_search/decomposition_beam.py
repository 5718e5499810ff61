"""A beam over decompositions: states of fewer and fewer quantities, the shortest descriptions of
each size first.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from closedform.expressions.tree import Tree
from closedform.field.alignment.tolerances import ROUNDING
from closedform.searching.structure_search.finder import CHILDREN, Finder
from closedform.searching.structure_search.kinds import Find, kinds_at, lossy_kinds
from closedform.searching.structure_search.merges import Merge
from closedform.searching.structure_search.quantities import State

WIDTH = 6
"""States of each size that are divided further."""

NARROW = 2
"""The same while every step explains the field up to its noise, and merges of the same quantities
that are tried where they may lose something."""


class ExactFieldError(Exception):
    """A merge loses nothing, so the field has neither noise nor bias."""


class DecompositionBeam:
    """States that were found, and how to find more.

    What the cheap kinds of merges left over is not tried with these again; dear ones are tried only
    if the beam `is_thorough`.
    """

    def __init__(self, finder: Finder) -> None:
        self.finder = finder
        self.is_thorough = True
        self.states: dict[int, dict[frozenset[Tree], State]] = {}
        self._divided: set[tuple[frozenset[Tree], bool]] = set()
        self._left_over: set[frozenset[Tree]] = set()

    def set_level(self, level: float) -> None:
        """Begin anew with another level; states that were found stay."""
        if level != self.finder.level:
            self.finder.level = level
            self._divided.clear()
            self._left_over.clear()

    def add(self, state: State) -> None:
        """Keep a state, if it is new."""
        self.states.setdefault(state.size, {}).setdefault(state.key, state)

    def best(self, size: int, count: int) -> list[State]:
        """The shortest descriptions by so many quantities."""
        yardstick = self.finder.data.yardstick
        return sorted(
            self.states.get(size, {}).values(),
            key=lambda state: float(yardstick(state.loss, state.complexity)),
        )[:count]

    @property
    def sizes(self) -> list[int]:
        """Numbers of quantities for which there are states, the largest first."""
        return sorted(self.states, reverse=True)

    def divide(self, start: State, *, only_good: bool) -> None:
        """Merge quantities until one is left, or nothing merges any more.

        With `only_good` merges have to explain their quantities up to rounding or noise, and are
        looked for harder. Otherwise they may lose something, and ExactFieldError says that one of
        a field that seemed noisy loses nothing.
        """
        self.add(start)
        # The first way down is mostly the right one; an exact merge is hardly ever false.
        is_exact, is_good = self.finder.is_exact, self.finder.is_good
        widths = (1, NARROW if is_exact else WIDTH // 2) if only_good else (WIDTH,)
        for width in widths:
            for size in range(start.size, 1, -1):
                for state in self.best(size, width):
                    if not only_good or is_good(state, start):
                        self._divide_one(state, only_good=only_good)
            if is_exact and any(is_good(state, start) for state in self.best(1, 1)):
                return

    def _divide_one(self, state: State, *, only_good: bool) -> None:
        is_left_over = self.is_thorough and state.key in self._left_over
        if (state.key, only_good) in self._divided and not (only_good and is_left_over):
            return
        self._divided.add((state.key, only_good))
        for child in self.good_children(state) if only_good else self.children(state):
            self.add(child)
            if not self.finder.is_exact and child.size < state.size and child.loss <= ROUNDING:
                raise ExactFieldError

    def good_children(self, state: State) -> Iterable[State]:
        """States of fewer quantities that lose nothing, by the first kind of merge that gives any;
        by all kinds for the last two quantities of a noisy field.
        """
        if state.size == 2 and not self.finder.is_exact:
            return self._last_children(state)
        if state.key not in self._left_over:
            first = kinds_at(self.finder, state, "first")
            if children := self.finder.good_children(state, self._found(first, state)):
                return children
            if children := self._in_turn(kinds_at(self.finder, state, "then"), state):
                return children
        if not self.is_thorough:
            self._left_over.add(state.key)
            return []
        self._left_over.discard(state.key)
        return self._in_turn(kinds_at(self.finder, state, "dear"), state)

    def _found(self, kinds: list[Find], state: State) -> Iterator[Merge | State]:
        return (one for find in kinds for one in find(self.finder, state))

    def _in_turn(self, kinds: list[Find], state: State) -> list[State]:
        for find in kinds:
            if children := self.finder.good_children(state, find(self.finder, state)):
                return children
        return []

    def _last_children(self, state: State) -> Iterator[State]:
        first, *others = (kinds_at(self.finder, state, turn) for turn in ("first", "then", "dear"))
        yield from self.finder.children(state, self._found(first, state))
        for find in chain(*others):
            yield from self.finder.children(state, find(self.finder, state))

    def children(self, state: State) -> list[State]:
        """States of one quantity less, whatever they lose, the shortest descriptions first."""
        finder, yardstick = self.finder, self.finder.data.yardstick
        with finder.at_any_loss():
            found = self._found(lossy_kinds("first"), state)
            merges = [one for one in found if isinstance(one, Merge)]
        merges.sort(key=lambda merge: float(yardstick(state.loss + merge.loss, merge.tree.size)))
        chosen: list[Merge] = []
        for merge in merges:
            if sum(other.places == merge.places for other in chosen) < NARROW:
                chosen.append(merge)
        made = (finder.applied(state, [merge]) for merge in chosen[:CHILDREN])
        return [child for child in made if child is not None]

    def add_lossy(self, start: State) -> None:
        """Keep what describes all quantities at once, whatever it loses."""
        with self.finder.at_any_loss():
            for find in lossy_kinds("then"):
                for child in self.finder.children(start, find(self.finder, start)):
                    self.add(child)
