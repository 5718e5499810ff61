"""Quotients of sums of monomials, grown from quotients of two.

The gradient of N/D is along D*grad(N) - N*grad(D), which is linear in N where D is known, and in D
where N is. All of it is linear in the pairs of monomials, whose moments are taken over the points
once: what points off the field's directions, and all. So each side of a small quotient is the
eigenvector of a small problem, and which monomial to add to it is known from a problem of two.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import evaluate
from closedform.expressions.sums_and_products import sum_of
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.searching.products import product_of_powers
from closedform.searching.structure_search.quantities import Data, State, substitute
from closedform.searching.structure_search.screening import screened

HIGHEST_DEGREES, HIGHEST = (4, 4, 3, 2), 2
"""Of monomials by the number of quantities, from two on, since time grows with the fourth power of
how many there are; and of each quantity in them."""

WIDTH, LONGEST, TURNS, MORE_TURNS = 20, 6, 3, 40
"""Quotients of each length that are grown, monomials of the longest, and how often the sides are
found in turn, and those of the best."""

ADDED, EXCHANGED, BETTER = 6, 2, 0.9
"""Monomials that are added to each side of a quotient, one at a time; how many of the best are
improved by exchanges, and what an exchange has to multiply the loss by."""

ROUNDED, NOTHING = 1e-12, 1e-8
"""A loss that is none, and a coefficient that is none as a share of the largest."""

Side = dict[int, float]
"""Coefficients of monomials by their numbers."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """Numerator and denominator, and what the quotient loses."""

    above: Side
    below: Side
    loss: float

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both."""
        return self.above, self.below

    def key(self, powers: np.ndarray) -> object:
        """The same for the quotient with a monomial above and below, or turned over."""
        common = powers[[*self.above, *self.below]].min(axis=0)
        return frozenset(frozenset(tuple(powers[k] - common) for k in side) for side in self.sides)


