"""Quotients of sums of monomials, from small eigenproblems.

The gradient of N/D is along D*grad(N) - N*grad(D), which is linear in N where D is known, and in D
where N is. All of it is linear in the pairs of monomials: their moments are taken over the points
once, and then numerator and denominator are found in turn, each as the eigenvector of what points
off the field's directions against what points along them. A sum is the quotient whose denominator
is 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from scipy.linalg import eigh

from closedform.arrays import FloatArray
from closedform.expressions.sums_and_products import sum_of
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.searching.products import product_of_powers
from closedform.searching.structure_search.forms import screened
from closedform.searching.structure_search.quantities import Data, State, substitute

DEGREE, MOST_QUANTITIES = 2, 5
"""Of the monomials, and how many quantities there may be: time grows with their fourth power."""

TURNS, MORE_TURNS, BEST, SETTLED = 6, 300, 3, 0.9999
"""How often numerator and denominator are found in turn from each start, and from the best of
these, how many those are, and what a turn that gains nothing multiplies the loss by."""

RANK = 1e-13
"""Added to moments, as a share of their trace, so that they have a full rank."""

RISE, ROUNDED, NOTHING = 1.5, 1e-12, 1e-8
"""What leaving out a monomial may multiply the loss by, above rounding, and a coefficient that is
none, as a share of the largest."""


@dataclass(frozen=True, slots=True)
class Moments:
    """What pairs of monomials point off the field and in all.

    Attributes
    ----------
    off, total : ndarray, shape (n_pairs, n_pairs)
    firsts, seconds : ndarray of int, shape (n_pairs,)
    """

    off: FloatArray
    total: FloatArray
    firsts: np.ndarray
    seconds: np.ndarray

    def best(self, known: FloatArray, allowed: np.ndarray) -> tuple[FloatArray, float]:
        """The other side of a quotient of which one is known, and what it loses; only some
        monomials are allowed in it.
        """
        pairs = np.arange(len(self.firsts))
        along = np.zeros((len(pairs), len(known)))
        along[pairs, self.seconds] += known[self.firsts]
        along[pairs, self.firsts] -= known[self.seconds]
        # A multiple of what is known makes the quotient a constant: leave that direction out.
        basis = np.eye(len(known))[:, allowed]
        inside = basis.T @ known
        if inside @ inside > (1 - ROUNDED) * (known @ known):
            basis = basis @ np.linalg.svd(inside[None, :])[2][1:].T
        reduced = along @ basis
        off, total = (reduced.T @ moments @ reduced for moments in (self.off, self.total))
        size = np.trace(total)
        if not size > 0:
            return known, 1.0
        losses, vectors = _eigenvectors(off / size, total / size)
        found = basis @ vectors[:, 0]
        return found / np.linalg.norm(found), max(float(losses[0]), 0.0)

    def nearly_exact(self) -> list[FloatArray]:
        """A side of the quotients nearest to the combinations of pairs that lose least; a quotient
        is a combination of rank two.
        """
        size = np.trace(self.total)
        _, vectors = _eigenvectors(self.off / size, self.total / size)
        found = []
        for vector in vectors.T[:BEST]:
            square = np.zeros((self.seconds.max() + 1,) * 2)
            square[self.firsts, self.seconds], square[self.seconds, self.firsts] = vector, -vector
            found += [*np.linalg.svd(square)[2][:2]]
        return found


def quotients(data: Data, state: State, may_go_on: Callable[[], bool]) -> list[Tree]:
    """The best quotients of a state's quantities, with all monomials and with few, as trees over
    the inputs.
    """
    if not 2 <= state.size <= MOST_QUANTITIES:
        return []
    sizes = np.array([np.abs(quantity.values).max() for quantity in state.quantities])
    powers = [
        np.bincount(chosen, minlength=state.size)
        for degree in range(DEGREE + 1)
        for chosen in map(list, combinations_with_replacement(range(state.size), degree))
    ]
    with np.errstate(all="ignore"):
        moments = _moments(data, state, powers, sizes)
    if not (np.isfinite(moments.total).all() and np.trace(moments.total) > 0):
        return []
    everything = np.ones(len(powers), dtype=bool)
    firsts = [*np.eye(len(powers)), *moments.nearly_exact()]
    starts = [_turned(moments, one, everything, TURNS) for one in firsts]
    trees: list[Tree] = []
    for _, below, _ in sorted(starts, key=lambda start: start[2])[:BEST]:
        if not may_go_on():
            break
        found = _turned(moments, below, everything, MORE_TURNS)
        trees += [_written(sides, powers, sizes) for sides in _shortened(moments, *found)]
    parts = [quantity.tree for quantity in state.quantities]
    return [substitute(tree, parts) for tree in dict.fromkeys(trees) if not tree.is_constant]


def _moments(data: Data, state: State, powers: list[np.ndarray], sizes: FloatArray) -> Moments:
    few = screened(len(data.weights))
    values = np.stack([quantity.values for quantity in state.quantities], axis=1)[few] / sizes
    slopes = np.stack(
        [quantity.units * quantity.lengths[:, None] for quantity in state.quantities], axis=1
    )[few] / sizes[None, :, None]  # fmt: skip
    monomials = np.stack([np.prod(values**power, axis=1) for power in powers], axis=1)
    gradients = np.zeros((len(values), slopes.shape[2], len(powers)))
    for number, power in enumerate(powers):
        for place in np.flatnonzero(power):
            lower = power - np.eye(len(power), dtype=int)[place]
            outer = power[place] * np.prod(values**lower, axis=1)
            gradients[:, :, number] += outer[:, None] * slopes[:, place]
    firsts, seconds = np.triu_indices(len(powers), 1)
    pairs = (
        monomials[:, None, firsts] * gradients[:, :, seconds]
        - monomials[:, None, seconds] * gradients[:, :, firsts]
    )
    directions, weights = data.directions[few], data.weights[few]
    along = np.einsum("nd,ndp->np", directions, pairs)
    rows = (pairs * np.sqrt(weights)[:, None, None]).reshape(-1, len(firsts))
    total = rows.T @ rows
    weighted = along * np.sqrt(weights)[:, None]
    return Moments(total - weighted.T @ weighted, total, firsts, seconds)


def _eigenvectors(off: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of what is off against what is in all, the smallest first; pairs of monomials that always
    point alike leave `total` without a full rank.
    """
    losses, vectors = eigh(off, total + RANK * np.eye(len(total)))
    return losses, vectors


