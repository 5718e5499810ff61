"""Sums of curves of one quantity each, found by values.

Where z = phi(g) and g is a sum of functions of one quantity each, splines of z and of the
quantities find all these functions at once, with no library: they are the sum that correlates best
with a smooth function of z. Each curve is then read by itself, the constants inside it included. A
product is a sum of logarithms. Quantities are inputs, products of powers of two quantities, and
sums or products of curves of two, where some function of both explains much.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.polynomial import legendre

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import evaluate
from closedform.expressions.tree import Tree, variable
from closedform.field.gradient_field import GradientField
from closedform.searching.products import product_of_powers
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import basic_forms, wider_forms
from closedform.searching.structure_search.quantities import (
    Data,
    Quantity,
    Yardstick,
    make_quantities,
)
from closedform.searching.values.curves import (
    COARSE,
    INNER,
    PIECES,
    YARDSTICK,
    Basis,
    curves_of,
    formulas_of,
    latent_of,
    orthonormal,
    read_curve,
    smooth_basis,
    splines,
    values_left,
    weighted,
)

MOST_QUANTITIES = 8
"""Of more, values say little."""

SETS = 2
"""Sets of quantities that are kept by either yardstick."""

STEPS, BLOCKS, BLOCK_WRITTEN, BLOCK_READINGS = 3, 2, 20, 4
"""Steps from the inputs to other quantities, pairs that are read as fields in each, and formulas
of each pair that are written, and of these tried.
"""

DEGREE_BOTH = 7
"""Of the polynomials of a pair."""

CURVE = 6
"""Complexity of a usual function of a quantity."""

EXPONENTS = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2))
"""Of products of two quantities; splines of a quantity are those of its powers, too."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some points of a field."""

    data: Data
    steepness: FloatArray  # (n_points,): how much each value counts
    smooth: FloatArray  # (n_points, n): orthonormal smooth functions of the latent, weighted
    space: SearchSpace

    @classmethod
    def of(cls, field: GradientField, pieces: int, space: SearchSpace) -> "Part":
        """All points of a field."""
        weights = field.weights / field.weights.sum()
        directions = field.tangent.ambient(field.frames)[:, :, 0]
        data = Data(field.points, directions, field.scale, weights, field.names)
        return cls(data, field.steepness, smooth_basis(field, pieces), space)

    def bases(self, trees: Sequence[Tree]) -> list[Basis]:
        """Those of some combinations that can be used."""
        return [
            Basis(one, splines(one.values, PIECES, self.steepness))
            for one in make_quantities(self.data, trees)
            if one is not None
        ]

    def left(self, *columns: FloatArray) -> float:
        """What orthonormal columns leave of the smooth function of the latent that they explain
        best.
        """
        seen = np.hstack([self.smooth.T @ each for each in columns])
        return 1 - float(np.linalg.eigvalsh(seen @ seen.T)[-1])

    def span(self, bases: Iterable[Basis]) -> FloatArray:
        """An orthonormal basis of all."""
        return orthonormal(np.hstack([self.smooth[:, :0], *(basis.columns for basis in bases)]))

    def together(self, bases: Sequence[Basis]) -> "QuantitySet":
        """Some quantities as a set."""
        return QuantitySet(self, tuple(bases), self.left(self.span(bases)))


@dataclass(frozen=True, eq=False)
class QuantitySet:
    """Quantities whose curves may add up to a smooth function of the latent."""

    part: Part
    bases: tuple[Basis, ...]
    left: float

    def length(self, yardstick: Yardstick = YARDSTICK) -> float:
        """How many nats it takes to describe what a curve of each leaves, and the curves."""
        quantities = sum(basis.quantity.complexity for basis in self.bases)
        return float(yardstick(self.left, CURVE * len(self.bases) + quantities))

    @property
    def trees(self) -> list[Tree]:
        """The quantities, in the user's inputs."""
        return [basis.quantity.tree for basis in self.bases]

    @property
    def is_plain(self) -> bool:
        """Whether all are inputs."""
        return all(tree.size == 1 for tree in self.trees)

    @property
    def key(self) -> frozenset[Tree]:
        """The same for sets of the same quantities."""
        return frozenset(self.trees)


def sets_of(part: Part) -> list[QuantitySet]:
    """The likeliest sets of quantities: inputs, and others in their place, step by step."""
    inputs = [
        basis
        for basis in part.bases([variable(column) for column in range(len(part.data.names))])
        if len(np.unique(basis.quantity.values)) > PIECES
    ]
    if not 1 < len(inputs) <= MOST_QUANTITIES:
        return []
    best = _that_matter(part, inputs)
    found = [best]
    for _ in range(STEPS):
        new = [*_with_products(best), *_with_blocks(best)]
        nearest = min(new, key=QuantitySet.length, default=best)
        found += new
        if nearest.length() >= best.length():
            break
        best = nearest
    return [found[0], *shortest(found[1:])]


def shortest(found: Sequence[QuantitySet]) -> list[QuantitySet]:
    """Those that describe the latent best, and those that would if less were known."""
    kept: dict[frozenset[Tree], QuantitySet] = {}
    for yardstick in (YARDSTICK, COARSE):
        order = sorted(found, key=lambda one: one.length(yardstick))
        kept = {one.key: one for one in order[:SETS]} | kept
    return list(kept.values())


