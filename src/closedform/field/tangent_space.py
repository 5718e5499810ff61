"""The scale of each input, the tangent spaces of the data, and the rank of a field inside them.

Angles depend on units, so each input is divided by its spread, and every comparison goes through
the one projection that `TangentSpace` makes.
"""

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from closedform.arrays import FloatArray, frozen
from closedform.errors import FieldError, ShapeError
from closedform.field.tolerances import (
    AMBIGUOUS_GAP,
    CONSTANT_INPUT,
    FLAT,
    LEAST_GAP,
    LOW_RANK,
    MOST_LOOKED_AT,
    POOLED_QUANTILE,
    ROUNDED_AWAY,
    SINGLE_PRECISION,
)

NORMAL_IQR = 1.3489795003921634
"""Interquartile range of a normal distribution of spread 1, so that the two measures agree on
it."""


def robust_spread(points: ArrayLike) -> FloatArray:
    """Spread of each input, finite and positive, from its interquartile range, which a few outliers
    do not move; where that vanishes the standard deviation, and 1 for an input that does not vary.
    """
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.size == 0:
        raise ShapeError(
            f"Points have shape {array.shape}; pass a non-empty array of shape (n_points, "
            f"n_inputs)."
        )
    # Divided by the largest entry first: squares of very large or very small units would overflow
    # or vanish.
    largest = np.abs(array).max(axis=0)
    largest[largest == 0] = 1.0
    relative = array / largest
    low, high = np.percentile(relative, [25, 75], axis=0)
    interquartile, deviation = (high - low) / NORMAL_IQR, relative.std(axis=0)
    vanishes = interquartile <= CONSTANT_INPUT * np.maximum(np.abs(low), np.abs(high))
    spread = np.where(vanishes, deviation, interquartile) * largest
    return np.where((deviation > CONSTANT_INPUT) & (spread > 0), spread, 1.0)


def check_orthonormal(bases: FloatArray, what: str) -> None:
    """Refuse matrices, shape (..., n, m), whose columns are not orthonormal."""
    if not bases.size:
        return
    # Entries of orthonormal columns are at most 1; larger ones would overflow in the products.
    if not np.abs(bases).max() <= 1 + SINGLE_PRECISION:
        worst = np.abs(bases).max()
        raise FieldError(f"The {what} are not orthonormal: an entry is as large as {worst:.3g}.")
    products = np.swapaxes(bases, -1, -2) @ bases
    worst = np.abs(products - np.eye(bases.shape[-1])).max()
    if worst > SINGLE_PRECISION:
        raise FieldError(
            f"The {what} are not orthonormal: products of their columns are off by {worst:.2g}."
        )


Kind = Literal["none", "linear", "local", "constraints"]


