"""The scale of each input, the tangent spaces of the data, and the one projection that every
comparison goes through: angles depend on units, so each input is divided by its spread.
"""

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from closedform.arrays import FloatArray, frozen
from closedform.errors import FieldError, ShapeError
from closedform.field.arguments import check_orthonormal
from closedform.field.neighborhoods import MOST_LOOKED_AT
from closedform.field.tolerances import CONSTANT_INPUT

NORMAL_IQR = 1.3489795003921634
"""Interquartile range of a normal distribution of spread 1, so that the two measures agree on
it."""


def robust_spread(points: ArrayLike) -> FloatArray:
    """Spread of each input, from its interquartile range; a few outliers do not move it.

    Where the interquartile range vanishes (an input that is mostly 0) it is the standard deviation,
    and 1 for an input that does not vary at all.

    points (n_points, n_inputs): finite numbers.

    Returns an array (n_inputs,): finite and positive.

    Examples
    --------
    >>> robust_spread([[0.0, 5.0], [1.3489795, 5.0], [2.697959, 5.0]]).round(6)
    array([1., 1.])
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


Kind = Literal["none", "linear", "local", "constraints"]


@dataclass(frozen=True, slots=True, eq=False)
class TangentSpace:
    """Where the data varies: an orthonormal basis in scaled coordinates (inputs divided by their
    spread).
    """

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
        """Restrict covectors (gradients), (n_points, n_inputs) or (n_points, n_inputs, m) in the
        user's coordinates, to the tangent space: T^T (scale * covector).

        Examples
        --------
        >>> space = TangentSpace("linear", 1, np.array([[0.6], [0.8]]))
        >>> space.coordinates([[1.0, 0.0]], np.array([10.0, 1.0]))
        array([[6.]])
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
        """Directions in the user's coordinates that agree with frames on every tangent vector.

        Tangent vectors scale as the inputs and gradients as their inverse. So T F / scale is a
        covector with the coordinates F, and what is left of it on the orthonormalised tangent
        vectors scale * T is the same covector on the data.
        """
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
