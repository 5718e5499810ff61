"""Products of powers through which two quantities enter beside a power of one: y^k*f(x/y^p).

Where no constant has a unit, formulas of two quantities are such: dimensional analysis. The ratio
of the slopes in logarithms is then a function of x/y^p alone, so its level lines are straight and
parallel there, and their direction is p.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.tree import Tree, variable
from closedform.searching.products import product_of_powers
from closedform.searching.structure_search.merges import Pair
from closedform.searching.structure_search.quantities import Data, State

DEGREE = 5
"""Of the polynomials by which slopes are described."""

PARALLEL = 0.03
"""What may vary along the level lines, as a share of what varies across."""

SMALLEST, LARGEST, DENOMINATOR, NEAR = 0.1, 6.0, 4, 0.06
"""Exponents that are believed: their size, their denominator, and how near a plain one must be."""


def similarities(data: Data, state: State) -> list[tuple[tuple[int, int], Tree]]:
    """Pairs of quantities with such a product, and the product as a tree of two variables."""
    found = []
    for places in combinations(range(state.size), 2):
        exponent = similarity(Pair(data, state, *places))
        if exponent is not None:
            powers = [(variable(0), Fraction(exponent.denominator))]
            powers.append((variable(1), Fraction(exponent.numerator)))
            found.append((places, product_of_powers(powers)))
    return found


def similarity(pair: Pair) -> Fraction | None:
    """The exponent p of x*y^p, if the slopes' ratio in logarithms depends on that alone; None
    otherwise.
    """
    both = [pair.state.quantities[place] for place in (pair.first, pair.second)]
    values = np.stack([quantity.values for quantity in both])
    if not all(row.min() > 0 or row.max() < 0 for row in values):
        return None
    logs = np.log(np.abs(values))
    lengths = np.stack([quantity.lengths for quantity in both])
    slopes = np.stack([pair.along, pair.across]) / lengths * values
    sizes = (slopes**2).sum(axis=0)
    halves = np.ptp(logs, axis=1) / 2
    if not (sizes > 0).all() or not (halves > 0).all():
        return None
    # Directions have no sign: twice the angle has none either.
    angles = np.stack([slopes[0] ** 2 - slopes[1] ** 2, 2 * slopes[0] * slopes[1]]) / sizes
    middles = (logs.max(axis=1) + logs.min(axis=1)) / 2
    changes = _changes((logs - middles[:, None]) / halves[:, None], angles) / halves[:, None, None]
    moments = np.einsum("ikn,jkn->ij", changes, changes)
    (least, most), axes = np.linalg.eigh(moments)
    across = axes[:, 1]
    if not least < PARALLEL * most or not abs(across[0]) > 0:
        return None
    exponent = float(across[1] / across[0])
    near = Fraction(exponent).limit_denominator(DENOMINATOR)
    is_plain = abs(float(near) - exponent) < NEAR * abs(exponent)
    return near if SMALLEST < abs(exponent) < LARGEST and is_plain else None


def _changes(places: FloatArray, angles: FloatArray) -> FloatArray:
    """Derivatives of polynomials that are fitted to both angles, shape (2, 2, n_points)."""
    powers = [(i, j) for i in range(DEGREE + 1) for j in range(DEGREE + 1) if 0 <= i + j <= DEGREE]
    u, v = places
    design = np.column_stack([u**i * v**j for i, j in powers])
    solution, *_ = np.linalg.lstsq(design, angles.T, rcond=1e-10)
    along = np.column_stack([i * u ** max(i - 1, 0) * v**j for i, j in powers]) @ solution
    across = np.column_stack([j * u**i * v ** max(j - 1, 0) for i, j in powers]) @ solution
    return np.asarray(np.stack([along.T, across.T]), dtype=np.float64)