def _turned(
    moments: Moments, below: FloatArray, allowed: np.ndarray, turns: int
) -> tuple[FloatArray, FloatArray, float]:
    """Numerator and denominator found in turn, and what they lose."""
    above, loss = below, 1.0
    for _ in range(turns):
        above, _ = moments.best(below, allowed)
        below, after = moments.best(above, allowed)
        is_settled = after > SETTLED * loss or after < ROUNDED
        loss = after
        if is_settled:
            break
    return above, below, loss


def _shortened(
    moments: Moments, above: FloatArray, below: FloatArray, loss: float
) -> list[tuple[FloatArray, FloatArray]]:
    """Quotients with fewer and fewer monomials, as long as each loses little more than the one
    before, the one that costs least left out first.
    """
    found = [(above, below)]
    sides, kept = [above, below], [np.abs(above) > 0, np.abs(below) > 0]
    while sum(map(np.sum, kept)) > 2:
        tries = []
        for side in (0, 1):
            for place in np.flatnonzero(kept[side]):
                if kept[side].sum() == 1:
                    continue
                allowed = kept[side].copy()
                allowed[place] = False
                tries.append((moments.best(sides[1 - side], allowed), side, allowed))
        if not tries:
            break
        (new, _), side, allowed = min(tries, key=lambda one: one[0][1])
        sides[side], kept[side] = new, allowed
        after = 1.0
        for _ in range(TURNS):
            for number in (1 - side, side):
                sides[number], after = moments.best(sides[1 - number], kept[number])
        if after > RISE * loss + ROUNDED:
            break
        loss = after
        found.append((sides[0], sides[1]))
    return found[-BEST:]


def _written(
    sides: tuple[FloatArray, FloatArray], powers: list[np.ndarray], sizes: FloatArray
) -> Tree:
    above, below = (_sum(side, powers, sizes) for side in sides)
    return above if below.is_constant else apply("div", above, below)


def _sum(side: FloatArray, powers: list[np.ndarray], sizes: FloatArray) -> Tree:
    largest = np.abs(side).argmax()
    own = np.array([side[k] / np.prod(sizes**power) for k, power in enumerate(powers)])
    own = np.where(np.abs(side) > NOTHING * np.abs(side[largest]), own / own[largest], 0.0)
    terms = []
    for number, power in zip(own, powers, strict=True):
        if number != 0:
            product = product_of_powers(
                [(variable(k), Fraction(int(n))) for k, n in enumerate(power) if n]
            )
            if product.is_constant:
                terms.append(constant(float(number)))
            else:
                terms.append(
                    product if number == 1 else apply("mul", constant(float(number)), product)
                )
    return sum_of(terms)
