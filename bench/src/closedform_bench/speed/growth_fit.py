"""How seconds grow with size: the exponent of a power law, with its interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Growth:
    """A power law, seconds = factor * size ** exponent.

    Attributes
    ----------
    exponent : float
        Slope of the line through the logarithms of all sizes.
    low, high : float
        Its 95% interval.
    last : float
        Slope between the two largest sizes: a constant part hides there least.
    """

    exponent: float
    low: float
    high: float
    last: float


def fit_growth(sizes: Sequence[float], seconds: Sequence[float]) -> Growth:
    """Fit the exponent by least squares of the logarithms.

    Parameters
    ----------
    sizes, seconds : sequence of float
        At least three, positive.

    Raises
    ------
    ValueError
        If there are fewer than three, or one is not positive.

    Examples
    --------
    >>> growth = fit_growth([1, 10, 100], [2, 20, 200])
    >>> round(growth.exponent, 9), round(growth.high - growth.low, 9), round(growth.last, 9)
    (1.0, 0.0, 1.0)
    """
    from scipy.special import stdtrit

    if len(sizes) < 3 or min(*sizes, *seconds) <= 0:
        raise ValueError(
            f"A power law needs three positive sizes and seconds; got {sizes} and {seconds}."
        )
    x, y = np.log(sizes), np.log(seconds)
    away = x - x.mean()
    spread = float(away @ away)
    slope = float(away @ y) / spread
    residuals = y - y.mean() - slope * away
    error = float(np.sqrt(residuals @ residuals / (len(x) - 2) / spread))
    half = float(stdtrit(len(x) - 2, 0.5 + CONFIDENCE / 2)) * error
    last = float((y[-1] - y[-2]) / (x[-1] - x[-2]))
    return Growth(slope, slope - half, slope + half, last)
