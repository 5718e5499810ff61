"""Sums of two terms that may share inputs, each with a constant inside: x*exp(-2*y) + log(3 + x*z).

A sum t + k*s follows the field where the parts of both gradients that point across the field's
directions cancel each other, point by point. Over all points this part is one long vector for each
term, whatever the other one is. So the n^2 sums of a library of n terms are compared by products of
matrices, and only the nearest are fitted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import FINE, values_and_gradients
from closedform.expressions.parse import parse
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Constant, Tree, apply, constant, variable
from closedform.field.alignment.comparison import comparison_of
from closedform.field.alignment.refit import Tapes
from closedform.field.gradient_field import GradientField
from closedform.searching.products import product_of_powers
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.quantities import USUAL_YARDSTICK, Yardstick, substitute

FUNCTIONS = {
    "x": (1.0,),
    "log(x)": (1.0,),
    "exp(b*x)": (-3.0, -1.0, -0.4, 0.4, 1.0, 3.0),
    "log(b*x + 1)": (0.15, 0.4, 1.0, 2.5, 7.0),
    "1/(x + c)": (0.15, 0.5, 1.5, 5.0),
    "sqrt(x + c)": (0.15, 0.5, 1.5, 5.0),
    "sin(b*x)": (0.5, 0.8, 1.3, 2.0, 3.0, 4.5),
    "cos(b*x)": (0.5, 0.8, 1.3, 2.0, 3.0, 4.5),
    "tanh(b*x)": (0.35, 0.6, 1.0, 1.7, 3.0),
}
"""What a term may be of a monomial, with the constants to start from: c in units of the monomial's
median, and b of its inverse."""

DEGREES = {"x": 1.0, "1/(x + c)": -1.0, "sqrt(x + c)": 0.5}
"""The power of the monomial's median that comes out of a function: 0 unless it is here."""

POWERS = {1: (1.0, 2.0, -1.0, 0.5, 3.0, -2.0, -0.5, 1.5), 2: (1.0, -1.0, 2.0, -2.0), 3: (1.0, -1.0)}
"""Exponents in monomials of one, two and three inputs."""

MOST_INPUTS, FACTORS = 4, (1, -1, 2)
"""Inputs up to which sums are looked for, and powers of one input that a function is multiplied
by."""

N_POINTS, N_FITTED, N_PLACES = 120, 500, 20
"""Points on which terms are compared, and sums are fitted, and numbers that the long vectors are
projected on."""

MOST_TERMS, AT_ONCE = 8_000, 500
"""Terms of a library, since time grows with their square, and how many are compared at once."""

NEAREST, FITTED, STEPS, BEST = 10_000, 300, 12, 12
"""Sums that are compared in full, those of them whose constants are fitted, in how many steps, and
those that are kept."""

SPREAD, LEAST = 0.05, 1e-3
"""Share of the points that a term must be steep at: what is steep at one point is cancelled there
by anything. And the share of the longer gradient that a sum's must have: of two terms that are
nearly the same only rounding is left."""

TURNS, FLAT, TINY = 3, 1e-12, 1e-30
"""How often a sum's factor is found by angles, the squared slope that counts as none, and what
keeps quotients finite."""


class Term(NamedTuple):
    """A function of a monomial, times a power of an input."""

    powers: tuple[float, ...]  # of all inputs in the monomial
    function: str
    share: float  # the function's constant, in units of the monomial's median
    size: float  # that median
    column: int  # the input whose power is a factor
    factor: int  # that power; 0 for none

    @property
    def outline(self) -> tuple[object, ...]:
        """What it is without its constant."""
        return self.powers, self.function, self.column, self.factor

    @property
    def cost(self) -> int:
        """Complexity, and a little more where parts could be spelt together."""
        factor = 2 + abs(self.factor) if self.factor else 0
        return _cost(self.function) - 1 + _cost(self.powers) + factor

    @property
    def tree(self) -> Tree:
        """Over the inputs."""
        shape = parse(self.function, names=["x", "b", "c"]).tree
        constants = [_number(self.share / self.size), _number(self.share * self.size)]
        inner = substitute(shape, [_monomial(self.powers), *constants])
        part = product_of_powers([(variable(self.column), Fraction(self.factor))])
        return apply("mul", part, inner) if self.factor else inner


