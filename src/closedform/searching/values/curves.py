"""Curves: splines of latents and quantities, the forms that a curve of one quantity is like, and
formulas from one form of each curve.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.interpolate import BSpline

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import evaluate
from closedform.expressions.kernel import values_and_gradients
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree, subtrees
from closedform.field.alignment.tolerances import ROUNDING
from closedform.field.gradient_field import GradientField
from closedform.searching.products import collected_powers, product_of_powers
from closedform.searching.structure_search.forms import Forms, FormTerm, tuned
from closedform.searching.structure_search.profiles import Profile
from closedform.searching.structure_search.quantities import Quantity, Yardstick, substitute
from closedform.searching.structure_search.screening import screened
from closedform.searching.structure_search.writing import LOWEST_POWER, tidied, written

YARDSTICK, COARSE = Yardstick(effective=20), Yardstick(effective=8)
"""What a network leaves of its values is smooth, and counts as few points; a function of one more
quantity follows it even where few are assumed.
"""

DEGREE, PIECES, INNER = 3, 10, 12
"""Of the splines of a quantity, and pieces of those of what several explain together."""

DEPENDENT = 1e-7
"""Share of its size that a column must have of its own."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Splines of a quantity at the points of a part, weighted and centred."""

    quantity: Quantity
    columns: FloatArray


def smooth_basis(field: GradientField, pieces: int) -> FloatArray:
    """An orthonormal basis of smooth functions of the latents, weighted and centred."""
    assert field.latents is not None
    return orthonormal(
        np.hstack([splines(column, pieces, field.steepness) for column in field.latents.T])
    )


def values_left(trees: Sequence[Tree], field: GradientField) -> list[float]:
    """The share of the latent's variance that a smooth function of each formula leaves over."""
    target = weighted(latent_of(field)[:, None], field.steepness)[:, 0]
    target = target / np.linalg.norm(target)
    found = []
    for values in values_and_gradients(compile_tapes(trees), field.points)[0] if trees else ():
        if not np.isfinite(values).all():
            found.append(np.inf)
            continue
        columns = splines(values, INNER, field.steepness)
        moments = columns.T @ columns
        # Splines add up to 1, and so the centred ones to nothing.
        moments += (ROUNDING + DEPENDENT**2 * np.trace(moments)) * np.eye(len(moments))
        along = columns.T @ target
        found.append(max(1 - float(along @ np.linalg.solve(moments, along)), DEPENDENT))
    return found


def latent_of(field: GradientField) -> FloatArray:
    """The values of the first latent that has several."""
    assert field.latents is not None
    return field.latents[:, int((np.ptp(field.latents, axis=0) > 0).argmax())]


def splines(values: FloatArray, pieces: int, weights: FloatArray) -> FloatArray:
    """Splines with pieces at quantiles, weighted and centred."""
    knots = np.quantile(values, np.linspace(0, 1, pieces + 1))
    # Between knots that rounding could join no spline has a slope.
    apart = np.diff(knots) > DEPENDENT * (knots[-1] - knots[0])
    knots = np.r_[knots[0], knots[1:][apart]]
    if len(knots) <= 1 or not np.isfinite(1 / (knots[-1] - knots[0])):
        return np.zeros((len(values), 1))
    knots[-1] = values.max()
    ends = np.r_[[knots[0]] * DEGREE, knots, [knots[-1]] * DEGREE]
    return weighted(BSpline.design_matrix(values, ends, DEGREE).toarray(), weights)


def weighted(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Columns of mean 0, times the roots of the weights."""
    return (columns - weights @ columns) * np.sqrt(weights)[:, None]


def orthonormal(columns: FloatArray) -> FloatArray:
    """A basis of what columns span."""
    basis, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return basis[:, sizes > DEPENDENT * sizes.max(initial=1e-300)]


READINGS, WRITTEN = 4, 100
"""Forms of each curve, logarithms and others apart, and formulas of each set that are written."""

PLAINEST = ("x", "log: x")
"""Families that are tried for each curve."""

PLAIN, NEAR = (2, 3), 0.05
"""Denominators of exponents, and how near to such a one a fitted one is tried as that."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A form of a curve, and what it leaves of a smooth function of the latent."""

    term: FormTerm
    left: float


def curves_of(bases: Sequence[Basis], smooth: FloatArray) -> Iterator[tuple[Basis, FloatArray]]:
    """The curve of each quantity, weighted: what the others leave of the smooth function of the
    latent that all explain best.
    """
    columns = np.hstack([basis.columns for basis in bases])
    vectors, _, _ = np.linalg.svd(smooth.T @ orthonormal(columns), full_matrices=False)
    target = smooth @ vectors[:, 0]
    factors, *_ = np.linalg.lstsq(columns, target, rcond=DEPENDENT)
    left = target - columns @ factors
    start = 0
    for basis in bases:
        end = start + basis.columns.shape[1]
        yield basis, left + basis.columns @ factors[start:end]
        start = end


def read_curve(
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
        centred = weighted(form.values(quantity.values)[:, None], steepness)[:, 0]
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


def formulas_of(
    readings: Sequence[Sequence[Reading]], points: FloatArray, parts: Sequence[Tree],
    most: int = WRITTEN,
) -> Iterator[Tree]:  # fmt: skip
    """The shortest descriptions by one form of each curve."""
    found: dict[Tree, float] = {}
    for some in sorted(product(*readings), key=_described)[:most]:
        terms, left = [one.term for one in some], sum(one.left for one in some)
        for chosen in (terms, _plain(terms)):
            for tree, _ in written(chosen):
                whole = _collected(substitute(tidied(tree, points), parts))
                found.setdefault(whole, YARDSTICK.of(whole, left))
    yield from sorted(found, key=lambda tree: found[tree])


def _collected(tree: Tree) -> Tree:
    """A product with each base once: quantities share inputs."""
    if tree.root not in ("mul", "div", "pow"):
        return tree
    powers = [
        (base, power if power.denominator < 100 else Fraction(repr(float(power))))
        for base, power in collected_powers(tree).items()
    ]
    return product_of_powers(powers)


def _plain(terms: Sequence[FormTerm]) -> list[FormTerm]:
    """Coefficients that are nearly plain multiples of the smallest."""
    unit = min((term.coefficient for term in terms), key=abs)
    return [replace(term, coefficient=unit * _rounded(term.coefficient / unit)) for term in terms]


def _rounded(number: float) -> float:
    near = [round(number * denominator) / denominator for denominator in PLAIN]
    best = min(near, key=lambda one: abs(one - number))
    return best if abs(best - number) < NEAR * abs(number) else number
