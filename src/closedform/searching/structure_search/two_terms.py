"""Sums of two terms that may share inputs, each with a constant inside: x*exp(-2*y) + log(3 + x*z).

A sum t + k*s follows the field where the parts of both gradients that point across the field's
directions cancel each other, point by point. Over all points this part is one long vector for each
term, whatever the other one is. So the n^2 sums of a library of n terms are compared by products of
matrices, and only the nearest are fitted.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
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
from closedform.searching.structure_search.quantities import substitute

FUNCTIONS = {
    "x": (1.0,),
    "log(x)": (1.0,),
    "exp(b*x)": (-3.0, -1.0, -0.4, 0.4, 1.0, 3.0),
    "log(b*x + 1)": (0.2, 0.7, 2.0, 7.0),
    "1/(x + c)": (0.15, 0.5, 1.5, 5.0),
    "sqrt(x + c)": (0.15, 0.5, 1.5, 5.0),
    "sin(b*x)": (0.5, 1.0, 2.0, 4.0),
    "cos(b*x)": (0.5, 1.0, 2.0, 4.0),
    "tanh(b*x)": (0.4, 1.0, 2.5),
}
"""What a term may be of a monomial, with the constants to start from: c in units of the monomial's
median, and b of its inverse."""

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


@dataclass(frozen=True, slots=True)
class Library:
    """Terms at some points of a field, their gradients of length 1 over all points.

    Attributes
    ----------
    trees : list of Tree
    outlines : list of tuple
        What each is without its constants.
    across : ndarray, shape (n_terms, n_points, n_inputs)
        Gradients without what is along the field's directions.
    along : ndarray, shape (n_terms, n_points)
        What is along them.
    sizes : ndarray, shape (n_terms,)
        What gradients were divided by.
    """

    trees: list[Tree]
    outlines: list[tuple[object, ...]]
    across: NDArray[np.float32]
    along: NDArray[np.float32]
    sizes: FloatArray


def two_terms(
    field: GradientField, space: SearchSpace, is_over: Callable[[], bool] = lambda: False
) -> list[Expression]:
    """The best sums of two terms of a field's inputs, constants fitted; none once time is over."""
    if not 2 <= len(field.names) <= MOST_INPUTS:
        return []
    library = make_library(_some(field, N_POINTS), space)
    if len(library.trees) < 2 or is_over():
        return []
    near = _near_pairs(library, is_over)
    if is_over():
        return []
    pairs, factors = _by_loss(library, near)
    chosen: dict[object, Tree] = {}
    for (one, other), factor in zip(pairs.tolist(), factors.tolist(), strict=True):
        outline = frozenset((library.outlines[one], library.outlines[other]))
        if outline not in chosen:
            second = apply("mul", _number(factor), library.trees[other])
            chosen[outline] = apply("add", library.trees[one], second)
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
    return [expressions[place] for place in np.argsort(left, kind="stable")[:BEST]]


def _some(field: GradientField, count: int) -> GradientField:
    usable = np.flatnonzero(field.weights > 0)
    return field.subset(usable[:: max(len(usable) // count, 1)])


def _number(value: float) -> Tree:
    """A constant that is fitted: no whole number."""
    return constant(float(f"{value:.4g}") * (1 + 1e-9))


def make_library(field: GradientField, space: SearchSpace) -> Library:
    """Functions of monomials, with every constant, alone and times a power of an input."""
    made = list(_functions(field, space))
    if not made:
        nothing = np.empty((0, field.n_points), dtype=np.float32)
        return Library([], [], nothing[:, :, None], nothing, np.empty(0))
    trees, outlines = [tree for tree, _ in made], [outline for _, outline in made]
    with np.errstate(all="ignore"):
        values, gradients, status = values_and_gradients(compile_tapes(trees), field.points)
    fine = (status == FINE).all(axis=1)
    gradients = gradients * field.scale
    found, slopes = [np.flatnonzero(fine)], [gradients[fine]]
    all_trees, all_outlines = [trees[k] for k in found[0]], [outlines[k] for k in found[0]]
    rows = [k for k in found[0] if outlines[k][1] not in ("x", "log(x)")]
    for power, column in product(FACTORS, range(len(field.names))):
        with np.errstate(all="ignore"):
            factor = field.points[:, column] ** float(power)
            own = power * factor / field.points[:, column] * field.scale[column]
        if np.isfinite(own).all():
            new = gradients[rows] * factor[:, None]
            new[:, :, column] += values[rows] * own
            slopes.append(new)
            part = product_of_powers([(variable(column), Fraction(power))])
            all_trees += [apply("mul", part, trees[row]) for row in rows]
            all_outlines += [(*outlines[row], column, power) for row in rows]
    every = np.concatenate(slopes) * np.sqrt(field.weights)[:, None]
    with np.errstate(all="ignore"):
        energy = (every**2).sum(axis=2)
        spread = energy.sum(axis=1) ** 2 / (energy**2).sum(axis=1) / field.n_points
    kept = np.flatnonzero(spread > SPREAD)[:MOST_TERMS]
    sizes = np.sqrt(energy[kept].sum(axis=1))
    every = every[kept] / sizes[:, None, None]
    directions = field.frames[:, :, 0]
    along = np.einsum("tnd,nd->tn", every, directions)
    across = every - along[:, :, None] * directions
    return Library(
        [all_trees[k] for k in kept], [all_outlines[k] for k in kept],
        across.astype(np.float32), along.astype(np.float32), sizes,
    )  # fmt: skip


def _functions(
    field: GradientField, space: SearchSpace
) -> Iterator[tuple[Tree, tuple[object, ...]]]:
    """Functions of monomials, and what each is without its constant."""
    for powers in _monomials(len(field.names)):
        with np.errstate(all="ignore"):
            size = float(np.median(np.abs(np.prod(field.points ** np.array(powers), axis=1))))
        if not (np.isfinite(size) and size > 0):
            continue
        inner = product_of_powers(
            [(variable(column), Fraction(power)) for column, power in enumerate(powers) if power]
        )
        for text, shares in FUNCTIONS.items():
            for share in shares:
                parts = [inner, _number(share / size), _number(share * size)]
                tree = substitute(_shape(text), parts)
                if tree.size == 1 or space.allows_inside(tree, field.names):
                    yield tree, (powers, text)


@cache
def _shape(text: str) -> Tree:
    return parse(text, names=["x", "b", "c"]).tree


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
    n_terms = len(library.trees)
    whole = [each.reshape(n_terms, -1) for each in (library.across, library.along)]
    squares = [(each**2).sum(axis=1) for each in whole]
    flat = [_projected(each, lengths) for each, lengths in zip(whole, squares, strict=True)]
    found: list[NDArray[np.int64]] = []
    kept: list[NDArray[np.float32]] = []
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
        first, second = np.nonzero(np.triu(losses < worst, 1))
        near = losses[first, second]
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


def _by_loss(library: Library, pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], FloatArray]:
    """Pairs by the misalignment of their sum, each with the factor of its second term."""
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
    order = np.argsort(losses, kind="stable")
    sizes = library.sizes[pairs]
    return pairs[order], (factors * sizes[:, 0] / sizes[:, 1])[order]
