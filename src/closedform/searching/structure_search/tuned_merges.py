"""Merges by functions whose constants are found one by one, each from a profile of its own.

Splines say first whether there is any such function: forms are made and tuned only then.
"""

from collections.abc import Callable

import numpy as np

from closedform.arrays import FloatArray
from closedform.searching.structure_search.forms import Forms
from closedform.searching.structure_search.merges import OTHERS, Merge, Pair, find_merges
from closedform.searching.structure_search.profiles import (
    SPLINED,
    Profile,
    left_by_splines,
    profile_beside,
    profiles,
)
from closedform.searching.structure_search.quantities import Quantity
from closedform.searching.structure_search.screening import screen
from closedform.searching.structure_search.tuned_forms import tuned

ROUNDS = 2
"""How often each function is tuned again beside the other: splines know slopes roughly."""

FormsOf = Callable[[Quantity], Forms]
"""Makes the forms of a quantity."""


def find_any(pair: Pair, forms_of: FormsOf, level: float) -> list[Merge]:
    """The best sums of one function each of two quantities, if splines say that there are such."""
    both = pair.state.quantities[pair.first], pair.state.quantities[pair.second]
    known = profiles(pair.data, both, (pair.along, pair.across), _splined(pair, level))
    if known is None:
        return []
    yardstick = pair.data.yardstick
    one, other = (
        tuned(forms_of(quantity), quantity, profile.at(pair.few), yardstick)
        for quantity, profile in zip(both, known, strict=True)
    )
    for _ in range(ROUNDS):
        if not one.forms or not other.forms:
            return []
        along, across, weights = _screened(pair)
        losses, _ = screen(one.slopes, other.slopes, along, across, weights)
        i, j = np.unravel_index(np.argmin(np.nan_to_num(losses, nan=np.inf)), losses.shape)
        beside = (other.slopes[j], one.slopes[i])
        found = (
            profile_beside((along, across), beside[0], weights),
            profile_beside((across, along), beside[1], weights),
        )
        one, other = (
            each if profile is None else tuned(each, quantity, profile, yardstick)
            for each, quantity, profile in zip((one, other), both, found, strict=True)
        )
    return find_merges(pair, (one, other), level)


def find_beside(pair: Pair, forms_of: FormsOf, other: Forms, level: float) -> list[Merge]:
    """The best sums of any function of the first quantity and a plain one of the second."""
    *slopes, weights = _screened(pair)
    found = []
    for number, form in enumerate(other.forms):
        if form.family in OTHERS:
            profile = profile_beside((slopes[0], slopes[1]), other.slopes[number], weights)
            if profile is not None:
                found.append((_left(pair, profile), number, profile))
    left, number, profile = min(found, key=lambda one: one[0], default=(np.inf, 0, None))
    if profile is None or left > _splined(pair, level):
        return []
    first = pair.state.quantities[pair.first]
    own = tuned(forms_of(first), first, profile, pair.data.yardstick)
    return find_merges(pair, (own, other.only((other.forms[number].family,))), level)


def find_with_power(
    pair: Pair, forms_of: FormsOf, powers: tuple[Forms, Forms], level: float
) -> list[Merge]:
    """The best products of a power of the second quantity, any function of the first, and a power
    of that, if one is needed.
    """
    own, other = powers
    *slopes, weights = _screened(pair)
    if not other.forms:
        return []
    profile = profile_beside((slopes[0], slopes[1]), other.slopes[0], weights)
    added = own.slopes[0] if own.forms else None
    if profile is None or _left(pair, profile, added) > _splined(pair, level):
        return []
    quantity, yardstick = pair.state.quantities[pair.first], pair.data.yardstick
    forms = forms_of(quantity)
    merges = find_merges(pair, (tuned(forms, quantity, profile, yardstick), other), level)
    if any(merge.loss < level for merge in merges) or added is None:
        return merges
    best = tuned(forms, quantity, profile, yardstick, added)
    sums = []
    for number in range(len(best.forms)):
        with np.errstate(all="ignore"):
            columns = np.stack([best.slopes[number], added], axis=1) * profile.weights[:, None]
            factors, *_ = np.linalg.lstsq(columns, profile.slopes * profile.weights, rcond=None)
        first, second = factors * other.sizes[0] / (best.sizes[number], own.sizes[0])
        sums.append((other.term(0, 1, 1.0), best.term(number, 0, first), own.term(0, 0, second)))
    return pair.merges(sums, pair.weaker, level)


def _screened(pair: Pair) -> tuple[FloatArray, FloatArray, FloatArray]:
    weights = pair.data.weights[pair.few]
    return pair.along[pair.few], pair.across[pair.few], weights / weights.sum()


def _splined(pair: Pair, level: float) -> float:
    """What splines may leave over where a function leaves no more than a level."""
    return level + SPLINED * pair.weaker


def _left(pair: Pair, profile: Profile, added: FloatArray | None = None) -> float:
    first = pair.state.quantities[pair.first]
    return left_by_splines(profile, first.values[pair.few], first.lengths[pair.few], added)
