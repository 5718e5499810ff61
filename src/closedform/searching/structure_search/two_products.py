"""Two products of powers, whose functions some quantities enter through together.

In logarithms the slopes of F(a(x^c) + b(x^d)) are combinations of c and d, so they lie in one
plane, and whole numbers in it are c and d. Splines say for each pair of them whether there are such
a and b: the products may share quantities.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.tree import Tree
from closedform.searching.structure_search.profiles import SPLINED, basis_of, fitted_profiles
from closedform.searching.structure_search.quantities import Data, State
from closedform.searching.structure_search.similarity import (
    LogField,
    log_field,
    sets_of_places,
    whole_numbers,
    whole_product,
)

FLAT = 1e-9
"""What a plane may leave over of the squares of an exact field's slopes, and of whole numbers."""

HIGHEST, MOST = 4, 8
"""Of the exponents, and how many products are tried in pairs, those of the smallest first."""

ROUGHLY, ALIKE, KEPT = 1e-3, 10.0, 2
"""What splines may leave over before points are weighed anew, how many times more than the best
pair's is alike, and the pairs that are kept.
"""


@dataclass(frozen=True, slots=True)
class TwoProducts:
    """Products of powers of some quantities, as trees over the state's.

    Attributes
    ----------
    places : tuple of int
    products : tuple of Tree
    cost : float
        The sum of their exponents' sizes.
    """

    places: tuple[int, ...]
    products: tuple[Tree, Tree]
    cost: float


def two_products(
    data: Data, state: State, level: float, count: Callable[[int], None]
) -> Iterator[TwoProducts]:
    """What is found for all quantities of a state, then for fewer.

    Parameters
    ----------
    data : Data
    state : State
    level : float
        What true ones may leave over.
    count : callable
        Called for each set of quantities.
    """
    for places in reversed(sets_of_places(state.size)):
        count(1)
        field = log_field(data, state, places)
        if field is not None:
            yield from _of_set(field, places, level)


def _of_set(field: LogField, places: Sequence[int], level: float) -> Iterator[TwoProducts]:
    sizes, frame = np.linalg.eigh(field.moments)
    if sizes[:-2].sum() > (level + FLAT) * sizes.sum():
        return
    plane = frame[:, -2:]
    whole = whole_numbers(len(places), HIGHEST)
    costs = np.abs(whole).sum(axis=1)
    off = ((whole - whole @ plane @ plane.T) ** 2).sum(axis=1)
    flat = np.flatnonzero(off < (level + FLAT) * (whole**2).sum(axis=1))
    whole = whole[flat[np.argsort(costs[flat], kind="stable")[:MOST]]]
    # What changes its sign stands above the line: a pole inside the data is no map.
    whole = np.where((whole[:, field.has_both] < 0).any(axis=1, keepdims=True), -whole, whole)
    own = field.weights / field.weights.sum()
    bases = [_basis(field.logs @ powers) for powers in whole]
    found: list[tuple[float, TwoProducts]] = []
    for one, other in combinations(range(len(whole)), 2):
        both = whole[[one, other]]
        if not (both != 0).any(axis=0).all():
            continue
        slopes = field.units @ np.linalg.pinv(both)
        slopes /= np.linalg.norm(slopes, axis=1, keepdims=True)
        turning = float(np.linalg.eigvalsh((slopes * own[:, None]).T @ slopes)[0])
        pair = (bases[one], bases[other]), (slopes[:, 0], slopes[:, 1]), own
        loss, _ = fitted_profiles(*pair, turns=1)
        loss = fitted_profiles(*pair)[0] if loss < level + ROUGHLY * turning else 1.0
        if loss < level + SPLINED * turning:
            products = whole_product(places, both[0]), whole_product(places, both[1])
            cost = float(np.abs(both).sum())
            found.append((loss, TwoProducts(tuple(places), products, cost)))
    lowest = min((loss for loss, _ in found), default=0.0)
    near = [one for loss, one in found if loss <= ALIKE * lowest]
    yield from sorted(near, key=lambda one: one.cost)[:KEPT]


def _basis(values: FloatArray) -> FloatArray:
    basis = basis_of(values, np.ones(len(values), dtype=bool))
    return np.ones((len(values), 1)) if basis is None else basis
