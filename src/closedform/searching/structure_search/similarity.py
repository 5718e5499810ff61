"""Products of powers through which quantities enter: one times a function of another, or functions
of two that may share quantities.

Where no constant has a unit, formulas are of the first kind: dimensional analysis. In logarithms
the slopes of x^p*F(x^c) are p + f*c, with a factor f that varies from point to point: they lie in
one plane, whatever F is, and f depends on x^c alone. The plane comes from all points at once, by an
eigenproblem; c is the direction in it along which the slopes turn.

The slopes of F(a(x^c) + b(x^d)) are combinations of c and d, so they lie in one plane too, and
whole numbers in it are c and d. Splines say for each pair of them whether there are such a and b.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
from numpy.polynomial import legendre

from closedform.arrays import FloatArray
from closedform.expressions.tree import Tree, variable
from closedform.field.alignment.tolerances import ROUNDING
from closedform.searching.products import product_of_powers
from closedform.searching.structure_search.profiles import SPLINED, basis_of, fitted_profiles
from closedform.searching.structure_search.quantities import Data, State
from closedform.searching.structure_search.screening import screened

DEGREE, N_DIRECTIONS = 6, 45
"""Of the polynomials that describe how slopes turn, and directions of c that are tried."""

TURNING, MOST = 1e-6, 0.5
"""Slopes that turn by less are those of one product; and the share of their turning that x^c must
explain."""

NEAR, NEARER = 0.25, 0.06
"""How near the plane c must lie, as a share of its length, and p to whole numbers."""

PRICE, CHOICES = 0.1, 2
"""What each unit of c's exponents costs, as a logarithm of what c leaves unexplained, and how many
choices of c are followed."""

MOST_SETS = 5
"""Quantities up to which every set of them is looked at; of more, pairs and all."""

FEWEST = 50
"""Points of one sign that are needed where quantities have both."""

LARGEST, LARGEST_OUTER = (4, 4, 4, 4, 4, 2, 1, 1), 6
"""Largest exponents of c that are tried, by the number of quantities, and of p."""


FLAT = 1e-9
"""What a plane may leave over of the squares of an exact field's slopes, and of whole numbers."""

MOST_PRODUCTS = 8
"""Products that are tried in pairs, those of the smallest exponents first."""

ROUGHLY, ALIKE, KEPT = 1e-3, 10.0, 2
"""What splines may leave over before points are weighed anew, how many times more than the best
pair's is alike, and the pairs that are kept.
"""


@dataclass(frozen=True, slots=True)
class Products:
    """Two products of powers of some quantities, as trees over the state's: x^p and x^c where
    quantities are similar. The lower the score, the more likely they are.
    """

    places: tuple[int, ...]
    products: tuple[Tree, Tree]
    score: float


def similarities(data: Data, state: State) -> list[Products]:
    """What is found for all quantities of a state and for some, the best first."""
    found = [
        one for places in _sets_of_places(state.size) for one in similarity(data, state, places)
    ]
    return sorted(found, key=lambda one: one.score)


def _sets_of_places(count: int) -> list[tuple[int, ...]]:
    """The sets of so many quantities that are looked at, small ones first."""
    if count > len(LARGEST):
        return []
    sizes = range(2, count + 1) if count <= MOST_SETS else sorted({2, count})
    return [places for size in sizes for places in combinations(range(count), size)]


@dataclass(frozen=True, slots=True)
class LogField:
    """Directions of a field in the logarithms of some quantities, where these have one sign."""

    units: FloatArray  # (n_points, n_quantities)
    logs: FloatArray  # the same
    weights: FloatArray  # (n_points,)
    has_both: np.ndarray  # whether a quantity has the other sign elsewhere

    @property
    def moments(self) -> FloatArray:
        """Mean products of the directions' parts."""
        return (self.units * self.weights[:, None]).T @ self.units

    @property
    def few(self) -> slice:
        """The points that are screened."""
        return slice(None) if self.has_both.any() else screened(len(self.weights))


