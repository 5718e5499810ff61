"""Experiments 6 and 12: electromagnetic fields and events under Lorentz transformations (rotation,
boost, rotation).
"""

import numpy as np

from closedform.arrays import FloatArray

FASTEST = 0.8
"""Boosts are uniform in speed up to this share of the speed of light."""

FIELD_INPUTS = ("E1", "E2", "E3", "B1", "B2", "B3")
EVENT_INPUTS = ("t", "x", "y", "z")
FIELD_HELD = "E1**2 + E2**2 + E3**2 - B1**2 - B2**2 - B3**2 = 0"
"""The second invariant of a field, held constant over the data set of experiment 6."""


def lorentz_transformations(n: int, rng: np.random.Generator) -> FloatArray:
    """Random proper transformations, shape (n, 4, 4): a rotation, a boost along x, another
    rotation.

    Examples
    --------
    >>> metric = np.diag([1.0, -1, -1, -1])
    >>> matrix = lorentz_transformations(1, np.random.default_rng(0))[0]
    >>> bool(np.allclose(matrix @ metric @ matrix.T, metric))
    True
    """
    speed = rng.uniform(0, FASTEST, n)
    gamma = 1 / np.sqrt(1 - speed**2)
    boost = np.tile(np.eye(4), (n, 1, 1))
    boost[:, 0, 0] = boost[:, 1, 1] = gamma
    boost[:, 0, 1] = boost[:, 1, 0] = -gamma * speed
    return _rotations(n, rng) @ boost @ _rotations(n, rng)


def electromagnetic_fields(n: int, rng: np.random.Generator) -> FloatArray:
    """Experiment 6: components uniform in [0, 1], then E enlarged and B reduced by one factor until
    both are as long.

    The factor leaves the product E.B as it was drawn.
    """
    anchor, negative = (_equally_long(rng.uniform(0, 1, (n, 6))) for _ in range(2))
    transformations = lorentz_transformations(n, rng)
    tensors = transformations @ _field_tensors(anchor) @ np.swapaxes(transformations, 1, 2)
    magnetic = np.stack([-tensors[:, 2, 3], tensors[:, 1, 3], -tensors[:, 1, 2]], axis=1)
    return np.stack(
        [anchor, np.concatenate([-tensors[:, 0, 1:], magnetic], axis=1), negative], axis=1
    )


def events(n: int, rng: np.random.Generator) -> FloatArray:
    """Experiment 12: events with coordinates uniform in [0, 1]."""
    anchor, negative = rng.uniform(0, 1, (2, n, 4))
    positive = np.einsum("nij,nj->ni", lorentz_transformations(n, rng), anchor)
    return np.stack([anchor, positive, negative], axis=1)


def _equally_long(fields: FloatArray) -> FloatArray:
    electric, magnetic = fields[:, :3], fields[:, 3:]
    factor = np.sqrt(np.linalg.norm(magnetic, axis=1) / np.linalg.norm(electric, axis=1))[:, None]
    return np.concatenate([factor * electric, magnetic / factor], axis=1)


def _field_tensors(fields: FloatArray) -> FloatArray:
    """The contravariant tensor of the paper's appendix, with c = 1."""
    tensors = np.zeros((len(fields), 4, 4))
    tensors[:, 1:, 0] = fields[:, :3]
    tensors[:, 2, 1], tensors[:, 1, 3], tensors[:, 3, 2] = fields[:, 5], fields[:, 4], fields[:, 3]
    return tensors - np.swapaxes(tensors, 1, 2)


def _rotations(n: int, rng: np.random.Generator) -> FloatArray:
    matrices = np.tile(np.eye(4), (n, 1, 1))
    rotation = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    # A reflection turns the sign of E.B, which proper transformations keep.
    matrices[:, 1:, 1:] = rotation * np.sign(np.linalg.det(rotation))[:, None, None]
    return matrices
