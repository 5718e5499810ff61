"""What is left of a field of several latents when one concept is found: concepts come one by one."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, frozen
from closedform.errors import ShapeError
from closedform.field.gradient_field import GradientField
from closedform.field.tangent_space import TangentSpace

_VANISHES = 1e-8


def residual_field(field: GradientField, gradients: ArrayLike) -> GradientField:
    """Take a found concept's gradients out of a field: out of the tangent space, and out of the network's directions.

    A candidate is then scored by what its own gradient adds to the found one's. So g1 + 0.02 x does not pass as a second
    concept beside g1: what it adds is x.

    Parameters
    ----------
    field : GradientField
        Of rank 2 or more.
    gradients : array_like, shape (n_points, n_inputs)
        The found concept's, at the field's points, in the user's coordinates. Points where they vanish or are not finite get
        weight 0.

    Returns
    -------
    GradientField
        Rank and tangent rank are one lower.

    Raises
    ------
    ShapeError
        If only one direction is left.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    >>> field = GradientField.from_arrays(points, np.tile([[1.0, 0, 0], [0, 1.0, 0]], (50, 1, 1)), tangent="none")
    >>> left = residual_field(field, np.tile([1.0, 0, 0], (50, 1)))
    >>> left.rank, left.tangent.rank
    (1, 2)
    >>> np.abs(left.directions[0, :, 0]).round(12)
    array([0., 1., 0.])
    """
    if field.rank < 2:
        raise ShapeError(f"The field has rank {field.rank}; nothing is left when a concept is taken out of it.")
    with np.errstate(all="ignore"):
        found = field.project(gradients)
        lengths = np.linalg.norm(found, axis=1)
        usable = np.isfinite(lengths) & (lengths > 0)
        unit = np.where(usable[:, None], found / np.where(usable, lengths, 1.0)[:, None], np.eye(field.tangent.rank)[0])
    complement = _complements(unit)
    # The network's directions inside the complement: of k of them one is the found gradient, or the nearest to it.
    inside, sizes, _ = np.linalg.svd(np.swapaxes(complement, 1, 2) @ field.frames, full_matrices=False)
    frames = inside[:, :, : field.rank - 1]
    usable &= sizes[:, field.rank - 2] > _VANISHES
    basis = complement if field.tangent.basis is None else field.tangent.basis @ complement
    tangent = TangentSpace("constraints", field.tangent.rank - 1, frozen(basis), field.tangent.spectrum, None)
    return replace(
        field,
        frames=frozen(frames),
        directions=frozen(np.linalg.qr((basis @ frames) / field.scale[:, None])[0]),
        weights=frozen(np.where(usable, field.weights, 0.0)),
        tangent=tangent,
    )


def _complements(unit: FloatArray) -> FloatArray:
    """Orthonormal bases, shape (n_points, r, r - 1), of what is perpendicular to unit vectors, by Householder reflections."""
    sign = np.where(unit[:, 0] < 0, -1.0, 1.0)
    mirror = unit.copy()
    mirror[:, 0] += sign
    mirror /= np.linalg.norm(mirror, axis=1, keepdims=True)
    reflection = np.eye(unit.shape[1]) - 2 * mirror[:, :, None] * mirror[:, None, :]
    return reflection[:, :, 1:]
