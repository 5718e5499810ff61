"""Systems with several invariants, as pairs that share them: what the networks of
several_latents.py are trained on.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform_bench.paper.matrices import entry_names, similar_matrices
from closedform_bench.paper.spacetime import FIELD_INPUTS, lorentz_transformations

PairSampler = Callable[[int, np.random.Generator], FloatArray]


@dataclass(frozen=True)
class System:
    """Pairs (n, 2, d), the names of the inputs, the invariants, and how to train."""

    sampler: PairSampler
    inputs: tuple[str, ...]
    invariants: tuple[str, ...]
    latents: int
    same_network_as: str = ""
    epochs: int = 40
    resolution: float = 0.2


def field_strength(n: int, rng: np.random.Generator) -> FloatArray:
    """Electric and magnetic fields, uniform, and what a rotation, a boost and a rotation make of
    them.
    """
    anchor = rng.uniform(-1, 1, (n, 6))
    transformations = lorentz_transformations(n, rng)
    upper = np.zeros((n, 4, 4))
    upper[:, 0, 1:] = -anchor[:, :3]
    upper[:, 1, 2], upper[:, 1, 3], upper[:, 2, 3] = -anchor[:, 5], anchor[:, 4], -anchor[:, 3]
    after = (
        transformations @ (upper - np.swapaxes(upper, 1, 2)) @ np.swapaxes(transformations, 1, 2)
    )
    positive = np.column_stack([-after[:, 0, 1:], -after[:, 2, 3], after[:, 1, 3], -after[:, 1, 2]])
    return np.stack([anchor, positive], axis=1)


def similarity(size: int) -> PairSampler:
    """Matrices with entries in [0, 1] and the same in another basis."""
    return lambda n, rng: similar_matrices(n, rng, size=size)[:, :2]


def gentle_similarity(n: int, rng: np.random.Generator) -> FloatArray:
    """3x3 matrices with entries in [-1, 1] and the same in another basis, stretched by at most e^2:
    no entry becomes huge.
    """
    anchor = rng.uniform(-1, 1, (n, 3, 3))
    left, right = (np.linalg.qr(rng.normal(size=(n, 3, 3)))[0] for _ in range(2))
    change = left @ (np.exp(rng.uniform(-1, 1, (n, 3)))[:, :, None] * right)
    return np.stack([anchor, change @ anchor @ np.linalg.inv(change)], axis=1).reshape(n, 2, 9)


def isotropic_oscillator(n: int, rng: np.random.Generator) -> FloatArray:
    """Two times on one orbit: position and momentum turn into each other."""
    start = rng.uniform(-2, 2, (n, 4))
    angle = rng.uniform(0, 2 * np.pi, n)[:, None]
    place, momentum = start[:, :2], start[:, 2:]
    later = (
        np.cos(angle) * place + np.sin(angle) * momentum,
        np.cos(angle) * momentum - np.sin(angle) * place,
    )
    return np.stack([start, np.concatenate(later, axis=1)], axis=1)


def kepler(n: int, rng: np.random.Generator) -> FloatArray:
    """Two places on one ellipse around a unit mass, counter-clockwise, eccentricity up to 0.7."""
    axis, eccentricity = rng.uniform(0.7, 1.6, n), rng.uniform(0.05, 0.7, n)
    turn = rng.uniform(0, 2 * np.pi, n)
    return np.stack(
        [_on_ellipse(axis, eccentricity, turn, rng.uniform(0, 2 * np.pi, n)) for _ in range(2)],
        axis=1,
    )


def _on_ellipse(
    axis: FloatArray, eccentricity: FloatArray, turn: FloatArray, anomaly: FloatArray
) -> FloatArray:
    short = np.sqrt(1 - eccentricity**2)
    rate = axis**-1.5 / (1 - eccentricity * np.cos(anomaly))
    place = axis * (np.cos(anomaly) - eccentricity), axis * short * np.sin(anomaly)
    speed = -axis * np.sin(anomaly) * rate, axis * short * np.cos(anomaly) * rate
    cos, sin = np.cos(turn), np.sin(turn)
    return np.stack(
        [part for x, y in (place, speed) for part in (cos * x - sin * y, sin * x + cos * y)], axis=1
    )


ELECTROMAGNETIC = ("E1*B1 + E2*B2 + E3*B3", "E1**2 + E2**2 + E3**2 - B1**2 - B2**2 - B3**2")
PHASE_SPACE = ("x", "y", "p", "q")
SECOND = "A11*A22 + A11*A33 + A22*A33 - A12*A21 - A13*A31 - A23*A32"
DETERMINANT = "A11*(A22*A33 - A23*A32) - A12*(A21*A33 - A23*A31) + A13*(A21*A32 - A22*A31)"

SYSTEMS = {
    "field": System(field_strength, FIELD_INPUTS, ELECTROMAGNETIC, 2),
    "two": System(similarity(2), entry_names(2), ("A11 + A22", "A11*A22 - A12*A21"), 2),
    "three": System(
        gentle_similarity, entry_names(3), ("A11 + A22 + A33", SECOND, DETERMINANT), 3, epochs=80
    ),
    "oscillator": System(
        isotropic_oscillator, PHASE_SPACE, ("x*q - y*p", "x*y + p*q", "x**2 + p**2"), 3
    ),
    "kepler": System(
        kepler,
        PHASE_SPACE,
        (
            "(p**2 + q**2)/2 - 1/sqrt(x**2 + y**2)",
            "x*q - y*p",
            "q*(x*q - y*p) - x/sqrt(x**2 + y**2)",
        ),
        3,
    ),
    "five": System(similarity(2), entry_names(2), ("A11 + A22", "A11*A22 - A12*A21"), 5),
    "mixed": System(field_strength, FIELD_INPUTS, ELECTROMAGNETIC, 2, same_network_as="field"),
}
