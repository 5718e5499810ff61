"""How badly a roll-out breaks a law, per step and in all, in per cent."""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.expressions.expression import Expression

N_DRAWS = 400


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """What becomes of a conserved quantity in a roll-out.

    Per cent are of its typical size at the start: the mean of its absolute value over trajectories.

    Attributes
    ----------
    per_step : float
        Root mean square of the change between neighbouring times.
    total : float
        Mean change at the end, with the sign of growth.
    low, high : float
        Its 95% bootstrap interval over trajectories.
    of_spread : float
        Root mean square of the change at the end, in per cent of the spread between trajectories.
    times : ndarray, shape (n_times,)
    mean : ndarray, shape (n_times,)
        Mean change at each time.
    band : ndarray, shape (2, n_times)
        Between which nine of ten trajectories lie.
    """

    per_step: float
    total: float
    low: float
    high: float
    of_spread: float
    times: FloatArray
    mean: FloatArray
    band: FloatArray

    def __str__(self) -> str:
        return (
            f"{self.total:+.3g}% ({self.low:+.3g} to {self.high:+.3g}%) over the time "
            f"{self.times[-1] - self.times[0]:.3g}, {self.per_step:.2g}% per step"
        )


def measure_drift(
    concept: Expression, states: FloatArray, times: FloatArray, rng: np.random.Generator
) -> Drift | None:
    """Follow a quantity along a roll-out; None where it is not finite or vanishes.

    Parameters
    ----------
    concept : Expression
    states : ndarray, shape (n_orbits, n_times, n_inputs)
    times : ndarray, shape (n_times,)
    rng : Generator

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> times = np.linspace(0, 1, 11)
    >>> states = np.exp(-0.01 * times)[None, :, None] * np.ones((5, 1, 1))
    >>> measure_drift(parse("x", ["x"]), states, times, np.random.default_rng(0)).total.__round__(2)
    -1.0
    """
    with np.errstate(all="ignore"):
        values = concept(states.reshape(-1, states.shape[2])).reshape(states.shape[:2])
    start = values[:, :1]
    size = float(np.abs(start).mean())
    if not np.isfinite(values).all() or not size > 0:
        return None
    changes = 100 * (values - start) * np.where(start < 0, -1.0, 1.0) / size
    draws = rng.integers(len(values), size=(N_DRAWS, len(values)))
    low, high = np.percentile(changes[draws, -1].mean(axis=1), [2.5, 97.5])
    spread = float(start.std())
    last = float(np.sqrt(np.mean((values[:, -1:] - start) ** 2)))
    return Drift(
        per_step=float(np.sqrt(np.mean(np.diff(changes, axis=1) ** 2))),
        total=float(changes[:, -1].mean()),
        low=float(low),
        high=float(high),
        of_spread=100 * last / spread if spread > 0 else np.inf,
        times=frozen(np.asarray(times, dtype=np.float64)),
        mean=frozen(changes.mean(axis=0)),
        band=frozen(np.percentile(changes, [5, 95], axis=0)),
    )
