"""States of fewer quantities than a state has: what merges lead to, and what describes all its
quantities, or two products of them, at once.
"""

from collections.abc import Callable, Iterator, Sequence

from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Tree
from closedform.field.alignment.refit import refit
from closedform.field.alignment.tolerances import ROUNDING
from closedform.searching.structure_search.exact_quotients import exact_quotients
from closedform.searching.structure_search.merge_finder import MergeFinder
from closedform.searching.structure_search.merges import REFINED, Merge, Pair
from closedform.searching.structure_search.quantities import (
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

CHILDREN, FEW_CHILDREN, BEST = 8, 2, 12
"""Merges that are tried of a state, of an exact one, and where it has two quantities."""

SIMILAR, BEST_SIMILAR = 4, 2
"""Pairs of products that quantities are tried to enter through, and those of exact fields."""

POWER = "log: x"
"""The family whose sums are products of powers."""


class ChildFinder:
    """Finds states of fewer quantities.

    Parameters
    ----------
    finder : MergeFinder
        Finds merges, and knows what they may lose.
    exact_sums : callable
        Formulas of a state, in the inputs, that an engine finds as sums of terms.
    """

    def __init__(self, finder: MergeFinder, exact_sums: Callable[[State], list[Tree]]) -> None:
        self.finder, self.exact_sums = finder, exact_sums

    def merged(self, state: State, good: Sequence[Merge]) -> list[State]:
        """Children by good merges: several at once, and the best by themselves."""
        ranked = self.ranked(state, good)
        chosen = ranked[: FEW_CHILDREN if self.finder.level <= ROUNDING else CHILDREN]
        singly = [child for merge in chosen if (child := self.applied(state, [merge])) is not None]
        together = self.applied(state, _apart(ranked))
        return singly if together is None else [together, *singly]

    def best_of(self, state: State, merges: Sequence[Merge]) -> Iterator[State]:
        """Children by the best merges, each by itself."""
        for merge in self.ranked(state, merges)[:BEST]:
            if (child := self.applied(state, [merge])) is not None:
                yield child

    def ranked(self, state: State, merges: Sequence[Merge]) -> list[Merge]:
        """The best forms of the pairs for which most speaks, best pairs first; then their second
        best forms.
        """
        of_pair: dict[tuple[int, ...], list[Merge]] = {}
        for merge in sorted(
            merges, key=lambda m: float(self.finder.data.yardstick(m.loss, complexity(m.tree)))
        ):
            of_pair.setdefault(merge.places, []).append(merge)
        if state.size == 2 or self.finder.level <= ROUNDING:
            return sorted(
                merges, key=lambda m: float(self.finder.data.yardstick(m.loss, complexity(m.tree)))
            )
        pairs = sorted(of_pair.values(), key=lambda found: -found[0].evidence(self.finder.level))
        return [*(found[0] for found in pairs), *(found[1] for found in pairs if len(found) > 1)]

    def applied(self, state: State, merges: Sequence[Merge]) -> State | None:
        """The state after merges without common quantities."""
        parts = [quantity.tree for quantity in state.quantities]
        trees = [substitute(merge.tree, parts) for merge in merges]
        legality = self.finder.space.legality
        if legality and not all(legality.allows(tree, self.finder.data.names) for tree in trees):
            return None
        made = make_quantities(self.finder.data, trees)
        new = [
            state.descendant(self.finder.data, quantity, merge.places)
            for quantity, merge in zip(made, merges, strict=True)
            if quantity is not None
        ]
        if len(new) < len(made) or not new:
            return None
        gone = {place for merge in merges for place in merge.places}
        kept = [quantity for place, quantity in enumerate(state.quantities) if place not in gone]
        return make_state(self.finder.data, (*kept, *new))

    def exact_sums_of(self, state: State) -> Iterator[State]:
        """Children by sums of terms of all quantities."""
        yield from self._whole(state, self.exact_sums(state))

    def sums_of(self, state: State) -> Iterator[State]:
        """Children by sums of two terms of all quantities."""
        field = reduced_field(self.finder.data, state)
        if field is None:
            return
        self.finder.count(FITTED // REFINED)
        space, yardstick = self.finder.space.over(field.names), self.finder.data.yardstick
        found = two_terms(field, space, yardstick, self._is_over)
        yield from self._whole(state, [in_inputs(one, state) for one in found])

    def quotients_of(self, state: State) -> Iterator[State]:
        """Children by quotients of sums of monomials."""
        self.finder.count(1)
        if self.finder.level <= ROUNDING:
            trees = exact_quotients(self.finder.data, state)
        else:
            trees = quotients(self.finder.data, state, lambda: not self._is_over())
        field = reduced_field(self.finder.data, first_state(self.finder.data))
        if field is not None:
            # Moments are squares, and so is the rounding of what comes from them.
            fitted, _ = refit([Expression(tree, field.names) for tree in trees], field)
            yield from self._whole(state, [one.tree for one in fitted])

    def similar(self, state: State) -> Iterator[State]:
        """Children by a product of powers times a function of another, for the quantities whose
        slopes say best what they are.
        """
        # In an exact field the best is right, or none is.
        count = BEST_SIMILAR if self.finder.level <= ROUNDING else SIMILAR
        for similar in similarities(self.finder.data, state)[:count]:
            one = self._in_products(state, similar.places, (similar.outer, similar.inner))
            if one is None:
                continue
            good = [merge for merge in self._of_products(one) if merge.loss < self.finder.level]
            yield from self.best_of(one, good)
            if good and self.finder.level <= ROUNDING:
                return

    def of_two_products(self, state: State) -> Iterator[State]:
        """Children by a sum of any functions of two products, which may share quantities."""
        for found in two_products(self.finder.data, state, self.finder.level, self.finder.count):
            one = self._in_products(state, found.places, found.products)
            if one is None:
                continue
            self.finder.count(1)
            pair = Pair(self.finder.data, one, one.size - 2, one.size - 1)
            merges = find_any(pair, self.finder.any_forms, self.finder.level)
            good = [merge for merge in merges if merge.loss < self.finder.level]
            yield from self.best_of(one, good)
            if good:
                return

    def _is_over(self) -> bool:
        return self.finder.clock.is_over()

    def _whole(self, state: State, trees: list[Tree]) -> Iterator[State]:
        """Children by formulas of all quantities, written in the inputs."""
        data = self.finder.data
        for tree, made in zip(trees, make_quantities(data, trees), strict=True):
            if made is not None and self.finder.space.allows(tree, data.names):
                yield make_state(data, (state.descendant(data, made, range(state.size)),))

    def _in_products(
        self, state: State, places: Sequence[int], products: Sequence[Tree]
    ) -> State | None:
        """The state with two products in the places of what enters through them; they come last."""
        parts = [quantity.tree for quantity in state.quantities]
        trees = [substitute(product, parts) for product in products]
        made = make_quantities(self.finder.data, trees)
        new = [quantity for quantity in made if quantity is not None]
        kept = [q for place, q in enumerate(state.quantities) if place not in places]
        return make_state(self.finder.data, (*kept, *new)) if len(new) == len(trees) else None

    def _of_products(self, state: State) -> list[Merge]:
        """Merges of the last two quantities by a power of the first and any function of the
        second; if none is good, a power of that times any function.
        """
        self.finder.count(1)
        second, first = state.size - 2, state.size - 1
        pair = Pair(self.finder.data, state, first, second)
        powers = (
            self.finder.forms(state.quantities[first], False).only((POWER,)),
            self.finder.forms(state.quantities[second], False).only((POWER,)),
        )
        return find_with_power(pair, self.finder.any_forms, powers, self.finder.level)


def _apart(merges: Sequence[Merge]) -> list[Merge]:
    """The first merges that have no quantity in common."""
    used: set[int] = set()
    chosen = []
    for merge in merges:
        if used.isdisjoint(merge.places):
            chosen.append(merge)
            used.update(merge.places)
    return chosen
