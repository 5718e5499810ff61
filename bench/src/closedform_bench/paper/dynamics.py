"""Experiments 7 to 11: points on trajectories in a potential, mass 1."""

import numpy as np

from closedform.arrays import FloatArray
from closedform_bench.paper.integration import Motion, integrate

LINE_INPUTS = ("x", "v")
PLANE_INPUTS = ("x1", "x2", "v1", "v2")

TIMES = np.linspace(0.0, 5.0, 10_001)
"""Anchor, positive and negative are taken at these."""

ENERGY = -0.5
"""Energy of every trajectory in experiment 11: ellipses with a semi-major axis of 1."""

PLANE_HELD = f"(v1**2 + v2**2)/2 - 1/sqrt(x1**2 + x2**2) = {ENERGY}"

CLOSEST = 0.2
"""Points nearer than this to the centre are taken at another time: there speeds grow beyond all
others.
"""


def harmonic(state: FloatArray) -> FloatArray:
    """V = x^2 / 2."""
    x, v = state.T
    return np.stack([v, -x], axis=1)


def quartic(state: FloatArray) -> FloatArray:
    """V = x^2 / 2 + x^4 / 4."""
    x, v = state.T
    return np.stack([v, -x - x**3], axis=1)


def sine(state: FloatArray) -> FloatArray:
    """V = sin x."""
    x, v = state.T
    return np.stack([v, -np.cos(x)], axis=1)


def exponential(state: FloatArray) -> FloatArray:
    """V = x^2 / 2 + exp(x + 1)."""
    x, v = state.T
    return np.stack([v, -x - np.exp(x + 1)], axis=1)


def kepler(state: FloatArray) -> FloatArray:
    """V = -1 / r."""
    position, velocity = state[:, :2], state[:, 2:]
    return np.concatenate(
        [velocity, -position / np.linalg.norm(position, axis=1, keepdims=True) ** 3], axis=1
    )


def trajectories(n: int, rng: np.random.Generator, *, motion: Motion) -> FloatArray:
    """Experiments 7 to 10: starts uniform in [0, 1]^2; two times of one trajectory, and one of
    another.

    Examples
    --------
    >>> a, p, _ = trajectories(1, np.random.default_rng(0), motion=harmonic)[0]
    >>> bool(np.isclose((a**2).sum(), (p**2).sum()))
    True
    """
    start, other = rng.uniform(0, 1, (2, n, 2))
    times = TIMES[rng.integers(0, len(TIMES), (3, n))]
    anchor, positive, negative = (
        integrate(motion, y, t) for y, t in zip((start, start, other), times, strict=True)
    )
    return np.stack([anchor, positive, negative], axis=1)


def orbits(n: int, rng: np.random.Generator) -> FloatArray:
    """Experiment 11: orbits of one energy; positives are turned by a random angle as well."""
    start, other = _starts(2 * n, rng).reshape(2, n, 4)
    anchor, positive, negative = (_away_from_the_centre(y, rng) for y in (start, start, other))
    return np.stack([anchor, _turned(positive, rng), negative], axis=1)


def _starts(n: int, rng: np.random.Generator) -> FloatArray:
    """Positions and directions of the velocity from [0, 1]^2, speeds from the energy."""
    position, velocity = rng.uniform(0, 1, (2, n, 2))
    while (bad := np.linalg.norm(position, axis=1) < CLOSEST).any():
        position[bad] = rng.uniform(0, 1, (int(bad.sum()), 2))
    speed = np.sqrt(2 * (ENERGY + 1 / np.linalg.norm(position, axis=1)))
    return np.concatenate(
        [position, velocity * (speed / np.linalg.norm(velocity, axis=1))[:, None]], axis=1
    )


def _away_from_the_centre(start: FloatArray, rng: np.random.Generator) -> FloatArray:
    points = np.zeros_like(start)
    while (near := np.linalg.norm(points[:, :2], axis=1) < CLOSEST).any():
        times = TIMES[rng.integers(0, len(TIMES), int(near.sum()))]
        points[near] = integrate(kepler, start[near], times)
    return points


def _turned(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    angle = rng.uniform(0, 2 * np.pi, len(points))[:, None]
    cosine, sine_ = np.cos(angle), np.sin(angle)
    first, second = points[:, 0::2], points[:, 1::2]
    turned = np.empty_like(points)
    turned[:, 0::2], turned[:, 1::2] = (
        cosine * first - sine_ * second,
        sine_ * first + cosine * second,
    )
    return turned
