"""Smooth functions that no search space has: the special functions of mathematical physics."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from closedform.arrays import FloatArray

Curve = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class Special:
    """A function of one variable, its derivative, and the range in which it is used."""

    value: Curve
    slope: Curve
    low: float
    high: float


SPECIAL: dict[str, Special] = {
    "J0": Special(special.j0, lambda t: -special.j1(t), 0.5, 5.0),
    "J1": Special(special.j1, lambda t: special.jvp(1, t), 0.5, 5.0),
    "lgamma": Special(special.gammaln, special.digamma, 0.6, 4.0),
    "digamma": Special(special.digamma, lambda t: special.polygamma(1, t), 0.6, 4.0),
    "airy": Special(lambda t: special.airy(t)[0], lambda t: special.airy(t)[1], -4.0, 1.5),
    "elliptic K": Special(
        special.ellipk,
        lambda m: (special.ellipe(m) - (1 - m) * special.ellipk(m)) / (2 * m * (1 - m)),
        0.05, 0.9,
    ),
    "Lambert W": Special(
        lambda t: special.lambertw(t).real,
        lambda t: special.lambertw(t).real / (t * (1 + special.lambertw(t).real)),
        0.3, 6.0,
    ),
    "Dawson": Special(special.dawsn, lambda t: 1 - 2 * t * special.dawsn(t), -0.5, 2.5),
    "sine integral": Special(
        lambda t: special.sici(t)[0], lambda t: np.sin(t) / t, 0.5, 6.0
    ),
    "Struve": Special(
        lambda t: special.struve(0, t), lambda t: 2 / np.pi - special.struve(1, t), 0.3, 5.0
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OutsideFunction:
    """A special function of the first input, joined with the second.

    The joints are s(x) + c y**2, y s(x) + y**2/4, and s(x) exp(-c y) + y.

    Attributes
    ----------
    special : Special
    joint : {0, 1, 2}
    constant : float
    """

    special: Special
    joint: int
    constant: float

    def points(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Inputs within the special function's range."""
        return np.column_stack(
            [rng.uniform(self.special.low, self.special.high, count), rng.uniform(0.5, 2, count)]
        )

    def values_and_gradients(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Exact ones."""
        x, y, c = points[:, 0], points[:, 1], self.constant
        value, slope = self.special.value(x), self.special.slope(x)
        if self.joint == 0:
            return value + c * y**2, np.column_stack([slope, 2 * c * y])
        if self.joint == 1:
            return y * value + y**2 / 4, np.column_stack([y * slope, value + y / 2])
        falling = np.exp(-c * y)
        return value * falling + y, np.column_stack([slope * falling, 1 - c * value * falling])
