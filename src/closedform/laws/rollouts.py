"""Trajectories: of a flow by integration, of a simulator by repeated steps."""

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

from closedform.arrays import FloatArray
from closedform.errors import ClosedformError

RowFunction = Callable[[FloatArray], FloatArray]

TOLERANCE = 1e-9
"""Of the integrator: far below what `EXACT_CHANGE` asks for."""


class RolloutError(ClosedformError):
    """A motion could not be followed."""


def follow_flow(flow: RowFunction, start: FloatArray, times: FloatArray) -> FloatArray:
    """Integrate a flow from several points at once.

    Parameters
    ----------
    flow : callable
        From points (n, d) to velocities.
    start : ndarray, shape (n, d)
    times : ndarray, shape (n_times,)
        From 0 upwards.

    Returns
    -------
    ndarray, shape (n, n_times, d)

    Examples
    --------
    >>> ends = follow_flow(lambda x: -x, np.ones((1, 2)), np.array([0.0, 1.0]))[0, -1]
    >>> bool(np.allclose(ends, np.exp(-1)))
    True
    """
    shape = start.shape

    def slope(_: float, state: FloatArray) -> FloatArray:
        return flow(state.reshape(shape)).ravel()

    with np.errstate(all="ignore"):
        found = solve_ivp(
            slope,
            (0.0, float(times[-1])),
            start.ravel(),
            method="DOP853",
            t_eval=times,
            rtol=TOLERANCE,
            atol=TOLERANCE * float(np.abs(start).max()),
        )
    if not found.success or not np.isfinite(found.y).all():
        raise RolloutError(
            f"The flow could not be followed to the time {times[-1]:g}: {found.message} Pass "
            f"points whose orbits stay where the flow is defined, or a shorter horizon."
        )
    return np.moveaxis(found.y.reshape(*shape, len(times)), 2, 1)


def repeat_steps(step: RowFunction, start: FloatArray, count: int) -> FloatArray:
    """States of a simulator, shape (n, count + 1, d), from the start on.

    Examples
    --------
    >>> repeat_steps(lambda x: 2 * x, np.ones((1, 1)), 3)[0, :, 0]
    array([1., 2., 4., 8.])
    """
    states = [np.array(start, dtype=np.float64)]
    for _ in range(count):
        states.append(step(states[-1]))
    found = np.stack(states, axis=1)
    if not np.isfinite(found).all():
        raise RolloutError(
            f"The simulator leaves finite numbers within {count} steps; pass other points or a "
            f"shorter horizon."
        )
    return found


def own_time(velocities: FloatArray, scale: FloatArray) -> float:
    """The time in which a typical point moves by one spread of the inputs."""
    speeds = np.linalg.norm(velocities / scale, axis=1)
    speed = float(np.median(speeds[np.isfinite(speeds)]))
    return 1.0 / speed if speed > 0 else 1.0
