"""How much of a change along a motion is systematic, and how much is noise.

Noise of points or velocities is independent from row to row. What a formula misses is a function of
where it is evaluated: half of the rows, or the nearest other row, predict it.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from scipy.spatial import KDTree

from closedform.arrays import FloatArray
from closedform.laws.tolerances import MOST_MEDIANS, SURE

_ROWS_PER_FEATURE = 6
_RIDGE = 1e-6


@dataclass(frozen=True, slots=True)
class ChangeParts:
    """How much a function changes along a motion; 1 is as much as it varies.

    Attributes
    ----------
    total : float
        Root mean square.
    systematic : float
        The part of it that depends on the place, as far as it is surely seen.
    """

    total: float
    systematic: float


def split_change(changes: FloatArray, scaled: FloatArray, rng: np.random.Generator) -> ChangeParts:
    """Split changes into what the place predicts and the rest.

    Parameters
    ----------
    changes : ndarray, shape (n_rows,)
    scaled : ndarray, shape (n_rows, n_inputs)
        Where they occur, in spreads.
    rng : Generator

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> places, noise = rng.normal(size=(600, 2)), rng.normal(size=600)
    >>> split_change(noise, places, rng).systematic
    0.0
    >>> round(split_change(noise + places[:, 0], places, rng).systematic, 1)
    1.0
    """
    if not np.isfinite(changes).all():
        return ChangeParts(np.inf, np.inf)
    total = float(np.sqrt(np.mean(changes**2)))
    if total == 0 or len(changes) < 20:
        return ChangeParts(total, total)
    most = MOST_MEDIANS * float(np.median(np.abs(changes)))
    calm = np.clip(changes, -most, most) if most > 0 else changes
    shares = [_predicted(calm, scaled, rng), _neighbours(calm, scaled)]
    return ChangeParts(total, float(np.sqrt(max(shares))))


def _predicted(changes: FloatArray, scaled: FloatArray, rng: np.random.Generator) -> float:
    """The mean square that a polynomial fitted to one half of the rows explains in the other."""
    features = _polynomials(scaled)
    order = rng.permutation(len(changes))
    halves = order[::2], order[1::2]
    products = np.empty(len(changes))
    for fitted, judged in (halves, halves[::-1]):
        block = features[fitted]
        gram = block.T @ block + _RIDGE * len(fitted) * np.eye(block.shape[1])
        weights = np.linalg.solve(gram, block.T @ changes[fitted])
        products[judged] = (features[judged] @ weights) * changes[judged]
    return _surely_positive(products)


def _neighbours(changes: FloatArray, scaled: FloatArray) -> float:
    """The mean product of the changes at nearest neighbours: 0 for noise."""
    nearest = np.asarray(KDTree(scaled).query(scaled, 2)[1])[:, 1]
    return _surely_positive(changes * changes[nearest])


def _surely_positive(products: FloatArray) -> float:
    """The mean, if it lies above 0 by enough standard errors."""
    error = float(products.std() / np.sqrt(len(products)))
    mean = float(products.mean())
    return mean if mean > SURE * error else 0.0


def _polynomials(scaled: FloatArray) -> FloatArray:
    """Monomials of bounded inputs, of the largest degree up to 4 that the rows can carry."""
    n_rows, n_inputs = scaled.shape
    centred = np.tanh((scaled - np.median(scaled, axis=0)) / 2)
    fitting = [d for d in (1, 2, 3, 4) if comb(n_inputs + d, d) <= n_rows / _ROWS_PER_FEATURE]
    columns = [np.ones(n_rows)]
    for degree in range(1, max(fitting, default=0) + 1):
        for powers in combinations_with_replacement(range(n_inputs), degree):
            columns.append(np.prod(centred[:, powers], axis=1))
    return np.column_stack(columns)
