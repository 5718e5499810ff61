"""The kinds of merges, and when each is tried: a new kind is a function and a row of `KINDS`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from closedform.expressions.expression import Expression
from closedform.field.alignment.refit import refit
from closedform.searching.structure_search.finder import Finder
from closedform.searching.structure_search.forms import Forms
from closedform.searching.structure_search.merges import (
    REFINED,
    Merge,
    Pair,
    find_any,
    find_beside,
    find_doubles,
    find_with_power,
)
from closedform.searching.structure_search.power_laws import find_conditional
from closedform.searching.structure_search.quantities import State, first_state
from closedform.searching.structure_search.quotients import exact_quotients, quotients
from closedform.searching.structure_search.similarity import similarities, two_products
from closedform.searching.structure_search.small_fields import in_inputs, reduced_field
from closedform.searching.structure_search.two_terms import FITTED, two_terms

WIDER_PAIRS = 2
"""Pairs of a noisy state for which forms with constants inside compete with those without."""

SIMILAR, BEST_SIMILAR = 4, 2
"""Pairs of products that quantities are tried to enter through, and those of exact fields."""

POWER = "log: x"
"""The family whose sums are products of powers."""


def plain_forms(finder: Finder, state: State) -> list[Merge]:
    """A sum or product of one function each of two quantities, without constants inside."""
    return finder.of_pairs(state, wider=False)


def wider_forms(finder: Finder, state: State) -> list[Merge]:
    """The same with constants inside one of the functions."""
    return finder.of_pairs(state, wider=True)


def wider_forms_of_few(finder: Finder, state: State) -> Iterator[Merge]:
    """The same for the pairs for which most speaks by plain forms."""
    good = [merge for merge in plain_forms(finder, state) if merge.loss < finder.level]
    pairs = dict.fromkeys(merge.places for merge in finder.ranked(state, good))
    for one, other in [*pairs][:WIDER_PAIRS]:
        yield from finder.of_pair(state, (one, other), True)


def conditional(finder: Finder, state: State) -> list[Merge]:
    """Two quantities that merge once others are given."""
    return find_conditional(finder.data, state)


def any_functions(finder: Finder, state: State) -> Iterator[Merge]:
    """Any function each of two quantities."""
    for places in combinations(range(state.size), 2):
        finder.count(1)
        yield from find_any(Pair(finder.data, state, *places), finder.any_forms, finder.level)


def profiles(finder: Finder, state: State) -> list[Merge]:
    """A plain function of one quantity and any of another, which is found by regression."""
    return finder.one_by_one(
        state, lambda pair, plain: find_beside(pair, finder.any_forms, plain, finder.level)
    )


def doubles(finder: Finder, state: State) -> list[Merge]:
    """A sum of two functions of one quantity and one of another."""

    def find(pair: Pair, plain: Forms) -> list[Merge]:
        forms = finder.any_forms(state.quantities[pair.first])
        return find_doubles(pair, forms, plain, finder.level)

    return finder.one_by_one(state, find)


def quotients_of_all(finder: Finder, state: State) -> Iterator[State]:
    """A quotient of sums of monomials of all quantities."""
    finder.count(1)
    if finder.is_exact:
        trees = exact_quotients(finder.data, state)
    else:
        trees = quotients(finder.data, state, lambda: not finder.is_over())
    field = reduced_field(finder.data, first_state(finder.data))
    if field is not None:
        # Moments are squares, and so is the rounding of what comes from them.
        fitted, _ = refit([Expression(tree, field.names) for tree in trees], field)
        yield from finder.whole(state, [one.tree for one in fitted])


def exact_sums(finder: Finder, state: State) -> Iterator[State]:
    """A sum of many terms of all quantities, from null spaces."""
    yield from finder.whole(state, finder.exact_sums(state))


def sums_of_two(finder: Finder, state: State) -> Iterator[State]:
    """A sum of two terms of all quantities, each with a constant inside."""
    field = reduced_field(finder.data, state)
    if field is None:
        return
    finder.count(FITTED // REFINED)
    space, yardstick = finder.space.over(field.names), finder.data.yardstick
    found = two_terms(field, space, yardstick, finder.is_over)
    yield from finder.whole(state, [in_inputs(one, state) for one in found])


def similarity(finder: Finder, state: State) -> Iterator[State]:
    """A product of powers times a function of another, for the quantities whose slopes say best
    what they are.
    """
    # In an exact field the best is right, or none is.
    count = BEST_SIMILAR if finder.is_exact else SIMILAR
    for similar in similarities(finder.data, state)[:count]:
        one = finder.with_products(state, similar)
        if one is None:
            continue
        finder.count(1)
        # Any function of the inner product, times a power of the outer one.
        pair = Pair(finder.data, one, one.size - 1, one.size - 2)
        inner, outer = (finder.forms(each, False).only((POWER,)) for each in pair.quantities)
        merges = find_with_power(pair, finder.any_forms, (inner, outer), finder.level)
        good = [merge for merge in merges if merge.loss < finder.level]
        yield from finder.best_of(one, good)
        if good and finder.is_exact:
            return


def products(finder: Finder, state: State) -> Iterator[State]:
    """A sum of any functions of two products, which may share quantities."""
    for found in two_products(finder.data, state, finder.level, finder.count):
        one = finder.with_products(state, found)
        if one is None:
            continue
        finder.count(1)
        pair = Pair(finder.data, one, one.size - 2, one.size - 1)
        merges = find_any(pair, finder.any_forms, finder.level)
        good = [merge for merge in merges if merge.loss < finder.level]
        yield from finder.best_of(one, good)
        if good:
            return


Turn = Literal["first", "then", "dear"]
Find = Callable[[Finder, State], Iterable[Merge | State]]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of merge, and its turn at each kind of state; None where it is not tried.

    What is found `first` competes in one list. The others follow in the table's order, each until
    something good is found, and `dear` ones where the search is thorough. Only of the last two
    quantities of a noisy field all kinds are tried, as noise makes forms alike. Where merges may
    lose anything, `first` is for every state, and `then` for the inputs alone.
    """

    find: Find
    exact: Turn | None
    exact_last: Turn | None
    noisy: Turn | None
    noisy_last: Turn | None
    lossy: Turn | None


