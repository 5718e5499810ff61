"""The rank of a field: how many independent directions a set of latents really has at a point."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from closedform.arrays import FloatArray
from closedform.field.neighborhoods import MOST_LOOKED_AT
from closedform.field.tolerances import (
    AMBIGUOUS_GAP,
    FLAT,
    LEAST_GAP,
    LOW_RANK,
    POOLED_QUANTILE,
    ROUNDED_AWAY,
    SINGLE_PRECISION,
)


@dataclass(frozen=True, slots=True)
class GapRank:
    """Where a spectrum is cut."""

    rank: int  # how many values count
    gap: float  # the largest ratio of two neighbours in the spectrum; 1 if there are no two
    # Whether the gap is near the least one (2 to 6 times), or another gap is nearly as large.
    is_ambiguous: bool


def gap_rank(spectrum: ArrayLike) -> GapRank:
    """Cut a descending spectrum at its largest gap; without a gap of the least size every value
    counts.
    """
    values = np.asarray(spectrum, dtype=np.float64)
    if len(values) < 2 or values[0] <= 0:
        return GapRank(len(values), 1.0, is_ambiguous=False)
    relative = np.maximum(values / values[0], SINGLE_PRECISION)
    gaps = relative[:-1] / relative[1:]
    position = int(np.argmax(gaps))
    gap = float(gaps[position])
    others = np.delete(gaps, position)
    rival = len(others) > 0 and others.max() >= max(LEAST_GAP, gap / 2)
    ambiguous = bool(AMBIGUOUS_GAP[0] <= gap <= AMBIGUOUS_GAP[1] or rival)
    return GapRank(position + 1 if gap >= LEAST_GAP else len(values), gap, ambiguous)


@dataclass(frozen=True, slots=True)
class RowSpaces:
    """The row spaces of Jacobians, all of one rank."""

    # (n_points, n_coordinates, rank): an orthonormal basis at each point; unit vectors where the
    # point is not usable.
    frames: FloatArray
    spectrum: FloatArray  # pooled singular values, relative to the largest one of each point
    cut: GapRank  # the rank and how clear it is
    # is_finite, is_zero, is_low: (n_points,): points with finite gradients, points without a
    # gradient, and points of lower rank.
    is_finite: NDArray[np.bool_]
    is_zero: NDArray[np.bool_]
    is_low: NDArray[np.bool_]
    norms: FloatArray  # (n_points,): norms of the Jacobians; 0 where they are not finite
    n_latents: int  # how many latents there were

    @property
    def is_usable(self) -> NDArray[np.bool_]:
        """Points whose basis is that of the latents."""
        return self.is_finite & ~self.is_zero & ~self.is_low


def row_spaces(
    coordinates: FloatArray, ambient_norms: FloatArray, usable: NDArray[np.bool_]
) -> RowSpaces:
    """Bases of the row spaces of Jacobians at one common rank.

    The pooled spectrum is the upper decile over points of the singular values, each point's divided
    by its largest: a rank that only a part of the points shows (rectified latents are flat
    elsewhere) is seen, and up to a tenth of bad points is not.

    coordinates (n_points, n_coordinates, n_latents): gradients of the latents in scaled tangent
        coordinates.
    ambient_norms (n_points,): norms of the Jacobians before they were restricted to the tangent
        space; what is left of rounding only counts as 0.
    usable (n_points,): points that may count; the others only get a basis.
    """
    n_points, n_coordinates, n_latents = coordinates.shape
    is_finite = np.isfinite(ambient_norms)
    norms = np.zeros(n_points)
    norms[is_finite] = np.linalg.norm(coordinates[is_finite], axis=(1, 2))
    largest = norms[usable].max(initial=0.0)
    is_zero = is_finite & (norms <= np.maximum(FLAT * largest, ROUNDED_AWAY * ambient_norms))
    alive = usable & is_finite & ~is_zero
    n_values = min(n_coordinates, n_latents)
    bases = np.tile(np.eye(n_coordinates, n_values), (n_points, 1, 1))
    relative = np.zeros((n_points, n_values))
    if n_latents == 1 and n_points > MOST_LOOKED_AT:
        # A decomposition of each point's gradient says the same, but for rounding, and takes long.
        bases[alive] = coordinates[alive] / norms[alive, None, None]
        relative[alive] = 1.0
    elif alive.any():
        left, values, right = np.linalg.svd(
            coordinates[alive] / norms[alive, None, None], full_matrices=False
        )
        bases[alive] = left * _signs(right)[:, None, :]
        relative[alive] = values / values[:, :1]
    spectrum = (
        np.quantile(relative[alive], POOLED_QUANTILE, axis=0) if alive.any() else np.zeros(n_values)
    )
    # A dead set of latents has no spectrum to cut; one direction is the least that a field can
    # hold.
    cut = gap_rank(spectrum) if alive.any() else GapRank(1, 1.0, is_ambiguous=False)
    is_low = alive & (relative[:, cut.rank - 1] < LOW_RANK * spectrum[cut.rank - 1])
    frames = bases[:, :, : cut.rank]
    frames[is_low | ~alive] = np.eye(n_coordinates, cut.rank)
    return RowSpaces(frames, spectrum, cut, is_finite, is_zero, is_low, norms, n_latents)


def _signs(right: FloatArray) -> FloatArray:
    """Signs that make each basis vector point along its main latent: one neuron keeps its sign."""
    main = np.abs(right).argmax(axis=2)
    return np.where(np.take_along_axis(right, main[:, :, None], axis=2)[:, :, 0] < 0, -1.0, 1.0)