@dataclass(frozen=True, slots=True, eq=False)
class TangentSpace:
    """Where the data varies: an orthonormal basis in inputs divided by their spread."""

    kind: Kind
    rank: int  # dimension of the space
    # None for kind ``none``; (n_inputs, rank) for one space, (n_points, n_inputs, rank) for one at
    # each point.
    basis: FloatArray | None = None
    # What the rank was read off: singular values of the data (``none``, ``linear``), pooled local
    # ones (``local``), or those of the constraints' gradients, relative to the largest.
    spectrum: FloatArray = field(default_factory=lambda: frozen([]))
    # (n_points,): where the space is known: constraints may have no gradient at some points. None
    # means everywhere.
    is_defined: NDArray[np.bool_] | None = None
    # The rank that the local spectrum shows, if it was looked at and the data lies on a curved
    # surface of lower dimension.
    local_rank: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise FieldError(
                f"There is no tangent kind {self.kind!r}; use none, linear, local or constraints."
            )
        if (self.basis is None) != (self.kind == "none"):
            raise FieldError(
                f"A tangent space of kind {self.kind!r} "
                f"{'needs a' if self.basis is None else 'has no'} basis."
            )
        if self.basis is not None and (
            self.basis.ndim not in (2, 3) or self.basis.shape[-1] != self.rank
        ):
            raise ShapeError(
                f"The basis has shape {self.basis.shape}; its last axis must have the rank, "
                f"{self.rank}."
            )
        if not 1 <= self.rank <= self.n_inputs:
            raise FieldError(
                f"The tangent space has rank {self.rank} in {self.n_inputs} inputs; the rank must "
                f"be between 1 and {self.n_inputs}."
            )
        defined = self.is_defined
        if defined is not None and (defined.ndim != 1 or defined.dtype != bool):
            raise ShapeError(
                f"is_defined has type {defined.dtype} and shape {defined.shape}; pass "
                f"booleans, one for each point."
            )
        if self.basis is not None:
            is_whole = self.is_global or defined is None or len(defined) != len(self.basis)
            check_orthonormal(self.basis if is_whole else self.basis[defined], "tangent bases")

    @property
    def n_inputs(self) -> int:
        """Dimension of the space around it."""
        return self.rank if self.basis is None else self.basis.shape[-2]

    @property
    def is_global(self) -> bool:
        """Whether one space serves every point."""
        return self.basis is None or self.basis.ndim == 2

    def coordinates(self, covectors: ArrayLike, scale: FloatArray) -> FloatArray:
        """Restrict gradients, (n_points, n_inputs) or (n_points, n_inputs, m) in the user's
        coordinates, to the tangent space: T^T (scale * gradient).
        """
        array = np.asarray(covectors, dtype=np.float64)
        n_inputs = self.n_inputs
        if array.ndim not in (2, 3) or array.shape[1] != n_inputs:
            raise ShapeError(
                f"Covectors have shape {array.shape}; pass (n_points, {n_inputs}) or "
                f"(n_points, {n_inputs}, m)."
            )
        if self.basis is not None and not self.is_global and len(self.basis) != len(array):
            raise ShapeError(
                f"There are {len(array)} covectors, but tangent spaces at {len(self.basis)} "
                f"points; pass one covector for each."
            )
        scaled = array * (scale if array.ndim == 2 else scale[:, None])
        if self.basis is None:
            return scaled
        if array.ndim == 3:
            return np.swapaxes(self.basis, -1, -2) @ scaled
        return (
            scaled @ self.basis if self.is_global else np.einsum("ndr,nd->nr", self.basis, scaled)
        )

    def displacements(self, coordinates: ArrayLike, scale: FloatArray) -> FloatArray:
        """Steps (n_points, rank) of the tangent space in the user's coordinates: scale * (T c)."""
        array = np.asarray(coordinates, dtype=np.float64)
        return self.ambient(array[:, :, None])[:, :, 0] * scale

    def ambient(self, frames: FloatArray) -> FloatArray:
        """Tangent vectors (n_points, rank, m) as scaled vectors (n_points, n_inputs, m)."""
        return frames if self.basis is None else self.basis @ frames

    def directions(self, frames: FloatArray, scale: FloatArray) -> FloatArray:
        """Directions in the user's coordinates that agree with frames on every tangent vector."""
        # Tangent vectors scale as the inputs and gradients as their inverse. So T F / scale is a
        # gradient with the coordinates F, and its part along scale * T is the same on the data.
        covectors = self.ambient(frames) / scale[:, None]
        if self.basis is not None:
            vectors = np.linalg.qr(self.basis * scale[:, None])[0]
            covectors = vectors @ (np.swapaxes(vectors, -1, -2) @ covectors)
        # Lengths are made alike first: with extreme units they would otherwise decide what is
        # rounded away.
        covectors = covectors / np.linalg.norm(covectors, axis=1, keepdims=True)
        if covectors.shape[2] == 1 and len(covectors) > MOST_LOOKED_AT:
            return covectors
        orthonormal, triangle = np.linalg.qr(covectors)
        signs = np.where(np.diagonal(triangle, axis1=1, axis2=2) < 0, -1.0, 1.0)
        return orthonormal * signs[:, None, :]

    def subset(self, indices: ArrayLike) -> "TangentSpace":
        """The tangent spaces at some of the points."""
        chosen = np.asarray(indices)
        basis, defined = self.basis, self.is_defined
        if basis is not None and not self.is_global:
            basis = frozen(basis[chosen])
        if defined is not None:
            defined = defined[chosen]
            defined.flags.writeable = False
        return replace(self, basis=basis, is_defined=defined)


@dataclass(frozen=True, slots=True)
class GapRank:
    """Where a spectrum is cut."""

    rank: int  # how many values count
    gap: float  # the largest ratio of two neighbours in the spectrum; 1 if there are no two
    # Whether the gap is near the least one (2 to 6 times), or another gap is nearly as large.
    is_ambiguous: bool


def gap_rank(spectrum: ArrayLike) -> GapRank:
    """Cut a descending spectrum at its largest gap; without a large gap every value counts."""
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
    """Bases of the row spaces of Jacobians, (n_points, n_coordinates, n_latents) in scaled tangent
    coordinates, at one common rank. `ambient_norms` are those before the restriction to the tangent
    space: what is left of rounding only counts as 0.
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
        # Each basis vector points along its main latent, so that one neuron keeps its sign.
        main = np.abs(right).argmax(axis=2)[:, :, None]
        signs = np.where(np.take_along_axis(right, main, axis=2)[:, :, 0] < 0, -1.0, 1.0)
        bases[alive] = left * signs[:, None, :]
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