@dataclass(frozen=True, slots=True)
class Library:
    """Terms at some points of a field, their gradients of length 1 over all points.

    The prices say by how much the loss of a sum counts more for each term's complexity: terms with
    constants inside are many, and some of them come near anything. Losses far below the floor are
    alike.
    """

    terms: list[Term]
    across: NDArray[np.float32]  # (n_terms, n_points, n_inputs): across the field's directions
    along: NDArray[np.float32]  # (n_terms, n_points): along them
    sizes: FloatArray  # (n_terms,): what gradients were divided by
    prices: NDArray[np.float32]  # (n_terms,)
    floor: float

    def priced(self, losses: NDArray[Any], first: Any, second: Any) -> NDArray[Any]:
        """What ranks sums of some terms: the exponential of their descriptions."""
        return (losses + self.floor) * self.prices[first] * self.prices[second]


def two_terms(
    field: GradientField,
    space: SearchSpace,
    yardstick: Yardstick = USUAL_YARDSTICK,
    is_over: Callable[[], bool] = lambda: False,
) -> list[Expression]:
    """The best sums of two terms of a field's inputs, constants fitted; none once time is over."""
    if not 2 <= len(field.names) <= MOST_INPUTS:
        return []
    library = make_library(_some(field, N_POINTS), space, yardstick)
    if len(library.terms) < 2 or is_over():
        return []
    near = _near_pairs(library, is_over)
    if is_over():
        return []
    pairs, factors = _by_price(library, near)
    chosen: dict[object, Tree] = {}
    for (one, other), factor in zip(pairs.tolist(), factors.tolist(), strict=True):
        first, second = library.terms[one], library.terms[other]
        outline = frozenset((first.outline, second.outline))
        if outline not in chosen:
            chosen[outline] = apply("add", first.tree, apply("mul", _number(factor), second.tree))
        if len(chosen) == FITTED:
            break
    sums = [Expression(tree, field.names) for tree in chosen.values()]
    free = [
        tuple(
            place
            for place, token in enumerate(one.tree.tokens)
            if isinstance(token, Constant) and token.value.denominator > 1
        )
        for one in sums
    ]
    fitted, left = Tapes.of(sums, free).fit(comparison_of(_some(field, N_FITTED)), STEPS)
    expressions = fitted.read()
    lengths = yardstick(left, np.array([complexity(one.tree) for one in expressions], dtype=float))
    # log(x) and log(1/x) lose the same.
    order = np.argsort(lengths, kind="stable").tolist()
    found = {f"{left[place]:.6g}": place for place in reversed(order)}
    return [expressions[place] for place in sorted(found.values(), key=order.index)[:BEST]]