def _log_field(data: Data, state: State, places: Sequence[int]) -> LogField | None:
    """The directions of some quantities; None if they have none at enough points."""
    chosen = [state.quantities[place] for place in places]
    values = np.stack([quantity.values for quantity in chosen], axis=1)
    # Logarithms need one sign: of quantities of both signs, look where most points are.
    signs = np.sign(values)
    has_both = ~(signs == signs[:1]).all(axis=0)
    kept = np.arange(len(values))
    if has_both.any():
        kinds, counts = np.unique(signs, axis=0, return_counts=True)
        kept = np.flatnonzero((signs == kinds[counts.argmax()]).all(axis=1))
    if not values[kept].all() or len(kept) < FEWEST:
        return None
    lengths = np.stack([quantity.lengths for quantity in chosen], axis=1)
    slopes = (state.slopes[:, list(places)] / lengths * values)[kept]
    sizes = np.linalg.norm(slopes, axis=1)
    if not (sizes > 0).all():
        return None
    logs = np.log(np.abs(values[kept]))
    return LogField(slopes / sizes[:, None], logs, data.weights[kept], has_both)


def similarity(data: Data, state: State, places: Sequence[int]) -> Iterator[Products]:
    """Products through which some quantities enter, one for each plain choice of c."""
    field = _log_field(data, state, places)
    if field is None:
        return
    units, logs, weights, has_both = field.units, field.logs, field.weights, field.has_both
    moments, few = field.moments, field.few
    chosen = [state.quantities[place] for place in places]
    plane = np.linalg.eigh(moments)[1][:, -2:]
    found = _turning((units @ plane)[few], (logs @ plane)[few], weights[few])
    if found is None:
        return
    angles, left = found
    whole = _whole_numbers(len(places), max(LARGEST))
    flat = whole @ plane
    is_near = (flat**2).sum(axis=1) > (1 - NEAR**2) * (whole**2).sum(axis=1)
    whole, flat = whole[is_near], flat[is_near]
    rough = np.interp(np.arctan2(flat[:, 1], flat[:, 0]), angles, left, period=np.pi)
    scores = np.log(rough) + PRICE * np.abs(whole).sum(axis=1)
    for number in np.argsort(scores, kind="stable")[:CHOICES]:
        if rough[number] > MOST:
            return
        # What changes its sign stands above the line: a pole inside the data is no map.
        inner = whole[number] * (-1 if (whole[number][has_both] < 0).any() else 1)
        aside = np.eye(len(places)) - np.outer(inner, inner) / (inner @ inner)
        across = np.linalg.eigh(aside @ moments @ aside)[1][:, -1]
        # Whatever of c is added to p becomes a part of F, so one of c's inputs need not be in p.
        outers = [
            outer
            for k in np.flatnonzero(inner)
            for outer in _plain(across - across[k] / inner[k] * inner)
            if ((inner != 0) | (np.array(outer) != 0)).all()
        ]
        # Powers of what changes its sign may lose it, so others come first, and short ones.
        costs = np.array([quantity.complexity for quantity in chosen])
        for outer in sorted(
            dict.fromkeys(outers),
            key=lambda outer: ((np.array(outer)[has_both] % 2).any(), np.abs(outer) @ costs),
        ):
            # A square has lost the sign that its root has.
            is_square = has_both.any() and not (inner[has_both] % 2).any()
            both = outer, inner / 2 if is_square else inner
            yield _products(places, both, float(scores[number]))


