"""Quotients of sums of monomials: of an exact field by null spaces, of a noisy one grown from
quotients of two.

The gradient of N/D is along V = D*grad(N) - N*grad(D). In an exact field first the polynomials V of
least degree that lie along the field are found, from one null space: multiples of V have a higher
degree. As V/D**2 is a gradient, D*curl(V) = 2*grad(D) x V: D and N, which may take its place, are
the null space. Where N has a repeated factor, such as x**2, V is found without x, and x*V/D**2 is
the gradient.

V is linear in N where D is known, and in D where N is. All of it is linear in the pairs of
monomials, whose moments are taken over the points once: what points off the field's directions, and
all. So each side of a small quotient is the eigenvector of a small problem, and which monomial to
add to it is known from a problem of two.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

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
how many there are; and of each quantity in them, and of monomials whose square may divide N."""

WIDTH, LONGEST, TURNS, MORE_TURNS = 20, 6, 3, 40
"""Quotients of each length that are grown, monomials of the longest, and how often the sides are
found in turn, and those of the best."""

ADDED, EXCHANGED, BETTER = 6, 2, 0.9
"""Monomials that are added to each side of a quotient, one at a time; how many of the best are
improved by exchanges, and what an exchange has to multiply the loss by."""

ROUNDED, NOTHING = 1e-12, 1e-8
"""A loss that is none, and a coefficient that is none as a share of the largest."""

HIGHEST_EXACT, HIGHEST_SIDE = (8, 8, 7, 5), 4
"""Degrees of N*D by the number of quantities, from two on, and of N and D."""

NULL, APART, FILLED = 1e-10, 1e-3, 1e-5
"""A singular value that is none, as a share of the largest, and of the next one; and a coefficient
that is one, as a share of the largest."""

Side = dict[int, float]  # coefficients of monomials by their numbers


def exact_quotients(data: Data, state: State) -> list[Tree]:
    """The quotient of polynomials of least degree that a field follows, over the inputs, if any."""
    if not 2 <= state.size < 2 + len(HIGHEST_EXACT):
        return []
    values = np.stack([quantity.values for quantity in state.quantities], axis=1)
    sizes = np.abs(values).max(axis=0)
    lengths = np.stack([quantity.lengths for quantity in state.quantities], axis=1)
    points = values / sizes
    slopes = state.slopes / lengths * sizes
    slopes = slopes / np.linalg.norm(slopes, axis=1, keepdims=True)
    usable = np.isfinite(slopes).all(axis=1) & (data.weights > 0)
    points, slopes = points[usable], slopes[usable]
    for degree in range(2, HIGHEST_EXACT[state.size - 2] + 1):
        vector = _along(points, slopes, degree)
        if vector is not None:
            powers = _powers(state.size, min(degree, HIGHEST_SIDE), HIGHEST_SIDE)
            sides = _sides(points[: 2 * len(powers)], powers, vector, degree)
            if sides is None:
                return []
            tree = _written(sides, powers, values, sizes)
            parts = [quantity.tree for quantity in state.quantities]
            return [] if tree.is_constant else [substitute(tree, parts)]
    return []


def _powers(count: int, degree: int, highest: int) -> np.ndarray:
    """Exponents up to a degree in all, and up to the highest each."""
    every = np.indices((highest + 1,) * count).reshape(count, -1).T
    return every[every.sum(axis=1) <= degree]