FIRST: Turn = "first"
THEN: Turn = "then"
DEAR: Turn = "dear"
NO = None
KINDS = {
    #                          function            exact, of two  noisy, of two  lossy
    "plain forms": Kind(       plain_forms,        FIRST, FIRST,  FIRST, FIRST,  FIRST),
    "few wider forms": Kind(   wider_forms_of_few, NO,    NO,     FIRST, NO,     NO),
    "conditional": Kind(       conditional,        THEN,  NO,     THEN,  NO,     FIRST),
    "quotients": Kind(         quotients_of_all,   THEN,  THEN,   THEN,  THEN,   THEN),
    "exact sums": Kind(        exact_sums,         THEN,  NO,     NO,    NO,     NO),
    "any functions": Kind(     any_functions,      THEN,  THEN,   THEN,  FIRST,  NO),
    "similarity": Kind(        similarity,         THEN,  THEN,   THEN,  THEN,   THEN),
    "products": Kind(          products,           THEN,  THEN,   THEN,  THEN,   NO),
    "profiles": Kind(          profiles,           THEN,  THEN,   THEN,  FIRST,  NO),
    "wider forms": Kind(       wider_forms,        NO,    DEAR,   NO,    FIRST,  FIRST),
    "sums of two": Kind(       sums_of_two,        DEAR,  DEAR,   DEAR,  THEN,   NO),
    "doubles": Kind(           doubles,            NO,    DEAR,   NO,    THEN,   NO),
}  # fmt: skip
"""Every kind of merge, likely and cheap ones first, as time may run out."""


def kinds_at(finder: Finder, state: State, turn: Turn) -> list[Find]:
    """What finds the kinds of merges whose turn it is."""
    column = ("exact" if finder.is_exact else "noisy") + ("_last" if state.size == 2 else "")
    return [kind.find for kind in KINDS.values() if getattr(kind, column) == turn]


def lossy_kinds(turn: Turn) -> list[Find]:
    """The same where merges may lose anything."""
    return [kind.find for kind in KINDS.values() if kind.lossy == turn]
