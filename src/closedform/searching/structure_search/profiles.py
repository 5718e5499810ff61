"""Profiles: the slopes that the functions of two quantities must have.

Where g = F(a(x) + b(y)), the field says a'(x)/b'(y) at every point. With splines in the place of
both, this is one eigenproblem, which also says whether there are such functions at all. Each is
then known as values, and finding it is a regression in one variable.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import eigh

from closedform.arrays import FloatArray
from closedform.searching.structure_search.quantities import USABLE, Data, Quantity

DEGREE, PIECES = 5, 24
"""Of the splines: slopes of usual functions are met to a part in 10**6 of an exact field's."""

SPLINED = 1e-5
"""What splines in the place of functions may lose, as a share of what lies in the quantity that has
less of an exact field.
"""

TURNS = 5
"""How often points are weighed anew: angles count alike, however steep the functions are there."""

SLIVER = 1e-13
"""Added to the moments, whose smallest are rounding."""

FEWEST = 200
"""Points of one sign on which splines are fitted."""

Quantities = tuple[Quantity, Quantity]
Slopes = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class Profile:
    """Slopes that a function of one quantity must have at the points of a field, times the length
    of the quantity's gradient, up to a factor; weighted, what a form leaves over is its loss.
    """

    slopes: FloatArray  # (n_points,)
    weights: FloatArray  # (n_points,)

    def at(self, few: slice) -> "Profile":
        """At some of the points."""
        return Profile(self.slopes[few], self.weights[few])


def profiles(
    data: Data, quantities: Quantities, slopes: Slopes, good: float
) -> tuple[Profile, Profile] | None:
    """The profiles of two quantities, if functions of them lose no more than is good, from the
    field's slopes along the gradients of both.
    """
    for kept in _without_poles(np.stack([quantity.values for quantity in quantities], axis=1)):
        bases = [
            basis * quantity.lengths[:, None]
            for quantity in quantities
            if (basis := basis_of(quantity.values, kept)) is not None
        ]
        if len(bases) < len(quantities):
            return None
        weights = data.weights * kept
        loss, found = fitted_profiles(bases, slopes, weights / weights.sum())
        if loss <= good:
            return found
    return None


def left_by_splines(
    profile: Profile, values: FloatArray, lengths: FloatArray, added: FloatArray | None = None
) -> float:
    """What the best function of a quantity leaves over of a profile, given the quantity's values
    and its gradient's lengths; any multiple of some slopes may be added.
    """
    left = np.inf
    for kept in _without_poles(values[:, None]):
        basis = basis_of(values, kept)
        if basis is None:
            continue
        weights = profile.weights * kept
        more = np.empty((len(values), 0)) if added is None else added[:, None]
        columns = np.nan_to_num(np.hstack([basis * lengths[:, None], more]) * weights[:, None])
        columns /= np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
        target = profile.slopes * weights
        factors, *_ = np.linalg.lstsq(columns, target, rcond=None)
        share = max(float(kept.mean()), 1e-300)
        left = min(left, float(((target - columns @ factors) ** 2).sum()) / share)
    return left


def _without_poles(values: FloatArray) -> Iterator[np.ndarray]:
    """All points, and the points of the signs that most have: a logarithm has a pole where its
    argument changes its sign, and no spline has one.
    """
    yield np.ones(len(values), dtype=bool)
    signs = np.sign(values)
    kinds, counts = np.unique(signs, axis=0, return_counts=True)
    if len(kinds) > 1 and counts.max() >= FEWEST:
        yield (signs == kinds[counts.argmax()]).all(axis=1)


def profile_beside(slopes: Slopes, beside: FloatArray, weights: FloatArray) -> Profile | None:
    """The profile of the first of two quantities where that of the second is known, `beside`."""
    along, across = slopes
    with np.errstate(all="ignore"):
        needed = beside * along / across
        own = across**2 / (np.abs(beside) * np.hypot(along, across)) * np.sqrt(weights)
    usable = np.isfinite(needed) & np.isfinite(own)
    if float(weights[usable].sum()) < USABLE * float(weights.sum()):
        return None
    return Profile(np.where(usable, needed, 0.0), np.where(usable, own, 0.0))


def fitted_profiles(
    bases: Sequence[FloatArray], slopes: Slopes, weights: FloatArray, turns: int = TURNS
) -> tuple[float, tuple[Profile, Profile]]:
    """What the best pair of functions leaves over of a field, and their profiles; the slopes of
    each function are combined from those in its basis.
    """
    along, across = slopes
    first, second = bases
    n_first = first.shape[1]
    off = np.hstack([across[:, None] * first, -along[:, None] * second])
    sizes = np.ones(len(along))
    a = b = sizes
    for _ in range(turns):
        own = (weights / sizes)[:, None]
        total = np.zeros((off.shape[1], off.shape[1]))
        total[:n_first, :n_first] = first.T @ (first * own)
        total[n_first:, n_first:] = second.T @ (second * own)
        scale = 1 / np.sqrt(np.diag(total) + 1e-300)
        grid = np.outer(scale, scale)
        try:
            _, vectors = eigh(
                off.T @ (off * own) * grid,
                total * grid + SLIVER * np.eye(len(total)),
                subset_by_index=[0, 0],
            )
        except (np.linalg.LinAlgError, ValueError):
            return np.inf, (Profile(a, b), Profile(b, a))
        found = vectors[:, 0] * scale
        a, b = first @ found[:n_first], second @ found[n_first:]
        sizes = a**2 + b**2
        sizes += SLIVER + 1e-3 * np.median(sizes)
    loss = float(weights @ ((across * a - along * b) ** 2 / sizes))
    energy = np.sqrt(weights * (along**2 + across**2)) / sizes
    return loss, (Profile(a, np.abs(b) * energy), Profile(b, np.abs(a) * energy))


def basis_of(values: FloatArray, kept: np.ndarray) -> FloatArray | None:
    """Splines with knots at quantiles of some values; the others are moved to their ends."""
    knots = np.unique(np.quantile(values[kept], np.linspace(0, 1, PIECES + 1)))
    if len(knots) < 3:
        return None
    every = np.r_[[knots[0]] * DEGREE, knots, [knots[-1]] * DEGREE]
    within = np.clip(values, knots[0], knots[-1])
    return BSpline.design_matrix(within, every, DEGREE).toarray()
