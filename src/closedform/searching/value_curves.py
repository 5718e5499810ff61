"""Formulas that a network's values draw: sums of curves of one quantity each.

Where z = phi(g) and g is a sum of functions of one quantity each, splines of z and of the
quantities find all these functions at once, with no library: they are the sum that correlates best
with a smooth function of z. Each curve is then read by itself, the constants inside it included. A
product is a sum of logarithms. A quantity is an input, or a product of powers of two.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from scipy.interpolate import BSpline

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import evaluate
from closedform.expressions.tree import Tree, subtrees, variable
from closedform.field.gradient_field import GradientField
from closedform.searching.products import product_of_powers
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import FormTerm, tuned, wider_forms
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

YARDSTICK = Yardstick(effective=20)
"""What a network leaves of its values is smooth, and counts as few points."""

DEGREE, PIECES = 3, 10
"""Of the splines of a quantity."""

DEPENDENT = 1e-7
"""Share of its size that a column must have of its own."""

MOST_QUANTITIES = 8
"""Of more, values say little."""

SETS, READINGS, WRITTEN, TOLD = 3, 4, 300, 40
"""Sets of quantities whose curves are read, forms of each curve, logarithms and others apart,
formulas of each set that are written, and those that are told."""

CURVE = 6
"""Complexity of a usual function of a quantity."""

EXPONENTS = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2))
"""Of products of two inputs; splines of a quantity are those of its powers, too."""

PLAIN, NEAR = (2, 3), 0.05
"""Denominators of exponents, and how near to such a one a fitted one is tried as that."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Splines of a quantity at the points, weighted and centred."""

    quantity: Quantity
    columns: FloatArray


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


def curve_sums(
    field: GradientField, smooth: FloatArray, space: SearchSpace
) -> Iterator[list[Tree]]:
    """The likeliest formulas of some sets of quantities, set by set."""
    weights = field.weights / field.weights.sum()
    data = Data(field.points, field.frames[:, :, 0], field.scale, weights, field.names)
    inputs = make_quantities(data, [variable(column) for column in range(len(field.names))])
    bases = _that_matter(
        [
            Basis(one, _splines(one.values, PIECES, field.steepness))
            for one in inputs
            if one is not None and len(np.unique(one.values)) > PIECES
        ],
        smooth,
    )
    if not 1 < len(bases) <= MOST_QUANTITIES:
        return
    for chosen in _likeliest(data, bases, smooth, field.steepness):
        readings = [
            _read(place, basis, curve, space, field.steepness)
            for place, (basis, curve) in enumerate(_curves(chosen, smooth))
        ]
        yield list(_sums(readings, data.points, [basis.quantity.tree for basis in chosen]))


def _splines(values: FloatArray, pieces: int, weights: FloatArray) -> FloatArray:
    """Splines with pieces at quantiles, weighted and centred."""
    knots = np.unique(np.quantile(values, np.linspace(0, 1, pieces + 1)))
    if len(knots) <= 1:
        return np.zeros((len(values), 1))
    ends = np.r_[[knots[0]] * DEGREE, knots, [knots[-1]] * DEGREE]
    columns = BSpline.design_matrix(values, ends, DEGREE).toarray()
    return (columns - weights @ columns) * np.sqrt(weights)[:, None]


def _orthonormal(columns: FloatArray) -> FloatArray:
    basis, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return basis[:, sizes > DEPENDENT * sizes.max(initial=1e-300)]


def _joined(known: FloatArray, more: Sequence[Basis]) -> FloatArray:
    """An orthonormal basis with what others add to it."""
    if not more:
        return known
    columns = np.hstack([basis.columns for basis in more])
    return np.hstack([known, _orthonormal(columns - known @ (known.T @ columns))])


def _left(seen: FloatArray) -> float:
    """What the best combination of columns leaves of a smooth function of the latent, given the
    columns' moments with these.
    """
    return 1 - float(np.linalg.eigvalsh(seen @ seen.T)[-1])


