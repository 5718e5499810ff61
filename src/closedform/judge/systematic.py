"""Changes that ought to vanish, split into noise and what is systematic: what depends on the place.

A conserved quantity should not change along a motion, nor a neuron along its symmetry. Noise
changes both all the same; but it differs from point to point, and cannot be predicted.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from scipy.spatial import KDTree

from closedform.arrays import FloatArray

SURE = 4.0
"""Standard errors by which a systematic change must be seen: a hundred formulas are tested."""

MOST_MEDIANS = 5.0
"""Of their median, the largest change that counts: near critical points of a function its gradient
has any direction, and these may not drown the rest."""

BEYOND_NOISE = 1.5
"""A formula may change by this many times the noise that others leave room for. With 1% of noise
laws change by up to 1.13 times that, and the formulas that were wrongly taken for laws by 2 and
more."""

_ROWS_PER_FEATURE = 6
_RIDGE = 1e-6


@dataclass(frozen=True, slots=True)
class ChangeParts:
    """How much changes that ought to vanish are; 1 is as much as the quantity varies."""

    total: float  # root mean square
    systematic: float  # the part of it that depends on the place, as far as it is surely seen


def split_change(changes: FloatArray, scaled: FloatArray, rng: np.random.Generator) -> ChangeParts:
    """Split changes (n_rows,), which occur at scaled inputs, into what the place predicts and the
    rest.
    """
    if not np.isfinite(changes).all():
        return ChangeParts(np.inf, np.inf)
    total = float(np.sqrt(np.mean(changes**2)))
    if total == 0 or len(changes) < 20:
        return ChangeParts(total, total)
    most = MOST_MEDIANS * float(np.median(np.abs(changes)))
    calm = np.clip(changes, -most, most) if most > 0 else changes
    # Products with what a polynomial says that was fitted to the other half, and with the change at
    # the nearest neighbour: their mean is 0 for noise.
    nearest = np.asarray(KDTree(scaled).query(scaled, 2)[1])[:, 1]
    others = (predict_by_place(calm, scaled, rng), calm[nearest])
    share = max(_surely_positive(calm * other) for other in others)
    return ChangeParts(total, float(np.sqrt(share)))


def predict_by_place(
    changes: FloatArray, scaled: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """What a polynomial of the place, fitted to one half of the rows, says of the other; changes
    may have columns.
    """
    features = _polynomials(scaled)
    order = rng.permutation(len(changes))
    halves = order[::2], order[1::2]
    predicted = np.empty_like(changes)
    for fitted, judged in (halves, halves[::-1]):
        block = features[fitted]
        gram = block.T @ block + _RIDGE * len(fitted) * np.eye(block.shape[1])
        predicted[judged] = features[judged] @ np.linalg.solve(gram, block.T @ changes[fitted])
    return predicted


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
