"""Inputs that are held: what they are at each point, and how values still speak of phi.

Of f = F(g(x), c) with c held, g is read from directions, and for each c the network is a function
of g alone. So its values are a witness of g among points that share c. Where hardly any do, the
network is evaluated at the nearest of a few values of c.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from closedform.arrays import FloatArray
from closedform.field.tangent_space import robust_spread
from closedform.field.tolerances import NOISE_DEGREES
from closedform.networks.samples import Samples, Source

FEWEST_ALIKE = 50
"""Points that have to share the values of the held inputs for phi to be fitted among them: a spline
has seven numbers at least, and a third of the points are kept from it."""

ALIKE, MOST_KINDS = 300, 5
"""Where hardly any points share held values, the nearest of a few stand for them: one for so many
points, so that phi is known as well as in a field of that size, and at most so many."""

RARE = 0.1
"""Share of the points whose held values may be rarer than `FEWEST_ALIKE`. They are left out."""

HELD_VARY = (
    "Inputs that are not differentiated keep the values of each point, which differ: a concept of "
    "them too would look different there. The values of the neuron depend on them as well, so that "
    "they are left out, and whether phi is monotone cannot be tested. Give the held inputs one "
    "value, or a few, to test it."
)
"""Said of a field whose points differ in inputs that it does not hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparable:
    """Values of a latent that phi can be fitted to, within each label."""

    latents: FloatArray | None  # shape (n_points, n_latents)
    labels: NDArray[np.int64] | None = None
    """Which values the held inputs have at each point, from 0 on; -1 for rare ones, which do not
    count. None where they do not differ.
    """
    notes: tuple[str, ...] = ()  # what to say of it


def comparable_latents(source: Source, samples: Samples) -> Comparable:
    """The latents as they are, or as far as phi can be fitted to them where inputs are held."""
    if samples.held is None:
        return Comparable(samples.latents)
    # Several latents are functions of several concepts.
    found = group_held(samples.held) if samples.latents.shape[1] == 1 else None
    if found is None:
        return Comparable(None, None, (HELD_VARY,))
    labels, places = found
    count, rare = labels.max() + 1, int((labels < 0).sum())
    if places is None:
        latents = samples.latents
        said = f"Inputs that are not differentiated have {count} different values."
    else:
        latents = _moved_latents(source, samples, places)
        said = (
            "Inputs that are not differentiated keep the values of each point. The neuron's own "
            f"values are taken with the nearest of {count} of these."
        )
    if latents is None:
        return Comparable(None, None, (HELD_VARY,))
    said += " The concept has to be the same for each; phi may differ, and is tested within each."
    said += f" {rare} points with rarer ones do not count." if rare else ""
    return Comparable(latents, labels, (said,))


def group_held(values: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64] | None] | None:
    """Labels of points that share held values. Where hardly any do, of points that have near ones,
    and the point whose values stand for those of each. None if there are too few points.

    Examples
    --------
    >>> labels, _ = group_held(np.repeat([[0.0], [1.0], [2.0]], [60, 3, 70], axis=0))
    >>> int(labels.max()), group_held(np.eye(9)) is None
    (1, True)
    >>> _, places = group_held(np.linspace(0, 1, 900)[:, None])
    >>> len(set(places.tolist()))
    3
    """
    exact = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)
    labels = _common(exact)
    if labels is not None:
        return labels, None
    count = min(len(values) // ALIKE, MOST_KINDS)
    if count < 1 or not np.isfinite(values).all():
        return None
    scaled = values / robust_spread(values)
    starts = scaled[np.random.default_rng(0).choice(len(scaled), count, replace=False)]
    # An empty cell does no harm: there is one value less.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        centres, found = kmeans2(scaled, starts, minit="matrix")
    nearest = np.array([((scaled - centre) ** 2).sum(axis=1).argmin() for centre in centres])
    labels = _common(found)
    return None if labels is None else (labels, nearest[found].astype(np.int64))


def _moved_latents(
    source: Source, samples: Samples, places: NDArray[np.int64]
) -> FloatArray | None:
    """Latents with the held inputs of other points, if directions stay what they are: otherwise the
    network is asked about inputs that it does not know, or about no common concept.
    """
    moved = source.holding(places).evaluate(samples.points)
    scale = robust_spread(samples.points)
    here, there = ((one.jacobians * scale)[:, 0] for one in (samples, moved))
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(here, axis=1) * np.linalg.norm(there, axis=1)
        cosines = np.abs((here * there).sum(axis=1)) / lengths
    angles = np.degrees(np.arccos(np.clip(cosines[np.isfinite(cosines)], 0.0, 1.0)))
    is_same = len(angles) > 0 and float(np.median(angles)) <= NOISE_DEGREES
    return moved.latents if is_same and np.isfinite(moved.latents).all() else None


def _common(labels: NDArray[np.integer]) -> NDArray[np.int64] | None:
    """Labels that enough points share, from 0 on, and -1 for the others; None if these are many."""
    counts = np.bincount(labels)
    is_common = counts >= FEWEST_ALIKE
    if counts[~is_common].sum() > RARE * len(labels):
        return None
    return np.where(is_common, np.cumsum(is_common) - 1, -1)[labels].astype(np.int64)