def _that_matter(part: Part, bases: Sequence[Basis]) -> QuantitySet:
    """The quantities without those whose curve is not worth its description."""
    best = part.together(bases)
    while len(best.bases) > 1:
        fewer = [part.together([b for b in best.bases if b is not out]) for out in best.bases]
        nearest = min(fewer, key=QuantitySet.length)
        if nearest.length() >= best.length():
            break
        best = nearest
    return best


def _with_products(whole: QuantitySet) -> Iterator[QuantitySet]:
    """A product of powers of two quantities in the place of one or both."""
    part = whole.part
    for pair in combinations(whole.bases, 2):
        rest = [basis for basis in whole.bases if basis not in pair]
        made = part.bases(list(_products(*(basis.quantity for basis in pair))))
        for also in ([], *([basis] for basis in pair)):
            yield from _with_one(part, [*rest, *also], made)


def _products(first: Quantity, second: Quantity) -> Iterator[Tree]:
    if min(first.values.min(), second.values.min()) > 0:
        for one, other in EXPONENTS:
            for sign in (1, -1):
                factors = [(first.tree, Fraction(one)), (second.tree, Fraction(sign * other))]
                yield product_of_powers(factors)


def _with_one(part: Part, beside: Sequence[Basis], made: Sequence[Basis]) -> Iterator[QuantitySet]:
    """Each of some quantities beside the same others."""
    known = part.span(beside)
    for basis in made:
        new = orthonormal(basis.columns - known @ (known.T @ basis.columns))
        yield QuantitySet(part, (*beside, basis), part.left(known, new))


def _with_blocks(whole: QuantitySet) -> Iterator[QuantitySet]:
    """A sum or a product of curves of two quantities in the place of both: any function of both
    that explains much is a field of its own.
    """
    part, blocks = whole.part, []
    for pair in combinations(whole.bases, 2) if len(whole.bases) > 2 else ():
        rest = [basis for basis in whole.bases if basis not in pair]
        block = [*rest, _block(*pair, part.steepness)]
        blocks.append((part.left(part.span(block)), pair, rest, block))
    for _, pair, rest, block in sorted(blocks, key=lambda one: one[0])[:BLOCKS]:
        *_, (_, curve) = curves_of(block, part.smooth)
        # Where the latent hardly feels the pair, the pair's own values say nothing.
        columns = sorted({k for basis in pair for k in basis.quantity.tree.variables})
        steep = part.steepness * np.linalg.norm(part.data.directions[:, columns], axis=1)
        steep /= steep.sum()
        inner = orthonormal(splines(curve / np.sqrt(part.steepness), INNER, steep))
        own = [Basis(one.quantity, splines(one.quantity.values, PIECES, steep)) for one in pair]
        readings = [
            read_curve(place, basis, each, basic_forms(basis.quantity, part.space), steep)
            for place, (basis, each) in enumerate(curves_of(own, inner))
        ]
        trees = formulas_of(
            readings, part.data.points, [one.quantity.tree for one in pair], BLOCK_WRITTEN
        )
        yield from _with_one(part, rest, part.bases(list(trees)[:BLOCK_READINGS]))


def _block(first: Basis, second: Basis, weights: FloatArray) -> Basis:
    """Polynomials of two quantities, beside the splines of each."""
    one, other = (
        legendre.legvander(
            2 * np.argsort(np.argsort(values)) / (len(values) - 1) - 1, DEGREE_BOTH
        ).T
        for values in (first.quantity.values, second.quantity.values)
    )
    columns = np.stack(
        [one[i] * other[j] for i in range(1, DEGREE_BOTH) for j in range(1, DEGREE_BOTH + 1 - i)],
        axis=1,
    )
    own = [first.columns, second.columns, weighted(columns, weights)]
    return Basis(first.quantity, np.hstack(own))


FEWEST = 300
"""Points of half of the values that are looked at by themselves."""

TOLD = 40
"""Formulas of each set."""


def curve_sums(field: GradientField, pieces: int, space: SearchSpace) -> Iterator[list[Tree]]:
    """The likeliest formulas of some sets of quantities, set by set."""
    found = [one for some in _parts(field) for one in sets_of(Part.of(some, pieces, space))]
    for chosen in _to_read(found):
        readings = [
            read_curve(
                place, basis, curve, wider_forms(basis.quantity, space), chosen.part.steepness,
                evaluate(basis.quantity.tree, field.points),
            )
            for place, (basis, curve) in enumerate(curves_of(chosen.bases, chosen.part.smooth))
        ]  # fmt: skip
        trees = list(formulas_of(readings, field.points, chosen.trees))
        lengths = [
            YARDSTICK.of(tree, left)
            for tree, left in zip(trees, values_left(trees, field), strict=True)
        ]
        yield [trees[place] for place in np.argsort(lengths, kind="stable")[:TOLD]]


def _to_read(found: Sequence[QuantitySet]) -> list[QuantitySet]:
    """The shortest, and the inputs at the same points as the best: of products with an input in
    place of another the logarithms are the same sums.
    """
    kept = shortest(found)
    inputs = [one for one in found if one.part is kept[0].part and one.is_plain] if kept else []
    return list({one.key: one for one in (*kept, *inputs)}.values())


def _parts(field: GradientField) -> Iterator[GradientField]:
    """All points, and those of the larger and the smaller values: where a factor changes its sign,
    its logarithm has a pole among all of them.
    """
    yield field
    latent = latent_of(field)
    middle = np.median(latent)
    for kept in (latent >= middle, latent <= middle):
        if kept.sum() >= FEWEST:
            yield field.subset(np.flatnonzero(kept))
