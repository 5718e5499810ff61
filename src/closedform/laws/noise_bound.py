"""How much noise the inputs can have, as far as other formulas show it.

Noise of the inputs disturbs every formula in proportion to its gradient. A formula that would need
more of it than the others leave room for is not kept: what noise cannot explain is systematic.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from closedform.arrays import FloatArray
from closedform.laws.tolerances import MOST_MEDIANS


@dataclass(frozen=True, slots=True)
class NeededNoise:
    """The noise that would explain how much a formula changes along orbits.

    Attributes
    ----------
    variance : float
        Of every input, if all are equally noisy; in squared spreads.
    shares : ndarray, shape (n_inputs,)
        What each input contributes to it; their sum is 1.
    """

    variance: float
    shares: FloatArray


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

    Examples
    --------
    >>> kept = NeededNoise(1.0, np.array([0.5, 0.5, 0.0]))
    >>> explained_share(NeededNoise(4.0, np.array([0.5, 0.5, 0.0])), [kept])
    0.25
    >>> explained_share(NeededNoise(4.0, np.array([0.0, 0.0, 1.0])), [kept])
    1.0
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
