"""Velocities from trajectories, with their errors: smoothing splines.

PySINDy's differentiation (finite differences, Savitzky-Golay filters, and wrappers of the package
`derivative`) gives no errors and asks for a width. SciPy's smoothing spline chooses its own
smoothness by generalised cross-validation. It is fitted to all samples, and to every other one: how
the two halves differ is the error, noise and coarseness alike.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline, make_smoothing_spline

from closedform.arrays import FloatArray
from closedform.errors import ShapeError

FEWEST = 12
"""Samples of a trajectory: both halves need the five points of a smoothing spline."""


@dataclass(frozen=True, slots=True)
class Velocities:
    """Smoothed states, their velocities and the velocities' standard errors.

    Attributes
    ----------
    points, velocities, errors : ndarray, shape (n_trajectories, n_times, n_inputs)
    """

    points: FloatArray
    velocities: FloatArray
    errors: FloatArray


def differentiate_trajectories(trajectories: FloatArray, times: FloatArray) -> Velocities:
    """Differentiate trajectories by smoothing splines.

    Parameters
    ----------
    trajectories : ndarray, shape (n_trajectories, n_times, n_inputs)
    times : ndarray, shape (n_times,)
        Ascending.

    Raises
    ------
    ShapeError
        If there are too few times.

    Examples
    --------
    >>> times = np.linspace(0, 6, 100)
    >>> found = differentiate_trajectories(np.sin(times)[None, :, None], times)
    >>> bool(np.abs(found.velocities[0, :, 0] - np.cos(times)).max() < 1e-2)
    True
    """
    if trajectories.shape[1] < FEWEST:
        raise ShapeError(
            f"The trajectories have {trajectories.shape[1]} times; velocities need {FEWEST}. Pass "
            f"longer ones, or pairs."
        )
    points, velocities, errors = (np.empty_like(trajectories) for _ in range(3))
    for orbit, states in enumerate(trajectories):
        for column in range(states.shape[1]):
            found = _differentiate(times, states[:, column])
            points[orbit, :, column], velocities[orbit, :, column] = found[:2]
            errors[orbit, :, column] = found[2]
    return Velocities(points, velocities, errors)


def _differentiate(times: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Smoothed values, slopes, and the typical error of the slopes."""
    whole = _spline(times, values)
    halves = [_spline(times[part], values[part]) for part in (slice(0, None, 2), slice(1, None, 2))]
    # The ends of a spline know one side only.
    middle = slice(len(times) // 10, len(times) - len(times) // 10)
    apart = halves[0](times, 1)[middle] - halves[1](times, 1)[middle]
    return whole(times), whole(times, 1), float(np.sqrt(np.mean(apart**2)) / 2)


def _spline(times: FloatArray, values: FloatArray) -> CubicSpline:
    """The smoothing spline of least cross-validated error, or the interpolating one where the data
    carry no noise that it could see.
    """
    spread = float(np.ptp(values))
    if spread == 0:
        return CubicSpline(times, values)
    unit = (times - times[0]) / (times[-1] - times[0]) * len(times)
    smooth = make_smoothing_spline(unit, values / spread)
    left = np.sqrt(np.mean((smooth(unit) - values / spread) ** 2))
    between = CubicSpline(times, values)
    if left < 1e-6:
        return between
    return CubicSpline(times, smooth(unit) * spread)