def _monomials(points: FloatArray, powers: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Values (n_points, n_monomials), and gradients (n_points, n_monomials, n_quantities)."""
    values = np.prod(points[:, None, :] ** powers, axis=2)
    gradients = np.empty((*values.shape, points.shape[1]))
    for place in range(points.shape[1]):
        lower = powers - np.eye(points.shape[1], dtype=int)[place]
        with_one = np.prod(points[:, None, :] ** np.maximum(lower, 0), axis=2)
        gradients[:, :, place] = powers[:, place] * with_one
    return values, gradients


def _along(points: FloatArray, slopes: FloatArray, degree: int) -> FloatArray | None:
    """Coefficients of the one polynomial vector that lies along the slopes, for N*D of a degree."""
    count = points.shape[1]
    powers = _powers(count, degree - 1, degree - 1)
    few = slice(None, None, max(len(points) // (4 * len(powers)), 1))
    values, own = _monomials(points[few], powers)[0], slopes[few]
    across = np.eye(count) - own[:, :, None] * own[:, None, :]
    rows = (across[:, :, None, :] * values[:, None, :, None]).reshape(-1, count * len(powers))
    found = _null_space(rows, 1, len(values) * (count - 1))
    return None if found is None else found[0].reshape(len(powers), count)


def _sides(
    points: FloatArray, powers: np.ndarray, vector: FloatArray, degree: int
) -> tuple[Side, Side] | None:
    """Numerator and denominator, with the fewest monomials, from V."""
    count = points.shape[1]
    values, gradients = _monomials(points, _powers(count, degree - 1, degree - 1))
    own = values @ vector
    slopes = np.einsum("nkj,ki->nij", gradients, vector)  # of component i by input j
    values, gradients = _monomials(points, powers)
    factors = _powers(count, HIGHEST, HIGHEST)
    for factor in sorted(factors, key=np.sum):
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = factor / points
        rows = np.concatenate(
            [
                values * (slopes[:, j, i] + rates[:, i] * own[:, j])[:, None]
                - values * (slopes[:, i, j] + rates[:, j] * own[:, i])[:, None]
                - 2 * (gradients[:, :, i] * own[:, j, None] - gradients[:, :, j] * own[:, i, None])
                for i, j in combinations(range(count), 2)
            ]
        )
        plane = _null_space(rows, 2, len(rows))
        if plane is not None:
            return _sparsest(plane)
    return None


def _sparsest(plane: FloatArray) -> tuple[Side, Side] | None:
    """The pair of fewest monomials: any two of the plane's polynomials have the same directions,
    so each pair of monomials stands on one side alone in turn.
    """
    found: list[tuple[Side, Side]] = []
    for pair in combinations(range(plane.shape[1]), 2):
        corner = plane[:, pair]
        if abs(np.linalg.det(corner)) > FILLED * np.abs(corner).max() ** 2 > 0:
            sides = np.linalg.solve(corner, plane)
            least = FILLED * np.abs(sides).max(axis=1)
            above, below = (
                {k: value for k, value in enumerate(own) if abs(value) > limit}
                for own, limit in zip(sides.tolist(), least.tolist(), strict=True)
            )
            found.append((above, below))
    return min(found, key=lambda sides: len(sides[0]) + len(sides[1]), default=None)


def _null_space(rows: FloatArray, count: int, rank: int) -> FloatArray | None:
    """The vectors that rows of at most a rank are orthogonal to, if they are so many."""
    lengths = np.sqrt((rows**2).sum(axis=0))
    if not lengths.all() or not np.isfinite(lengths).all() or rank < rows.shape[1]:
        return None
    _, values, vectors = np.linalg.svd(np.linalg.qr(rows / lengths, mode="r"))
    is_none = values[-count] < NULL * values[0] and values[-count] < APART * values[-count - 1]
    return vectors[-count:] / lengths if is_none else None


@dataclass(frozen=True, slots=True)
class Quotient:
    """Numerator and denominator, and what the quotient loses."""

    sides: tuple[Side, Side]
    loss: float

    def key(self, powers: np.ndarray) -> object:
        """The same for the quotient with a monomial above and below, or turned over."""
        common = powers[[k for side in self.sides for k in side]].min(axis=0)
        return frozenset(frozenset(tuple(powers[k] - common) for k in side) for side in self.sides)


@dataclass(frozen=True, slots=True)
class Moments:
    """Quadratic forms of what quotients point off the field and in all, by the monomials of the
    denominator, the numerator, the denominator and the numerator.
    """

    off: FloatArray
    total: FloatArray

    def grown(self, above: Side, below: Side) -> list[int]:
        """The monomials whose addition to the numerator helps most."""
        others = [k for k in range(len(self.off)) if k not in above and k not in below]
        if not others:
            return []
        over, under = [*above, *others], [*below]
        own, values, n_own = np.array([*above.values()]), np.array([*below.values()]), len(above)
        least = []
        for moments in (self.off, self.total):
            near = moments[np.ix_(under, over, under, over)]
            grid = np.einsum("i,ijkl,k->jl", values, near, values)
            mixed = own @ grid[:n_own]
            least.append((mixed[:n_own] @ own, mixed[n_own:], np.diag(grid)[n_own:]))
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
        """Coefficients of many numerators and denominators, found in turn, and what they lose."""
        one, other = below[:, :, None, None, None], below[:, None, None, :, None]
        first, second = above[:, None, :, None, None], above[:, None, None, None, :]
        off, total = (each[one, first, other, second] for each in (self.off, self.total))
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


def quotients(data: Data, state: State, may_go_on: Callable[[], bool]) -> list[Tree]:
    """The best quotients of a state's quantities, by degree and length, as trees over the inputs;
    an exact one ends the search.
    """
    if not 2 <= state.size < 2 + len(HIGHEST_DEGREES):
        return []
    values = np.stack([quantity.values for quantity in state.quantities], axis=1)
    sizes = np.abs(values).max(axis=0)
    parts, trees = [quantity.tree for quantity in state.quantities], []
    # Many monomials lead a search that takes the best step astray: few of them come first.
    for degree in range(2, HIGHEST_DEGREES[state.size - 2] + 1):
        powers = _powers(state.size, degree, HIGHEST)
        with np.errstate(all="ignore"):
            moments = _moments(data, state, powers, sizes)
        if moments is None:
            break
        found = [*_grown(moments, powers, may_go_on)]
        trees += [substitute(_written(one.sides, powers, values, sizes), parts) for one in found]
        if not found or found[-1].loss < ROUNDED:
            break
    return [tree for tree in dict.fromkeys(trees) if not tree.is_constant]


def _grown(
    moments: Moments, powers: np.ndarray, may_go_on: Callable[[], bool]
) -> Iterator[Quotient]:
    """The best quotient of three monomials, of four and so on, as long as each is better."""
    firsts, seconds = np.triu_indices(len(powers), 1)
    alone = (seconds, firsts, seconds, firsts)
    losses = (moments.off[alone] / moments.total[alone]).tolist()
    order = np.argsort(losses, kind="stable")
    ratios = {tuple(powers[seconds[k]] - powers[firsts[k]]): k for k in order[::-1]}
    starts = sorted(ratios.values(), key=lambda k: losses[k])[:WIDTH]
    beam = [Quotient(({int(seconds[k]): 1.0}, {int(firsts[k]): 1.0}), losses[k]) for k in starts]
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
                larger = Quotient(({**one, added: 0.0}, other), 1.0)
                key = larger.key(powers)
                if key not in known:
                    new.setdefault(key, larger)
    return dict(zip(new, _settled(moments, [*new.values()]), strict=True))


def _exchanged(moments: Moments, quotient: Quotient, powers: np.ndarray) -> Quotient:
    """The quotient with one monomial after another exchanged for a better one."""
    (best,) = _settled(moments, [quotient], MORE_TURNS)
    while best.loss > ROUNDED:
        shorter = []
        for side, gone in [(place, k) for place in (0, 1) for k in best.sides[place]]:
            sides = {**best.sides[0]}, {**best.sides[1]}
            del sides[side][gone]
            if all(sides):
                shorter.append(Quotient(sides, 1.0))
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
        values = np.array([[*quotients[place].sides[1].values()] for place in places])
        upper, lower, losses = moments.settle(above, below, values, turns)
        for row, place in enumerate(places):
            one, other = (
                dict(zip(numbers[row].tolist(), found[row].tolist(), strict=True))
                for numbers, found in ((above, upper), (below, lower))
            )
            settled[place] = Quotient((one, other), float(losses[row]))
    return [settled[place] for place in range(len(quotients))]


def _least(off: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The vectors of many small problems that point off the field least, and by which share."""
    sizes = np.sqrt(np.maximum(np.diagonal(total, axis1=1, axis2=2), 1e-300))
    scale = sizes[:, :, None] * sizes[:, None, :]
    # Where inputs hardly vary, rounding makes some of the smallest negative.
    lengths, frame = np.linalg.eigh(total / scale)
    white = frame / np.sqrt(np.maximum(lengths, 0.0) + ROUNDED)[:, None, :]
    losses, vectors = np.linalg.eigh(white.transpose(0, 2, 1) @ (off / scale) @ white)
    found = (white @ vectors[:, :, :1])[:, :, 0] / sizes
    return found / np.abs(found).max(axis=1, keepdims=True), np.maximum(losses[:, 0], 0.0)


def _moments(data: Data, state: State, powers: np.ndarray, sizes: FloatArray) -> Moments | None:
    few = screened(len(data.weights))
    values = np.stack([quantity.values for quantity in state.quantities], axis=1)[few] / sizes
    slopes = np.stack(
        [quantity.units * quantity.lengths[:, None] for quantity in state.quantities], axis=1
    )[few] / sizes[None, :, None]  # fmt: skip
    monomials, outer = _monomials(values, powers)
    gradients = np.einsum("nmk,nkd->ndm", outer, slopes)
    firsts, seconds = np.triu_indices(len(powers), 1)
    pairs = np.sqrt(data.weights[few])[:, None, None] * (
        monomials[:, None, firsts] * gradients[:, :, seconds]
        - monomials[:, None, seconds] * gradients[:, :, firsts]
    )
    along = np.einsum("nd,ndp->np", data.directions[few], pairs)
    total = np.einsum("ndp,ndq->pq", pairs, pairs, optimize=True)
    if not (np.isfinite(total).all() and (np.diag(total) > 0).all()):
        return None
    place, sign = np.zeros((2, len(powers), len(powers)), dtype=int)
    place[firsts, seconds] = place[seconds, firsts] = np.arange(len(firsts))
    sign[firsts, seconds], sign[seconds, firsts] = 1, -1
    off, total = (
        each[place[:, :, None, None], place] * sign[:, :, None, None] * sign
        for each in (total - along.T @ along, total)
    )
    return Moments(off, total)


def _written(
    sides: tuple[Side, Side], powers: np.ndarray, values: FloatArray, sizes: FloatArray
) -> Tree:
    """A quotient of monomials, in quantities measured in given sizes, as a tree over these."""
    above, below = (_sum(side, powers, sizes) for side in sides)
    with np.errstate(all="ignore"):
        signs = [np.unique(np.sign(evaluate(side, values))) for side in (above, below)]
    has_both = [{-1.0, 1.0} <= {*each} for each in signs]
    if has_both == [False, True]:  # no pole lies inside the data
        above, below = below, above
    return above if below.is_constant else apply("div", above, below)


def _sum(side: Side, powers: np.ndarray, sizes: FloatArray) -> Tree:
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
