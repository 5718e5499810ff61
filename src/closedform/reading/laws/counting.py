"""How many laws there can be: an orbit that fills k dimensions leaves room for d - k, and
quantities that hardly vary on the data cannot be told from laws.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.spatial import KDTree

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.tangent_space import TangentSpace
from closedform.reading.laws.law_sums import best_supports
from closedform.reading.laws.motions import differentiated, inside
from closedform.searching.space import SearchSpace
from closedform.searching.terms.families import family_library
from closedform.searching.terms.sum_formula import sums, write

HARDLY = 0.05
"""A quantity whose spread is this share of what its gradients allow hardly varies on the data."""


N_SAMPLES = 1500
"""Of a long orbit, and points at which quantities that hardly vary are looked for."""

LEAST_SAMPLES = 300
"""Of an orbit whose dimension is estimated: with fewer, neighbours are too far apart."""

_RETURNS = 0.8  # share of the samples whose nearest neighbour is of another turn of the orbit
_APART = 5  # samples in time from which on a neighbour is of another turn
_DOUBT = 0.3  # what an estimate of the dimension may be too low by
_STATED = 1e-6  # what varies by less is constant by construction, not by coincidence

MOST_TERMS = 6
"""Of a quantity that hardly varies: with more, one is always found."""

_ACROSS = 1e-12
"""What gradients count across the tangent space, so that none vanishes."""


def orbit_dimension(orbit: FloatArray, scale: FloatArray) -> float | None:
    """The dimension that one orbit (n_times, n_inputs) fills; None if it returns too rarely."""
    # By the ratio of the distances to the two nearest neighbours (Facco, d'Errico, Rodriguez and
    # Laio, 2017).
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
    """An upper bound: degrees of freedom less the dimension that orbits fill."""
    # The smallest dimension counts: an orbit that seems to fill more may be noisy, or sampled at
    # regular times.
    found = [orbit_dimension(orbit, scale) for orbit in orbits]
    known = [one for one in found if one is not None]
    if not known:
        return None
    return n_free - max(1, min(int(np.floor(one + _DOUBT)) for one in known))


@dataclass(frozen=True, slots=True)
class Degeneracy:
    """A function that hardly varies on the data."""

    concept: Expression
    share: float  # its spread over what its gradients and the spread of the inputs allow

    @property
    def sentence(self) -> str:
        """What it means, and what to do."""
        return (
            f"{self.concept} hardly varies in these data ({100 * self.share:.1g}% of what it "
            f"could), so they cannot tell a law from something that holds only at this value. "
            f"Choose initial conditions that give it other values."
        )


def find_degeneracy(
    points: FloatArray,
    names: tuple[str, ...],
    scale: FloatArray,
    rng: np.random.Generator,
    tangent: TangentSpace | None = None,
) -> Degeneracy | None:
    """The simplest quadratic function that hardly varies on the data, if there is one."""
    # Functions that do not vary at all are no coincidence, nor are those that vary across the
    # stated tangent space only: what is known to be constant varies by noise.
    if len(points) > N_SAMPLES:
        some = rng.choice(len(points), N_SAMPLES, replace=False)
        points, tangent = points[some], None if tangent is None else tangent.subset(some)
    library = family_library("polynomials", SearchSpace(), names, points, scale, 2)
    values, gradients, kept = differentiated([term.tree for term in library], points, scale)
    if len(kept) < 2:
        return None
    whole = _moments(gradients)
    if tangent is not None:
        whole = _moments(inside(gradients, tangent)) + _ACROSS * whole
    lengths = np.sqrt(np.diagonal(whole))
    whole = whole / lengths / lengths[:, None]
    centred = (values - values.mean(axis=1, keepdims=True)) / lengths[:, None]
    spread = centred @ centred.T / len(points)
    for support in best_supports(spread, whole, MOST_TERMS, per_size=1):
        block = np.ix_(support, support)
        value, vector = eigh(spread[block], whole[block], subset_by_index=[0, 0])
        share = float(np.sqrt(max(value[0], 0.0)))
        if _STATED < share <= HARDLY:
            coefficients = vector[:, 0] / lengths[list(support)]
            option = sums(coefficients, np.abs(vector[:, 0]))[-1]
            trees = [library[kept[k]].tree for k in support]
            return Degeneracy(Expression(write(option, trees), names), share)
    return None


def _moments(gradients: FloatArray) -> FloatArray:
    """Second moments, shape (n_terms, n_terms)."""
    flat = gradients.reshape(len(gradients), -1)
    return flat @ flat.T / gradients.shape[1]