@dataclass(frozen=True, slots=True)
class Moments:
    """What pairs of monomials point off the field and in all.

    Attributes
    ----------
    off, total : ndarray, shape (n_pairs, n_pairs)
    place, sign : ndarray of int, shape (n_monomials, n_monomials)
        Where the pair of a denominator's monomial and a numerator's stands, and its sign there.
    """

    off: FloatArray
    total: FloatArray
    place: np.ndarray
    sign: np.ndarray

    def grown(self, above: Side, below: Side) -> list[int]:
        """The monomials whose addition to the numerator helps most."""
        pairs, values = self._pairs(above, below)
        others = [k for k in range(len(self.place)) if k not in above and k not in below]
        if not others:
            return []
        known, size = list(below), np.array([*below.values()])[:, None]
        new, signed = self.place[np.ix_(known, others)], self.sign[np.ix_(known, others)] * size
        least = []
        for moments in (self.off, self.total):
            near = moments[pairs]
            own = values @ near[:, pairs] @ values
            mixed = ((values @ near)[new] * signed).sum(axis=0)
            grid = moments[new[:, None, :], new[None, :, :]]
            each = (grid * signed[:, None, :] * signed[None, :, :]).sum(axis=(0, 1))
            least.append((own, mixed, each))
        (a, b, c), (d, e, f) = least
        # The smaller root of the determinant of [[a, b], [b, c]] - loss*[[d, e], [e, f]].
        square, middle = d * f - e**2, a * f + c * d - 2 * b * e
        with np.errstate(all="ignore"):
            root = np.sqrt(np.maximum(middle**2 - 4 * square * (a * c - b**2), 0.0))
            losses = np.where(square > ROUNDED * d * f, (middle - root) / (2 * square), np.inf)
        return [others[k] for k in np.argsort(losses)[:ADDED]]

    def settle(
        self, above: np.ndarray, below: np.ndarray, values: FloatArray, turns: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Coefficients of many numerators and denominators, found in turn, and what the quotients
        lose.

        Parameters
        ----------
        above, below : ndarray of int, shape (n_quotients, n_monomials)
            The monomials of each side.
        values : ndarray, shape (n_quotients, n_monomials)
            Coefficients of the denominators to start from.
        """
        pairs, signs = (
            each[below[:, :, None], above[:, None, :]] for each in (self.place, self.sign)
        )
        both = signs[:, :, :, None, None] * signs[:, None, None, :, :]
        off, total = (
            each[pairs[:, :, :, None, None], pairs[:, None, None, :, :]] * both
            for each in (self.off, self.total)
        )
        upper, losses = values, np.ones(len(values))
        for _ in range(turns):
            upper, _ = _least(
                *(np.einsum("qi,qijkl,qk->qjl", values, each, values) for each in (off, total))
            )
            values, losses = _least(
                *(np.einsum("qj,qijkl,ql->qik", upper, each, upper) for each in (off, total))
            )
            if (losses < ROUNDED).all():
                break
        return upper, values, losses

    def _pairs(self, above: Side, below: Side) -> tuple[np.ndarray, FloatArray]:
        """The pairs of a quotient, and the coefficient of each."""
        totals: dict[int, float] = {}
        for i, denominator in below.items():
            for j, numerator in above.items():
                if i != j:
                    at = int(self.place[i, j])
                    part = self.sign[i, j] * denominator * numerator
                    totals[at] = totals.get(at, 0.0) + part
        return np.array([*totals], dtype=int), np.array([*totals.values()])


def quotients(data: Data, state: State, may_go_on: Callable[[], bool]) -> list[Tree]:
    """The best quotients of a state's quantities, by degree and length, as trees over the inputs;
    an exact one ends the search.
    """
    if not 2 <= state.size < 2 + len(HIGHEST_DEGREES):
        return []
    values = np.stack([quantity.values for quantity in state.quantities], axis=1)
    sizes = np.abs(values).max(axis=0)
    every = [np.array(power) for power in product(range(HIGHEST + 1), repeat=state.size)]
    parts, trees = [quantity.tree for quantity in state.quantities], []
    # Many monomials lead a search that takes the best step astray: few of them come first.
    for degree in range(2, HIGHEST_DEGREES[state.size - 2] + 1):
        powers = [power for power in every if power.sum() <= degree]
        with np.errstate(all="ignore"):
            moments = _moments(data, state, powers, sizes)
        if not (np.isfinite(moments.total).all() and (np.diag(moments.total) > 0).all()):
            break
        found = [*_grown(moments, np.array(powers), may_go_on)]
        written = [written_quotient(one.sides, powers, values, sizes) for one in found]
        trees += [substitute(one, parts) for one in written]
        if not found or found[-1].loss < ROUNDED:
            break
    return [tree for tree in dict.fromkeys(trees) if not tree.is_constant]


def _grown(
    moments: Moments, powers: np.ndarray, may_go_on: Callable[[], bool]
) -> Iterator[Quotient]:
    """The best quotient of three monomials, of four and so on, as long as each is better."""
    firsts, seconds = np.triu_indices(len(powers), 1)
    losses = (np.diag(moments.off) / np.diag(moments.total)).tolist()
    order = np.argsort(losses, kind="stable")
    ratios = {tuple(powers[seconds[k]] - powers[firsts[k]]): k for k in order[::-1]}
    starts = sorted(ratios.values(), key=lambda k: losses[k])[:WIDTH]
    beam = [Quotient({int(seconds[k]): 1.0}, {int(firsts[k]): 1.0}, losses[k]) for k in starts]
    lowest = np.inf
    for _ in range(2, LONGEST):
        found = _children(moments, beam, powers, ())
        if not may_go_on():
            return
        ranked = sorted(found.values(), key=lambda child: child.loss)[:WIDTH]
        if not ranked:
            return
        best = [_exchanged(moments, one, powers) for one in ranked[:EXCHANGED]]
        beam = sorted([*best, *ranked[EXCHANGED:]], key=lambda child: child.loss)
        if beam[0].loss > lowest:
            return
        lowest = beam[0].loss
        yield beam[0]
        if lowest < ROUNDED:
            return


def _children(
    moments: Moments, parents: Iterable[Quotient], powers: np.ndarray, known: Container[object]
) -> dict[object, Quotient]:
    """Quotients of one monomial more, without those that are known."""
    new: dict[object, Quotient] = {}
    for parent in parents:
        for one, other in (parent.sides, parent.sides[::-1]):
            for added in moments.grown(one, other):
                larger = Quotient({**one, added: 0.0}, other, 1.0)
                key = larger.key(powers)
                if key not in known:
                    new.setdefault(key, larger)
    return dict(zip(new, _settled(moments, [*new.values()]), strict=True))


def _exchanged(moments: Moments, quotient: Quotient, powers: np.ndarray) -> Quotient:
    """The quotient with one monomial after another exchanged for a better one."""
    (best,) = _settled(moments, [quotient], MORE_TURNS)
    while best.loss > ROUNDED:
        shorter = []
        for side, gone in [(0, each) for each in best.above] + [(1, each) for each in best.below]:
            above, below = (dict(each) for each in best.sides)
            del (above, below)[side][gone]
            if above and below:
                shorter.append(Quotient(above, below, 1.0))
        tries = _children(moments, shorter, powers, {best.key(powers)})
        better = min(tries.values(), key=lambda one: one.loss, default=best)
        if not better.loss < BETTER * best.loss:
            break
        (best,) = _settled(moments, [better], MORE_TURNS)
    return best


def _settled(moments: Moments, quotients: Sequence[Quotient], turns: int = TURNS) -> list[Quotient]:
    """Numerators and denominators found in turn, of all quotients of one shape at once."""
    settled: dict[int, Quotient] = {}
    shapes = [tuple(map(len, one.sides)) for one in quotients]
    for shape in dict.fromkeys(shapes):
        places = [place for place, own in enumerate(shapes) if own == shape]
        above, below = (
            np.array([[*quotients[place].sides[side]] for place in places]) for side in (0, 1)
        )
        values = np.array([[*quotients[place].below.values()] for place in places])
        upper, lower, losses = moments.settle(above, below, values, turns)
        for row, place in enumerate(places):
            sides = [
                dict(zip(numbers[row].tolist(), found[row].tolist(), strict=True))
                for numbers, found in ((above, upper), (below, lower))
            ]
            settled[place] = Quotient(sides[0], sides[1], float(losses[row]))
    return [settled[place] for place in range(len(quotients))]


def _least(off: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The vectors for which what points off is the least share of all, and these shares, of many
    small problems.
    """
    sizes = np.sqrt(np.maximum(np.diagonal(total, axis1=1, axis2=2), 1e-300))
    scale = sizes[:, :, None] * sizes[:, None, :]
    # Where inputs hardly vary, rounding makes some of the smallest negative.
    lengths, frame = np.linalg.eigh(total / scale)
    white = frame / np.sqrt(np.maximum(lengths, 0.0) + ROUNDED)[:, None, :]
    losses, vectors = np.linalg.eigh(white.transpose(0, 2, 1) @ (off / scale) @ white)
    found = (white @ vectors[:, :, :1])[:, :, 0] / sizes
    return found / np.abs(found).max(axis=1, keepdims=True), np.maximum(losses[:, 0], 0.0)


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
    place, sign = np.zeros((2, len(powers), len(powers)), dtype=int)
    place[firsts, seconds] = place[seconds, firsts] = np.arange(len(firsts))
    sign[firsts, seconds], sign[seconds, firsts] = 1, -1
    return Moments(total - weighted.T @ weighted, total, place, sign)


def written_quotient(
    sides: tuple[Side, Side], powers: Sequence[np.ndarray], values: FloatArray, sizes: FloatArray
) -> Tree:
    """A quotient of monomials, in quantities measured in given sizes, as a tree over these.

    It is turned over where only the denominator changes its sign: no pole lies inside the data.
    """
    above, below = (_sum(side, powers, sizes) for side in sides)
    if _changes_sign(below, values) and not _changes_sign(above, values):
        above, below = below, above
    return above if below.is_constant else apply("div", above, below)


def _changes_sign(side: Tree, values: FloatArray) -> bool:
    with np.errstate(all="ignore"):
        own = evaluate(side, values)
    return bool((own > 0).any() and (own < 0).any())


def _sum(side: Side, powers: Sequence[np.ndarray], sizes: FloatArray) -> Tree:
    largest = max(side, key=lambda k: abs(side[k]))
    scale = side[largest] / np.prod(sizes ** powers[largest])
    terms = []
    for k, value in side.items():
        if abs(value) < NOTHING * abs(side[largest]):
            continue
        number = float(value / np.prod(sizes ** powers[k]) / scale)
        monomial = product_of_powers(
            [(variable(place), Fraction(int(n))) for place, n in enumerate(powers[k]) if n]
        )
        if monomial.is_constant:
            terms.append(constant(number))
        else:
            terms.append(monomial if k == largest else apply("mul", constant(number), monomial))
    return sum_of(terms)
