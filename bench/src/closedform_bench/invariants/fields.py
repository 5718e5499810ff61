"""The track `field`: the row space of exact gradients, mixed, with or without noise. It tests
search and verdict alone.
"""

from collections.abc import Sequence

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.field.tangent import TangentSpace, constraint_tangent
from closedform.field.tangent_space import robust_spread

N_POINTS = 3000
MIXING = (0.5, 2.0)
"""Singular values of the maps that mix the latents, different at each point."""


def exact_field(
    truths: Sequence[Expression],
    points: FloatArray,
    names: Sequence[str],
    *,
    constraints: Sequence[str] = (),
    degrees: float = 0.0,
    rng: np.random.Generator,
) -> GradientField:
    """The field of latents that are unknown functions of the invariants.

    At each point the gradients' span inside the data's tangent space is turned by noise and its
    basis mixed at random: no latent is an invariant, and no length of a gradient says anything.

    Parameters
    ----------
    truths : sequence of Expression
        Independent of each other.
    points : ndarray, shape (n_points, n_inputs)
    names : sequence of str
    constraints : sequence of str
        What is constant on the data.
    degrees : float
        Root mean square of the angle by which noise turns a direction, in scaled tangent
        coordinates.
    rng : Generator

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> rng = np.random.default_rng(0)
    >>> truths = [parse("x + y", ["x", "y", "z"]), parse("x*y", ["x", "y", "z"])]
    >>> exact_field(truths, rng.uniform(1, 2, (50, 3)), ["x", "y", "z"], rng=rng).rank
    2
    """
    scale = robust_spread(points)
    none = TangentSpace("none", points.shape[1])
    tangent = constraint_tangent(points, scale, constraints, names) if constraints else none
    gradients = np.stack([truth.rename(names).gradient(points) for truth in truths], axis=2)
    spans = np.linalg.svd(_units(tangent.coordinates(gradients, scale)), full_matrices=False)[0]
    turned = turn(spans, degrees, rng)
    mixed = turned @ _mixtures(len(points), len(truths), rng)
    jacobians = np.swapaxes(tangent.ambient(mixed) / scale[:, None], 1, 2)
    return GradientField.from_arrays(
        points,
        jacobians,
        names=names,
        tangent="auto" if constraints else "none",
        constraints=constraints,
        signed=False,  # mixtures have any sign
    )


def turn(spans: FloatArray, degrees: float, rng: np.random.Generator) -> FloatArray:
    """Orthonormal bases, shape (n, r, k), each direction turned out of the span by an angle of this
    root mean square.

    Examples
    --------
    >>> spans = np.tile(np.eye(4)[:, :1], (2000, 1, 1))
    >>> cosines = np.abs(turn(spans, 3.0, np.random.default_rng(0))[:, 0, 0])
    >>> round(float(np.degrees(np.sqrt(np.mean(np.arccos(cosines) ** 2)))), 1)
    3.0
    """
    free = spans.shape[1] - spans.shape[2]
    if degrees == 0 or free == 0:
        return spans
    errors = rng.normal(size=spans.shape)
    errors -= spans @ (np.swapaxes(spans, 1, 2) @ errors)
    return np.linalg.qr(spans + errors * np.radians(degrees) / np.sqrt(free))[0]


def _units(columns: FloatArray) -> FloatArray:
    """Gradients of one length; where one is not finite the point is spoiled, and gets no weight."""
    lengths = np.linalg.norm(columns, axis=1, keepdims=True)
    return np.nan_to_num(columns / np.where(lengths > 0, lengths, 1.0))


def _mixtures(n: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Random invertible maps."""
    left, right = (np.linalg.qr(rng.normal(size=(n, size, size)))[0] for _ in range(2))
    return left @ (rng.uniform(*MIXING, (n, size))[:, :, None] * right)
