"""What is left of a field of several latents when one concept is found: concepts come one by
one.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, frozen
from closedform.errors import ShapeError
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.field.noise import directional_noise
from closedform.field.tangent_space import TangentSpace
from closedform.field.tolerances import RESIDUAL_VANISHES


def field_modulo(field: GradientField, concepts: Sequence[Expression]) -> GradientField:
    """What a field holds apart from known concepts: the residual of each after the other, with its
    own noise.

    Parameters
    ----------
    field : GradientField
        Of a rank above the number of concepts.
    concepts : sequence of Expression
        Independent of each other; their inputs are found among the field's by name.

    Returns
    -------
    GradientField
        Every function of the latents still fits it, but for those of the concepts alone, which have
        no gradient left.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 3))
    >>> jacobians = np.stack([points * [1, 1, 0], points * [0, 2, 1]], axis=1)
    >>> field = GradientField.from_arrays(points, jacobians, names=["x", "y", "z"], tangent="none")
    >>> field_modulo(field, [parse("x**2 + y**2")])
    GradientField(50 points, 3 inputs, rank 1, tangent constraints)
    """
    if not concepts:
        return field
    left = field
    for concept in concepts:
        left = residual_field(left, concept.rename(field.names).gradient(field.points))
    counted = np.unique(left.points[left.weights > 0], axis=0, return_index=True)[1]
    chosen = np.flatnonzero(left.weights > 0)[np.sort(counted)]
    noise = (
        directional_noise(
            left.points[chosen] / left.scale, left.frames[chosen], left.tangent.subset(chosen)
        )
        if len(chosen)
        else None
    )
    quality = replace(
        left.quality,
        rank=left.rank,
        tangent_kind=left.tangent.kind,
        tangent_rank=left.tangent.rank,
        noise_degrees=None if noise is None else noise.degrees,
        noise_resolution_degrees=None if noise is None else noise.resolution_degrees,
    )
    return replace(left, quality=quality)


def residual_field(field: GradientField, gradients: ArrayLike) -> GradientField:
    """Take a found concept's gradients out of a field: out of the tangent space, and out of the
    network's directions.

    A candidate is then scored by what its own gradient adds to the found one's. So g1 + 0.02 x does
    not pass as a second concept beside g1: what it adds is x.

    Parameters
    ----------
    field : GradientField
        Of rank 2 or more.
    gradients : array_like, shape (n_points, n_inputs)
        The found concept's, at the field's points, in the user's coordinates. Points where they
        vanish or are not finite get weight 0.

    Returns
    -------
    GradientField
        Rank and tangent rank are one lower.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    >>> field = GradientField.from_arrays(
    ...     points, np.tile([[1.0, 0, 0], [0, 1.0, 0]], (50, 1, 1)), tangent="none"
    ... )
    >>> left = residual_field(field, np.tile([1.0, 0, 0], (50, 1)))
    >>> left.rank, left.tangent.rank
    (1, 2)
    >>> np.abs(left.directions[0, :, 0]).round(12)
    array([0., 1., 0.])
    """
    if field.rank < 2:
        raise ShapeError(
            f"The field has rank {field.rank}, so nothing is left when a concept is taken out of "
            "it. Pass fewer concepts, or a field of more latents."
        )
    with np.errstate(all="ignore"):
        found = field.project(gradients)
        lengths = np.linalg.norm(found, axis=1)
        whole = np.linalg.norm(np.asarray(gradients, dtype=np.float64) * field.scale, axis=1)
        usable = np.isfinite(lengths) & (lengths > RESIDUAL_VANISHES * whole)
        unit = np.where(
            usable[:, None],
            found / np.where(usable, lengths, 1.0)[:, None],
            np.eye(field.tangent.rank)[0],
        )
    complement = _complements(unit)
    # The network's directions inside the complement: of k of them one is the found gradient, or the
    # nearest to it.
    inside, sizes, _ = np.linalg.svd(
        np.swapaxes(complement, 1, 2) @ field.frames, full_matrices=False
    )
    frames = inside[:, :, : field.rank - 1]
    usable &= sizes[:, field.rank - 2] > RESIDUAL_VANISHES
    basis = complement if field.tangent.basis is None else field.tangent.basis @ complement
    tangent = TangentSpace(
        "constraints", field.tangent.rank - 1, frozen(basis), field.tangent.spectrum, None
    )
    return replace(
        field,
        frames=frozen(frames),
        directions=frozen(np.linalg.qr((basis @ frames) / field.scale[:, None])[0]),
        weights=frozen(np.where(usable, field.weights, 0.0)),
        tangent=tangent,
        is_signed=False,
        # What is left is one of several concepts, and the latents are functions of all of them.
        latents=None,
        slopes=None,
    )


def _complements(unit: FloatArray) -> FloatArray:
    """Orthonormal bases, shape (n_points, r, r - 1), of what is perpendicular to unit vectors, by
    Householder reflections.
    """
    sign = np.where(unit[:, 0] < 0, -1.0, 1.0)
    mirror = unit.copy()
    mirror[:, 0] += sign
    mirror /= np.linalg.norm(mirror, axis=1, keepdims=True)
    reflection = np.eye(unit.shape[1]) - 2 * mirror[:, :, None] * mirror[:, None, :]
    return reflection[:, :, 1:]
