"""How much of a change along a motion is systematic, and how much is noise.

Noise of points or velocities is independent from row to row. What a formula misses is a function of
where it is evaluated: half of the rows, or the nearest other row, predict it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import KDTree

from closedform.arrays import FloatArray
from closedform.reading.laws.tolerances import MOST_MEDIANS, SURE

_ROWS_PER_FEATURE = 6
_RIDGE = 1e-6


@dataclass(frozen=True, slots=True)
class ChangeParts:
    """How much a function changes along a motion; 1 is as much as it varies."""

    total: float  # root mean square
    systematic: float  # the part of it that depends on the place, as far as it is surely seen


def split_change(changes: FloatArray, scaled: FloatArray, rng: np.random.Generator) -> ChangeParts:
    """Split changes into what the place predicts and the rest.

    Parameters
    ----------
    changes : ndarray, shape (n_rows,)
    scaled : ndarray, shape (n_rows, n_inputs)
        Where they occur, in spreads.
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


@dataclass(frozen=True, slots=True)
class NeededNoise:
    """The noise that would explain how much a formula changes along orbits."""

    variance: float  # of every input, if all are equally noisy; in squared spreads
    shares: FloatArray  # (n_inputs,): what each input contributes to it; their sum is 1


def needed_noise(values: FloatArray, gradients: FloatArray) -> NeededNoise:
    """Compare changes with what independent noise of the inputs would cause.

    Parameters
    ----------
    values : ndarray, shape (n_orbits, n_places)
    gradients : ndarray, shape (n_orbits, n_places, n_inputs)
        Scaled.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(2000, 2, 2)) * [0.01, 0.03]
    >>> law = needed_noise(noise @ [0.6, 0.8], np.broadcast_to([0.6, 0.8], noise.shape))
    >>> round(law.variance, 4), law.shares.round(2)
    (0.0006, array([0.36, 0.64]))
    """
    n_places = values.shape[1]
    with np.errstate(all="ignore"):
        squares = gradients**2
        # Of a deviation from the mean of the orbit's places, each of which has noise of its own.
        caused = (1 - 2 / n_places) * squares + squares.mean(axis=1, keepdims=True) / n_places
        whole = caused.sum(axis=2)
        deviations = np.abs(values - values.mean(axis=1, keepdims=True))
        ratios = np.divide(
            deviations, np.sqrt(whole), out=np.zeros_like(whole), where=deviations > 0
        )
        most = MOST_MEDIANS * float(np.median(ratios))
        calm = np.minimum(ratios, most) if most > 0 else ratios
        shares = np.nanmean((caused / whole[:, :, None]).reshape(-1, caused.shape[2]), axis=0)
    return NeededNoise(float(np.mean(calm**2)), shares)


def explained_share(one: NeededNoise, others: Iterable[NeededNoise]) -> float:
    """How much of a formula's squared change noise can explain, between 0 and 1.

    No formula changes less than by noise. Each bounds a sum of the inputs' variances, weighted with
    its shares; the largest weighted sum for the formula in question is a linear programme.
    """
    if not one.variance > 0:
        return 1.0
    bounds = [one, *others]
    variances = np.array([bound.variance / one.variance for bound in bounds])
    shares = np.array([bound.shares for bound in bounds])
    fine = np.isfinite(variances) & np.isfinite(shares).all(axis=1)
    if not fine[0]:
        return 1.0
    found = linprog(-one.shares, A_ub=shares[fine], b_ub=variances[fine], bounds=(0, None))
    return float(np.clip(-found.fun, 0.0, 1.0)) if found.success else 1.0
