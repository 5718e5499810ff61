"""Many trajectories at once, each with its own adaptive steps and its own end."""

from collections.abc import Callable

import numpy as np
from scipy.integrate import DOP853

from closedform.arrays import FloatArray

Motion = Callable[[FloatArray], FloatArray]
"""From states (n, n_inputs) to their time derivatives, row by row."""

TOLERANCE = 1e-12
"""Estimated error of a step, relative to 1 plus the size of the state."""

MOST_STEPS = 100_000


def integrate(
    motion: Motion, start: FloatArray, duration: FloatArray, *, tolerance: float = TOLERANCE
) -> FloatArray:
    """Follow every state for its own duration, by the Runge-Kutta method of order 8 of Dormand and
    Prince.

    Parameters
    ----------
    motion : callable
        From states (n, n_inputs) to derivatives (n, n_inputs).
    start : ndarray, shape (n_states, n_inputs)
    duration : ndarray, shape (n_states,)
        At least 0.
    tolerance : float
        Of one step.

    Returns
    -------
    ndarray, shape (n_states, n_inputs)

    Raises
    ------
    RuntimeError
        If a trajectory is not at its end after 100,000 steps.

    Examples
    --------
    >>> rotation = lambda y: np.stack([y[:, 1], -y[:, 0]], axis=1)
    >>> end = integrate(rotation, np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([np.pi / 2, np.pi]))
    >>> bool(np.allclose(end, [[1, 0], [0, -1]], atol=1e-9))
    True
    """
    end = np.array(start, dtype=np.float64)
    active = np.flatnonzero(np.asarray(duration) > 0)
    state, left = end[active], np.asarray(duration, dtype=np.float64)[active]
    step = np.minimum(left, 1e-2)
    for _ in range(MOST_STEPS):
        if not len(active):
            return end
        proposed, error = _step(motion, state, step)
        # A step into a singularity is not finite; it is tried again with a smaller one.
        ratio = np.nan_to_num(
            np.max(error / (tolerance * (1 + np.abs(state))), axis=1), nan=1e30, posinf=1e30
        )
        accepted = ratio <= 1
        state = np.where(accepted[:, None], proposed, state)
        left = np.where(accepted, left - step, left)
        step = np.minimum(
            step * np.clip(0.9 * np.maximum(ratio, 1e-30) ** (-1 / 8), 0.2, 5.0), left
        )
        done = left <= 0
        if done.any():
            end[active[done]] = state[done]
            active, state, left, step = active[~done], state[~done], left[~done], step[~done]
    raise RuntimeError(
        f"{len(active)} trajectories have not reached their ends after {MOST_STEPS} steps; perhaps "
        "they fall into a centre. Start them farther out."
    )


def _step(motion: Motion, state: FloatArray, step: FloatArray) -> tuple[FloatArray, FloatArray]:
    """One step of each trajectory, and an estimate of its error; coefficients and estimate are
    SciPy's.
    """
    slopes = np.empty((13, *state.shape))
    width = step[:, None]
    slopes[0] = motion(state)
    for stage in range(1, 12):
        slopes[stage] = motion(
            state + width * np.tensordot(DOP853.A[stage, :stage], slopes[:stage], 1)
        )
    proposed = state + width * np.tensordot(DOP853.B, slopes[:12], 1)
    slopes[12] = motion(proposed)
    fifth, third = (
        np.abs(np.tensordot(coefficients, slopes, 1)) for coefficients in (DOP853.E5, DOP853.E3)
    )
    return proposed, width * fifth**2 / np.maximum(np.hypot(fifth, 0.1 * third), 1e-300)
