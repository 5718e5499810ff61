"""Level sets, and how far a vector field leads out of them.

A vector field is a symmetry where it runs along the level sets of all latents, inside the surface
on which the data lies. So at each point the directions across are those of the field and the
normals of the data's tangent space; what counts is the part of a vector along them, as a share of
the whole.
"""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.alignment.tolerances import ZERO_SHARE
from closedform.field.gradient_field import GradientField

_CHUNK = 512  # points whose products with the whole library are held at once


@dataclass(frozen=True, slots=True)
class LevelSets:
    """Points and what leads out of their level sets, in scaled and centred inputs."""

    places: FloatArray  # (n_points, n_inputs)
    across: FloatArray  # (n_points, n_across, n_inputs): orthonormal rows
    weights: FloatArray  # (n_points,)

    @property
    def n_inputs(self) -> int:
        """Dimension of the space."""
        return self.places.shape[1]

    @property
    def factors(self) -> FloatArray:
        """What the coefficients of an affine vector field multiply: the inputs, and 1."""
        return np.column_stack([self.places, np.ones(len(self.places))])

    def vectors(self, coefficients: FloatArray) -> FloatArray:
        """An affine vector field, (n_inputs, n_inputs + 1), at the points."""
        return self.factors @ coefficients.T

    def residuals(self, coefficients: FloatArray) -> FloatArray:
        """The part across of an affine field's unit vectors, shape (n_points, n_inputs).

        As a vector it depends neither on the sign of a direction nor on the choice of a basis.
        Where the field vanishes it leads nowhere.
        """
        vectors = self.vectors(coefficients)
        squared = np.einsum("nd,nd->n", vectors, vectors)
        typical = float(np.median(squared))
        fine = squared > ZERO_SHARE * typical
        unit = vectors / np.sqrt(np.where(fine, squared, 1.0))[:, None] * fine[:, None]
        along = np.einsum("ncd,nd->nc", self.across, unit)
        return np.einsum("ncd,nc->nd", self.across, along)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Moments of all affine fields: of their parts across, and of the whole.

        Coefficients are counted row by row of (n_inputs, n_inputs + 1). Every point counts by its
        weight over the squared length of the library there, so that far points do not decide.
        """
        factors = self.factors
        root = np.sqrt(self.weights / self.weights.sum() / np.einsum("nj,nj->n", factors, factors))
        factors = factors * root[:, None]
        size = self.n_inputs * factors.shape[1]
        lost = np.zeros((size, size))
        for start in range(0, len(factors), _CHUNK):
            part = slice(start, start + _CHUNK)
            rows = np.einsum("ncd,nj->ncdj", self.across[part], factors[part]).reshape(-1, size)
            lost += rows.T @ rows
        return lost, np.kron(np.eye(self.n_inputs), factors.T @ factors)

    def quotient(self, complement: FloatArray) -> "LevelSets":
        """The same without some directions along which all stays as it is: what is left is
        spanned by the complement, orthonormal columns (n_inputs, n_left).
        """
        rows = np.linalg.qr(np.swapaxes(self.across @ complement, 1, 2))[0]
        return LevelSets(self.places @ complement, np.swapaxes(rows, 1, 2), self.weights)


def level_sets(field: GradientField, centre: FloatArray) -> LevelSets:
    """Of a field, at its points of positive weight.

    centre (n_inputs,): in the user's coordinates.
    """
    used = field.subset(field.weights > 0)
    tangent = used.tangent
    across = np.swapaxes(tangent.ambient(used.frames), 1, 2)
    if tangent.basis is not None and tangent.rank < tangent.n_inputs:
        normals = np.linalg.svd(tangent.basis, full_matrices=True)[0][..., tangent.rank :]
        rows = np.swapaxes(normals, -1, -2)
        shape = (len(across), *rows.shape[-2:])
        across = np.concatenate([across, np.broadcast_to(rows, shape)], axis=1)
    weights = used.weights * _reliability(used.slopes)
    return LevelSets((used.points - centre) / field.scale, across, weights)


def _reliability(slopes: FloatArray | None) -> FloatArray | float:
    """How much a direction is worth: one of a gradient below the typical length is less certain in
    proportion, and where the gradient vanishes it says nothing.
    """
    if slopes is None:
        return 1.0
    typical = np.median(slopes, axis=0)
    return (np.minimum(slopes / np.where(typical > 0, typical, 1.0), 1.0) ** 2).min(axis=1)