def _length(left: float, bases: Sequence[Basis]) -> float:
    """How many nats it takes to describe what a curve of each quantity leaves, and the curves."""
    quantities = sum(basis.quantity.complexity for basis in bases)
    return float(YARDSTICK(left, CURVE * len(bases) + quantities))


def _that_matter(bases: Sequence[Basis], smooth: FloatArray) -> Sequence[Basis]:
    """Without the quantities whose curve is not worth its description."""
    none = smooth[:, :0]
    while len(bases) > 1:
        sets = [[one for one in bases if one is not other] for other in (None, *bases)]
        lengths = [_length(_left(smooth.T @ _joined(none, some)), some) for some in sets]
        place = int(np.argmin(lengths))
        if place == 0:
            break
        bases = sets[place]
    return bases


def _likeliest(
    data: Data, bases: Sequence[Basis], smooth: FloatArray, steepness: FloatArray
) -> list[Sequence[Basis]]:
    """The inputs, or those sets in which a product of two takes the place of one or both."""
    none = smooth[:, :0]
    found: list[tuple[float, Sequence[Basis]]] = [(_left(smooth.T @ _joined(none, bases)), bases)]
    for pair in combinations(bases, 2):
        rest = [basis for basis in bases if basis not in pair]
        known = _joined(none, rest)
        trees = list(_products(*(basis.quantity for basis in pair)))
        made = [
            Basis(one, _splines(one.values, PIECES, steepness))
            for one in make_quantities(data, trees)
            if one is not None
        ]
        for also in ([], *([basis] for basis in pair)):
            beside = _joined(known, also)
            seen = smooth.T @ beside
            for basis in made:
                new = smooth.T @ _joined(beside, [basis])[:, beside.shape[1] :]
                found.append((_left(np.hstack([seen, new])), [*rest, *also, basis]))
    found.sort(key=lambda one: _length(*one))
    return [chosen for _, chosen in found[:SETS]]


def _products(first: Quantity, second: Quantity) -> Iterator[Tree]:
    if min(first.values.min(), second.values.min()) > 0:
        for one, other in EXPONENTS:
            for sign in (1, -1):
                factors = [(first.tree, Fraction(one)), (second.tree, Fraction(sign * other))]
                yield product_of_powers(factors)


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
    place: int, basis: Basis, curve: FloatArray, space: SearchSpace, steepness: FloatArray
) -> list[Reading]:
    """The forms that describe a curve best."""
    quantity, roots = basis.quantity, np.sqrt(steepness)
    profile = Profile(curve / roots, roots).at(screened(len(curve)))
    ones = np.ones(len(profile.slopes))
    forms = wider_forms(quantity, space)
    forms = tuned(forms, quantity, profile, YARDSTICK, ones, by_values=True)
    found: dict[bool, list[Reading]] = {True: [], False: []}
    for number, sign in enumerate(forms.signs.tolist()):
        form = forms.form(number)
        values = form.values(quantity.values)
        with np.errstate(all="ignore"):
            centred = (values - steepness @ values) * roots
            factor = float(centred @ curve / (centred @ centred))
            left = float(((curve - factor * centred) ** 2).sum())
        if (form.is_log and sign == 0) or not np.isfinite(left) or factor == 0:
            continue
        # A power near 0 is a logarithm, which is there as such.
        if not any(0 < abs(power) < LOWEST_POWER for power in _powers(form.tree)):
            found[form.is_log].append(Reading(FormTerm(form, place, factor, sign), left))
    return [
        reading
        for some in found.values()
        for reading in sorted(some, key=lambda one: _described([one]))[:READINGS]
    ]


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
    yield from sorted(found, key=lambda tree: found[tree])[:TOLD]


def _plain(terms: Sequence[FormTerm]) -> list[FormTerm]:
    """Coefficients that are nearly plain multiples of the smallest."""
    unit = min((term.coefficient for term in terms), key=abs)
    return [replace(term, coefficient=unit * _rounded(term.coefficient / unit)) for term in terms]


def _rounded(number: float) -> float:
    near = [round(number * denominator) / denominator for denominator in PLAIN]
    best = min(near, key=lambda one: abs(one - number))
    return best if abs(best - number) < NEAR * abs(number) else number