def _turning(
    units: FloatArray, logs: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Directions in a plane, and the share of unit vectors' turning that places along each leave
    unexplained; None where they do not turn.
    """
    # Directions have no sign: twice the angle has none either.
    turned = (units[:, 0] + 1j * units[:, 1]) ** 2 / (units**2).sum(axis=1)
    weights = weights / weights.sum()
    roots = np.sqrt(weights)
    whole = float((weights * np.abs(turned - weights @ turned) ** 2).sum())
    if not whole > TURNING:
        return None
    angles = np.arange(N_DIRECTIONS) * np.pi / N_DIRECTIONS
    left = np.ones(N_DIRECTIONS)
    for number, angle in enumerate(angles):
        places = logs @ np.array([np.cos(angle), np.sin(angle)])
        low, high = places.min(), places.max()
        if high > low:
            design = legendre.legvander(2 * (places - low) / (high - low) - 1, DEGREE)
            basis, _ = np.linalg.qr(design * roots[:, None])
            aim = turned * roots
            left[number] = (np.abs(aim - basis @ (basis.T @ aim)) ** 2).sum() / whole
    return angles, np.maximum(left, ROUNDING)


@cache
def _whole_numbers(count: int, highest: int) -> FloatArray:
    """Exponents up to the highest, or what so many quantities allow, without a common factor, the
    first of which that is not 0 is positive.
    """
    largest = min(highest, LARGEST[min(count, len(LARGEST)) - 1])
    numbers = np.indices((2 * largest + 1,) * count).reshape(count, -1).T - largest
    firsts = numbers[np.arange(len(numbers)), (numbers != 0).argmax(axis=1)]
    is_kept = (firsts > 0) & (np.gcd.reduce(numbers, axis=1) == 1)
    return numbers[is_kept].astype(np.float64)


def _plain(exponents: FloatArray) -> list[tuple[int, ...]]:
    """Whole numbers in about the ratio of some exponents: the smallest that are near, and the
    nearest.
    """
    largest = exponents[np.abs(exponents).argmax()]
    wholes = [np.round(size * exponents / largest) for size in range(1, LARGEST_OUTER + 1)]
    offs = [
        float(np.linalg.norm(exponents - whole * (exponents @ whole) / (whole @ whole)))
        for whole in wholes
    ]
    near = NEARER * np.linalg.norm(exponents)
    smallest = next((k for k, off in enumerate(offs) if off < near), len(offs) - 1)
    # Only what is nearer by far is another choice: of equal ones the first is the plainest.
    nearest = min(range(len(offs)), key=lambda k: round(np.log2(offs[k] + ROUNDING)))
    return [tuple(int(number) for number in wholes[k]) for k in dict.fromkeys((smallest, nearest))]


def _products(
    places: Sequence[int], exponents: Iterable[Iterable[float]], score: float
) -> Products:
    first, second = (
        product_of_powers(
            [(variable(p), Fraction(float(n))) for p, n in zip(places, powers, strict=True)]
        )
        for powers in exponents
    )
    return Products(tuple(places), (first, second), score)


def two_products(
    data: Data, state: State, level: float, count: Callable[[int], None]
) -> Iterator[Products]:
    """Products that two functions are of: what is found for all quantities of a state, then for
    fewer. True ones leave no more over than a level, and each set of quantities is counted.
    """
    for places in reversed(_sets_of_places(state.size)):
        count(1)
        field = _log_field(data, state, places)
        if field is not None:
            yield from _of_set(field, places, level)


def _of_set(field: LogField, places: Sequence[int], level: float) -> Iterator[Products]:
    sizes, frame = np.linalg.eigh(field.moments)
    if sizes[:-2].sum() > (level + FLAT) * sizes.sum():
        return
    plane = frame[:, -2:]
    whole = _whole_numbers(len(places), max(LARGEST))
    costs = np.abs(whole).sum(axis=1)
    off = ((whole - whole @ plane @ plane.T) ** 2).sum(axis=1)
    flat = np.flatnonzero(off < (level + FLAT) * (whole**2).sum(axis=1))
    whole = whole[flat[np.argsort(costs[flat], kind="stable")[:MOST_PRODUCTS]]]
    # What changes its sign stands above the line: a pole inside the data is no map.
    whole = np.where((whole[:, field.has_both] < 0).any(axis=1, keepdims=True), -whole, whole)
    own = field.weights / field.weights.sum()
    bases = [_basis(field.logs @ powers) for powers in whole]
    found: list[tuple[float, Products]] = []
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
            found.append((loss, _products(places, both, float(np.abs(both).sum()))))
    lowest = min((loss for loss, _ in found), default=0.0)
    near = [one for loss, one in found if loss <= ALIKE * lowest]
    yield from sorted(near, key=lambda one: one.score)[:KEPT]


def _basis(values: FloatArray) -> FloatArray:
    basis = basis_of(values, np.ones(len(values), dtype=bool))
    return np.ones((len(values), 1)) if basis is None else basis
