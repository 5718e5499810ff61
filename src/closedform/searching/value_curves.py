"""Formulas that a network's values draw: sums of curves of one quantity each.

Where z = phi(g) and g is a sum of functions of one quantity each, splines of z and of the
quantities find all these functions at once, with no library: they are the sum that correlates best
with a smooth function of z. Each curve is then read by itself, the constants inside it included. A
product is a sum of logarithms. Quantities are inputs, products of powers of two quantities, and
sums or products of curves of two, where some function of both explains much.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.polynomial import legendre
from scipy.interpolate import BSpline

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import evaluate
from closedform.expressions.kernel import values_and_gradients
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree, subtrees, variable
from closedform.field.alignment.tolerances import ROUNDING
from closedform.field.gradient_field import GradientField
from closedform.searching.products import product_of_powers
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import (
    Forms,
    FormTerm,
    basic_forms,
    tuned,
    wider_forms,
)
from closedform.searching.structure_search.profiles import Profile
from closedform.searching.structure_search.quantities import (
    Data,
    Quantity,
    Yardstick,
    make_quantities,
    substitute,
)
from closedform.searching.structure_search.screening import screened
from closedform.searching.structure_search.writing import LOWEST_POWER, tidied, written

YARDSTICK, COARSE = Yardstick(effective=20), Yardstick(effective=8)
"""What a network leaves of its values is smooth, and counts as few points; a function of one more
quantity follows it even where few are assumed.
"""

DEGREE, PIECES, INNER = 3, 10, 12
"""Of the splines of a quantity, and pieces of those of what two explain together."""

DEPENDENT = 1e-7
"""Share of its size that a column must have of its own."""

MOST_QUANTITIES = 8
"""Of more, values say little."""

FEWEST = 300
"""Points of half of the values."""

SETS, READINGS, WRITTEN, TOLD = 2, 4, 100, 40
"""Sets of quantities whose curves are read by either yardstick, forms of each curve, logarithms and
others apart, formulas of each set that are written, and those that are told."""

STEPS, BLOCKS, BLOCK_READINGS = 3, 2, 4
"""Steps from the inputs to other quantities, pairs that are read as fields in each, and formulas
of each pair that are tried.
"""

DEGREE_BOTH = 7
"""Of the polynomials of a pair."""

CURVE = 6
"""Complexity of a usual function of a quantity."""

EXPONENTS = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2))
"""Of products of two quantities; splines of a quantity are those of its powers, too."""

PLAINEST = ("x", "log: x")
"""Families that are tried for each curve."""

PLAIN, NEAR = (2, 3), 0.05
"""Denominators of exponents, and how near to such a one a fitted one is tried as that."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Splines of a quantity at the points of a part, weighted and centred."""

    quantity: Quantity
    columns: FloatArray


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
        data = Data(field.points, field.frames[:, :, 0], field.scale, weights, field.names)
        return cls(data, field.steepness, smooth_basis(field, pieces), space)

    def bases(self, trees: Sequence[Tree]) -> list[Basis]:
        """Those of some combinations that can be used."""
        return [
            Basis(one, _splines(one.values, PIECES, self.steepness))
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
        return _orthonormal(np.hstack([self.smooth[:, :0], *(basis.columns for basis in bases)]))

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


@dataclass(frozen=True, slots=True)
class Reading:
    """A form of a curve, and what it leaves of a smooth function of the latent."""

    term: FormTerm
    left: float


def smooth_basis(field: GradientField, pieces: int) -> FloatArray:
    """An orthonormal basis of smooth functions of the latents, weighted and centred."""
    assert field.latents is not None
    return _orthonormal(
        np.hstack([_splines(column, pieces, field.steepness) for column in field.latents.T])
    )


def curve_sums(field: GradientField, pieces: int, space: SearchSpace) -> Iterator[list[Tree]]:
    """The likeliest formulas of some sets of quantities, set by set."""
    found = [one for some in _parts(field) for one in _sets(Part.of(some, pieces, space))]
    for chosen in _to_read(found):
        readings = [
            _read(
                place, basis, curve, wider_forms(basis.quantity, space), chosen.part.steepness,
                evaluate(basis.quantity.tree, field.points),
            )
            for place, (basis, curve) in enumerate(_curves(chosen.bases, chosen.part.smooth))
        ]  # fmt: skip
        trees = list(_sums(readings, field.points, chosen.trees))
        lengths = [
            YARDSTICK.of(tree, left)
            for tree, left in zip(trees, values_left(trees, field), strict=True)
        ]
        yield [trees[place] for place in np.argsort(lengths, kind="stable")[:TOLD]]


def values_left(trees: Sequence[Tree], field: GradientField) -> list[float]:
    """The share of the latent's variance that a smooth function of each formula leaves over."""
    assert field.latents is not None
    target = _weighted(field.latents[:, :1], field.steepness)[:, 0]
    target = target / np.linalg.norm(target)
    found = []
    for values in values_and_gradients(compile_tapes(trees), field.points)[0] if trees else ():
        if not np.isfinite(values).all():
            found.append(np.inf)
            continue
        columns = _splines(values, INNER, field.steepness)
        moments = columns.T @ columns
        # Splines add up to 1, and so the centred ones to nothing.
        moments += (ROUNDING + DEPENDENT**2 * np.trace(moments)) * np.eye(len(moments))
        along = columns.T @ target
        found.append(max(1 - float(along @ np.linalg.solve(moments, along)), DEPENDENT))
    return found


def _to_read(found: Sequence[QuantitySet]) -> list[QuantitySet]:
    """The shortest, and the inputs at the same points as the best: of products with an input in
    place of another the logarithms are the same sums.
    """
    kept = _shortest(found)
    inputs = [one for one in found if one.part is kept[0].part and one.is_plain] if kept else []
    return list({one.key: one for one in (*kept, *inputs)}.values())


def _parts(field: GradientField) -> Iterator[GradientField]:
    """All points, and those of the larger and the smaller values: where a factor changes its sign,
    its logarithm has a pole among all of them.
    """
    yield field
    assert field.latents is not None
    latent = field.latents[:, 0]
    middle = np.median(latent)
    for kept in (latent >= middle, latent <= middle):
        if kept.sum() >= FEWEST:
            yield field.subset(np.flatnonzero(kept))


def _sets(part: Part) -> list[QuantitySet]:
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
    return [found[0], *_shortest(found[1:])]


def _shortest(found: Sequence[QuantitySet]) -> list[QuantitySet]:
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
        new = _orthonormal(basis.columns - known @ (known.T @ basis.columns))
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
        *_, (_, curve) = _curves(block, part.smooth)
        # Where the latent hardly feels the pair, the pair's own values say nothing.
        columns = sorted({k for basis in pair for k in basis.quantity.tree.variables})
        steep = part.steepness * np.linalg.norm(part.data.directions[:, columns], axis=1)
        steep /= steep.sum()
        inner = _orthonormal(_splines(curve / np.sqrt(part.steepness), INNER, steep))
        own = [Basis(one.quantity, _splines(one.quantity.values, PIECES, steep)) for one in pair]
        readings = [
            _read(place, basis, each, basic_forms(basis.quantity, part.space), steep)
            for place, (basis, each) in enumerate(_curves(own, inner))
        ]
        trees = _sums(readings, part.data.points, [one.quantity.tree for one in pair])
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
    own = [first.columns, second.columns, _weighted(columns, weights)]
    return Basis(first.quantity, np.hstack(own))


def _splines(values: FloatArray, pieces: int, weights: FloatArray) -> FloatArray:
    """Splines with pieces at quantiles, weighted and centred."""
    knots = np.unique(np.quantile(values, np.linspace(0, 1, pieces + 1)))
    if len(knots) <= 1:
        return np.zeros((len(values), 1))
    ends = np.r_[[knots[0]] * DEGREE, knots, [knots[-1]] * DEGREE]
    return _weighted(BSpline.design_matrix(values, ends, DEGREE).toarray(), weights)


def _weighted(columns: FloatArray, weights: FloatArray) -> FloatArray:
    return (columns - weights @ columns) * np.sqrt(weights)[:, None]


def _orthonormal(columns: FloatArray) -> FloatArray:
    basis, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return basis[:, sizes > DEPENDENT * sizes.max(initial=1e-300)]


def _curves(bases: Sequence[Basis], smooth: FloatArray) -> Iterator[tuple[Basis, FloatArray]]:
    """The curve of each quantity, weighted: what the others leave of the smooth function of the
    latent that all explain best.
    """
    columns = np.hstack([basis.columns for basis in bases])
    vectors, _, _ = np.linalg.svd(smooth.T @ _orthonormal(columns), full_matrices=False)
    target = smooth @ vectors[:, 0]
    factors, *_ = np.linalg.lstsq(columns, target, rcond=DEPENDENT)
    left = target - columns @ factors
    start = 0
    for basis in bases:
        end = start + basis.columns.shape[1]
        yield basis, left + basis.columns @ factors[start:end]
        start = end


def _read(
    place: int, basis: Basis, curve: FloatArray, forms: Forms, steepness: FloatArray,
    everywhere: FloatArray | None = None,
) -> list[Reading]:  # fmt: skip
    """The forms that describe a curve best, with the signs that they have at all values of the
    quantity.
    """
    quantity, roots = basis.quantity, np.sqrt(steepness)
    profile = Profile(curve / roots, roots).at(screened(len(curve)))
    ones = np.ones(len(profile.slopes))
    best = tuned(forms, quantity, profile, YARDSTICK, ones, by_values=True)
    best = best.joined(forms.only(PLAINEST))
    found: dict[bool, list[Reading]] = {True: [], False: []}
    for number, sign in enumerate(best.signs.tolist()):
        form = best.form(number)
        centred = _weighted(form.values(quantity.values)[:, None], steepness)[:, 0]
        with np.errstate(all="ignore"):
            factor = float(centred @ curve / (centred @ centred))
            left = float(((curve - factor * centred) ** 2).sum())
        if (form.is_log and sign == 0) or not np.isfinite(left) or factor == 0:
            continue
        # A power near 0 is a logarithm, which is there as such.
        if not any(0 < abs(power) < LOWEST_POWER for power in _powers(form.tree)):
            if everywhere is not None:
                sign = _sign(evaluate(form.tree, everywhere[:, None]))
            found[form.is_log].append(Reading(FormTerm(form, place, factor, sign), left))
    kept: list[Reading] = []
    for some in found.values():
        order = sorted(some, key=lambda one: _described([one]))
        plain = [one for one in order[READINGS:] if one.term.form.family in PLAINEST]
        kept += order[:READINGS] + plain
    return kept


def _sign(values: FloatArray) -> int:
    """Of some values; 0 if it changes."""
    return 1 if values.min() > 0 else -1 if values.max() < 0 else 0


def _powers(tree: Tree) -> Iterator[float]:
    for part in subtrees(tree):
        if part.root == "pow" and part.children[1].is_constant:
            yield float(evaluate(part.children[1], np.zeros((1, 1)))[0])


def _described(readings: Sequence[Reading]) -> float:
    """How many nats forms of different quantities take, and what they leave."""
    left = sum(reading.left for reading in readings)
    return float(YARDSTICK(left, sum(reading.term.form.cost for reading in readings)))


def _sums(
    readings: Sequence[Sequence[Reading]], points: FloatArray, parts: Sequence[Tree]
) -> Iterator[Tree]:
    """The shortest descriptions by one form of each curve."""
    found: dict[Tree, float] = {}
    for some in sorted(product(*readings), key=_described)[:WRITTEN]:
        terms, left = [one.term for one in some], sum(one.left for one in some)
        for chosen in (terms, _plain(terms)):
            for tree, _ in written(chosen):
                whole = substitute(tidied(tree, points), parts)
                found.setdefault(whole, YARDSTICK.of(whole, left))
    yield from sorted(found, key=lambda tree: found[tree])


def _plain(terms: Sequence[FormTerm]) -> list[FormTerm]:
    """Coefficients that are nearly plain multiples of the smallest."""
    unit = min((term.coefficient for term in terms), key=abs)
    return [replace(term, coefficient=unit * _rounded(term.coefficient / unit)) for term in terms]


def _rounded(number: float) -> float:
    near = [round(number * denominator) / denominator for denominator in PLAIN]
    best = min(near, key=lambda one: abs(one - number))
    return best if abs(best - number) < NEAR * abs(number) else number