def _some(field: GradientField, count: int) -> GradientField:
    usable = np.flatnonzero(field.weights > 0)
    return field.subset(usable[:: max(len(usable) // count, 1)])


def _number(value: float) -> Tree:
    """A constant that is fitted: no whole number."""
    return constant(float(f"{value:.4g}") * (1 + 1e-9))


def make_library(
    field: GradientField, space: SearchSpace, yardstick: Yardstick = USUAL_YARDSTICK
) -> Library:
    """Functions of monomials, with every constant, alone and times a power of an input."""
    directions, roots = field.frames[:, :, 0], np.sqrt(field.weights)[:, None]
    terms, gradients = _slopes(field, space)
    with np.errstate(all="ignore"):
        every = gradients * roots
        energy = (every**2).sum(axis=2)
        spread = energy.sum(axis=1) ** 2 / (energy**2).sum(axis=1) / field.n_points
    kept = np.flatnonzero(spread > SPREAD)
    terms = [terms[place] for place in kept]
    sizes = np.sqrt(energy[kept].sum(axis=1))
    units = every[kept] / sizes[:, None, None]
    along = np.einsum("tnd,nd->tn", units, directions)
    across = units - along[:, :, None] * directions
    costs = np.array([term.cost for term in terms], dtype=float)
    lengths = yardstick(1.0, costs) - yardstick(1.0, 0)
    prices = np.exp(lengths * 2 / yardstick.effective)
    across, along, prices = (each.astype(np.float32) for each in (across, along, prices))
    return Library(terms, across, along, sizes, prices, yardstick.floor)


def _slopes(field: GradientField, space: SearchSpace) -> tuple[list[Term], FloatArray]:
    """The cheapest terms and their gradients in units of the inputs: functions of monomials, alone
    and times a power of an input.
    """
    points, scale = field.points, field.scale

    def is_allowed(tree: Tree) -> bool:
        return tree.size == 1 or space.allows_inside(tree, field.names)

    with np.errstate(all="ignore"):
        powers = [each for each in _monomials(len(field.names)) if is_allowed(_monomial(each))]
        monomials = np.stack([np.prod(points ** np.array(each), axis=1) for each in powers])
        sizes = np.median(np.abs(monomials), axis=1)
        # In units of their medians all monomials are put into the same functions.
        units = monomials / sizes[:, None]
        pairs = [(text, share) for text, shares in FUNCTIONS.items() for share in shares]
        functions = [pair for pair in pairs if is_allowed(_function(*pair))]
        tapes = compile_tapes([_function(*pair) for pair in functions])
        values, slopes, status = (
            each.reshape(len(functions), *units.shape)
            for each in values_and_gradients(tapes, units.reshape(-1, 1))
        )
        degrees = np.array([DEGREES.get(text, 0.0) for text, _ in functions])
        outer = sizes[None, :, None] ** degrees[:, None, None]
        values, slopes = values * outer, slopes * outer
        inner = np.array(powers)[:, None, :] / points * scale
        gradients = (slopes * units)[..., None] * inner
        fine = (status == FINE).all(axis=2) & np.isfinite(gradients).all(axis=(2, 3))
        factors = [
            (0, 0),
            *((column, power) for power, column in product(FACTORS, range(len(field.names)))),
        ]
        grown = np.stack([points[:, column] ** float(power) for column, power in factors])
        own = np.zeros((len(factors), *points.shape))
        for place, (column, power) in enumerate(factors):
            own[place, :, column] = power * grown[place] / points[:, column] * scale[column]
    terms, rows = [], []
    for number, each in enumerate(factors):
        for m, f in np.argwhere(fine.T).tolist() if np.isfinite(own[number]).all() else ():
            # A monomial times a power is another monomial.
            if number == 0 or functions[f][0] != "x":
                terms.append(Term(powers[m], *functions[f], float(sizes[m]), *each))
                rows.append((f, m, number))
    cheapest = np.argsort([term.cost for term in terms], kind="stable")[:MOST_TERMS]
    f, m, number = np.array(rows, dtype=np.int64).reshape(-1, 3)[cheapest].T
    with np.errstate(all="ignore"):
        new = gradients[f, m] * grown[number][..., None] + values[f, m][..., None] * own[number]
    return [terms[place] for place in cheapest], new


@cache
def _function(text: str, share: float) -> Tree:
    """Of a monomial in units of its median."""
    shape = parse(text, names=["x", "b", "c"]).tree
    return substitute(shape, [variable(0), _number(share), _number(share)])


@cache
def _cost(part: str | tuple[float, ...]) -> int:
    return complexity(_function(part, 1.0) if isinstance(part, str) else _monomial(part))


@cache
def _monomial(powers: tuple[float, ...]) -> Tree:
    return product_of_powers(
        [(variable(column), Fraction(power)) for column, power in enumerate(powers) if power]
    )


@cache
def _monomials(count: int) -> list[tuple[float, ...]]:
    """Exponents of all inputs, those of few inputs first."""
    found: list[tuple[float, ...]] = []
    for size, exponents in POWERS.items():
        for places in combinations(range(count), size):
            for powers in product(exponents, repeat=size):
                whole = dict(zip(places, powers, strict=True))
                found.append(tuple(whole.get(place, 0.0) for place in range(count)))
    return found


def _near_pairs(library: Library, is_over: Callable[[], bool]) -> NDArray[np.int64]:
    """Pairs of terms whose parts across the field are nearly multiples of one another, and whose
    gradients are not.
    """
    n_terms = len(library.terms)
    whole = [each.reshape(n_terms, -1) for each in (library.across, library.along)]
    squares = [(each**2).sum(axis=1) for each in whole]
    flat = [_projected(each, lengths) for each, lengths in zip(whole, squares, strict=True)]
    found: list[NDArray[np.int64]] = []
    kept: list[NDArray[Any]] = []
    worst = np.inf
    for start in range(0, n_terms, AT_ONCE):
        rows = slice(start, start + AT_ONCE)
        across, along = (each[rows] @ each[start:].T for each in flat)
        (own_across, own_along), (across_2, along_2) = (
            [each[rows, None] for each in squares], [each[None, start:] for each in squares]
        )  # fmt: skip
        factors = -across / np.maximum(across_2, TINY)
        left = np.maximum(own_across + factors * across, 0)
        total = own_along + factors * (2 * along + factors * along_2) + left
        longer = np.maximum(own_across + own_along, factors**2 * (across_2 + along_2))
        losses = np.where(total > LEAST * longer, left / np.maximum(total, TINY), 1)
        priced = library.priced(losses, np.s_[rows, None], np.s_[None, start:])
        first, second = np.nonzero(np.triu(priced < worst, 1))
        near = priced[first, second]
        best = np.argpartition(near, NEAREST)[:NEAREST] if len(near) > NEAREST else slice(None)
        found.append(np.stack([first, second], axis=1)[best] + start)
        kept.append(near[best])
        if sum(map(len, kept)) > NEAREST:
            worst = float(np.partition(np.concatenate(kept), NEAREST)[NEAREST])
        if is_over():
            break
    order = np.argsort(np.concatenate(kept), kind="stable")[:NEAREST]
    return np.concatenate(found)[order]


def _projected(vectors: NDArray[np.float32], squares: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors in fewer dimensions, with the lengths that they have."""
    count = min(N_PLACES, vectors.shape[1])
    frame, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(vectors.shape[1], count)))
    short = vectors @ frame.astype(np.float32)
    lengths = np.linalg.norm(short, axis=1)
    return short * (np.sqrt(squares) / np.maximum(lengths, TINY))[:, None]


def _by_price(library: Library, pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], FloatArray]:
    """Pairs by the description that their sum is, each with the factor of its second term."""
    factors, losses = (np.empty(len(pairs)) for _ in range(2))
    for rows in np.array_split(np.arange(len(pairs)), max(len(pairs) // AT_ONCE, 1)):
        (first, second), (one, other) = (
            (each[pairs[rows, 0]], each[pairs[rows, 1]]) for each in (library.across, library.along)
        )
        mixed, square = (first * second).sum(axis=2), (second**2).sum(axis=2)
        left = total = np.ones(one.shape, dtype=np.float32)
        factor = np.zeros(len(rows))
        for _ in range(TURNS):
            # Angles count alike at all points, however steep the sum is there.
            weights = 1 / np.maximum(total, FLAT)
            sums = [(weights * each).sum(axis=1) for each in (mixed, square)]
            factor = -sums[0] / np.maximum(sums[1], TINY)
            left = ((first + factor[:, None, None] * second) ** 2).sum(axis=2)
            total = (one + factor[:, None] * other) ** 2 + left
        losses[rows], factors[rows] = (left / np.maximum(total, TINY)).mean(axis=1), factor
    order = np.argsort(library.priced(losses, *pairs.T), kind="stable")
    sizes = library.sizes[pairs]
    return pairs[order], (factors * sizes[:, 0] / sizes[:, 1])[order]
