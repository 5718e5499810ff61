"""How many laws there can be: an orbit that fills k dimensions leaves room for d - k."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from closedform.arrays import FloatArray

N_SAMPLES = 1500
LEAST_SAMPLES = 300
_RETURNS = 0.8
_APART = 5
_DOUBT = 0.3


@dataclass(frozen=True, slots=True)
class Count:
    """How many independent laws there are.

    Attributes
    ----------
    lower : int
        The rank of the gradients of the laws that were verified.
    upper : int or None
        Inputs less the dimension that orbits fill; None where orbits are too short to tell.
    """

    lower: int
    upper: int | None

    @property
    def is_certain(self) -> bool:
        """Whether both bounds agree."""
        return self.upper == self.lower

    def __str__(self) -> str:
        if self.is_certain:
            return f"{_laws(self.lower)}: orbits leave no room for more."
        if self.upper is None:
            return (
                f"At least {_laws(self.lower)}; orbits are too short to say how many there can be."
            )
        return f"Between {self.lower} and {self.upper} independent laws."


def _laws(count: int) -> str:
    return f"{count} independent law{'' if count == 1 else 's'}"


def orbit_dimension(orbit: FloatArray, scale: FloatArray) -> float | None:
    """The dimension that one orbit fills, by the ratio of the distances to the two nearest
    neighbours (Facco, d'Errico, Rodriguez and Laio, 2017); None if it does not return often enough.

    Parameters
    ----------
    orbit : ndarray, shape (n_times, n_inputs)
        In the order of time.
    scale : ndarray, shape (n_inputs,)

    Examples
    --------
    >>> time = np.sort(np.random.default_rng(0).uniform(0, 3000, 1500))
    >>> circle = np.column_stack([np.cos(time), np.sin(time)])
    >>> torus = np.column_stack([circle, np.cos(2**0.5 * time), np.sin(2**0.5 * time)])
    >>> round(orbit_dimension(circle, np.ones(2))), round(orbit_dimension(torus, np.ones(4)))
    (1, 2)
    >>> orbit_dimension(np.column_stack([time, time]), np.ones(2)) is None
    True
    """
    if len(orbit) < LEAST_SAMPLES:
        return None
    distances, neighbours = KDTree(orbit / scale).query(orbit / scale, 3)
    apart = np.abs(np.asarray(neighbours)[:, 1] - np.arange(len(orbit))) >= _APART
    if apart.mean() < _RETURNS:
        return None
    first, second = np.asarray(distances)[:, 1], np.asarray(distances)[:, 2]
    fine = (first > 0) & (second > first)
    if fine.mean() < 0.5:
        return None
    # The largest tenth of the ratios is left out: there the neighbourhoods are not small.
    ratios = np.sort(np.log(second[fine] / first[fine]))
    kept = ratios[: int(0.9 * len(ratios))]
    places = -np.log(1 - np.arange(1, len(kept) + 1) / len(ratios))
    return float(np.sum(places * kept) / np.sum(kept**2))


def most_laws(orbits: FloatArray, scale: FloatArray, n_free: int) -> int | None:
    """An upper bound: degrees of freedom less the dimension that orbits fill.

    The smallest dimension of all is taken: an orbit that seems to fill more may be noisy, or
    sampled at regular times.
    """
    found = [orbit_dimension(orbit, scale) for orbit in orbits]
    known = [one for one in found if one is not None]
    if not known:
        return None
    return n_free - max(1, min(int(np.floor(one + _DOUBT)) for one in known))
