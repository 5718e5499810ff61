"""The constants of a formula, fitted so that it changes least along orbits."""

import numpy as np
from scipy.optimize import least_squares

from closedform.arrays import FloatArray
from closedform.canonical.constants import free_constants, with_constants
from closedform.expressions.expression import Expression

MOST_ORBITS = 2000


def fit_on_orbits(concept: Expression, groups: FloatArray) -> Expression:
    """Minimise Var(g within orbits) / Var(g) over the constants of a formula.

    Parameters
    ----------
    concept : Expression
    groups : ndarray, shape (n_orbits, n_places, n_inputs)
        Pairs, or trajectories.

    Returns
    -------
    Expression
        The formula as it was if it has no constants, or others are not better.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> rng = np.random.default_rng(0)
    >>> radius, angle = rng.uniform(1, 2, (200, 1)), rng.uniform(0, 6.3, (200, 2))
    >>> pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2)
    >>> print(fit_on_orbits(parse("x**2 + 1.1*y**2", ["x", "y"]), pairs))
    x**2 + 1*y**2
    """
    free = free_constants(concept)
    some = groups[:MOST_ORBITS]
    if not free:
        return concept

    def deviations(constants: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            formula = with_constants(concept, [float(value) for value in constants])
            values = formula(some.reshape(-1, some.shape[2])).reshape(some.shape[:2])
            found = (values - values.mean(axis=1, keepdims=True)) / values.std()
        return np.nan_to_num(found, nan=1.0, posinf=1.0, neginf=1.0).ravel()

    start = np.array([float(one.value) for one in free])
    if start.size > len(some):
        return concept
    found = least_squares(deviations, start, x_scale=np.maximum(np.abs(start), 1e-3), max_nfev=60)
    before = float(np.sum(deviations(start) ** 2))
    if not 2 * found.cost < before:
        return concept
    return with_constants(concept, [_short(value) for value in found.x])


def _short(value: float) -> float:
    """The number without its last digits, which the fit does not know."""
    return float(f"{value:.7g}")
