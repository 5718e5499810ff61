"""How points are drawn: uniform in a box, and redrawn where a condition does not hold."""

from collections.abc import Callable, Sequence

import numpy as np

from closedform.arrays import FloatArray
from closedform_bench.invariants.system import Move, Points

Condition = Callable[[FloatArray], np.ndarray]
"""From points (n, n_inputs) to whether each is allowed."""

MOST_ROUNDS = 1000


def box(
    low: float | Sequence[float],
    high: float | Sequence[float],
    n_inputs: int,
    where: Condition | None = None,
) -> Points:
    """Uniform points between two corners, redrawn where a condition does not hold.

    Examples
    --------
    >>> points = box(-1, 1, 2, lambda x: x[:, 0] > x[:, 1])(100, np.random.default_rng(0))
    >>> points.shape, bool((points[:, 0] > points[:, 1]).all())
    ((100, 2), True)
    """
    corners = np.broadcast_to(low, n_inputs), np.broadcast_to(high, n_inputs)
    return redrawn(lambda n, rng: rng.uniform(*corners, (n, n_inputs)), where)


def redrawn(draw: Points, where: Condition | None) -> Points:
    """A sampler whose points are drawn again until a condition holds."""
    if where is None:
        return draw

    def sample(n: int, rng: np.random.Generator) -> FloatArray:
        points = draw(n, rng)
        for _ in range(MOST_ROUNDS):
            bad = np.flatnonzero(~where(points))
            if not len(bad):
                return points
            points[bad] = draw(len(bad), rng)
        raise RuntimeError(
            f"Some of {n} points do not meet their condition after {MOST_ROUNDS} draws; is "
            f"it ever met?"
        )

    return sample


def moved_within(move: Move, where: Condition) -> Move:
    """A move that is drawn again where it ends outside; after many draws a point stays where it
    is.
    """

    def inside(points: FloatArray, rng: np.random.Generator) -> FloatArray:
        ends = points.copy()
        left = np.arange(len(points))
        for _ in range(20):
            tried = move(points[left], rng)
            fine = where(tried)
            ends[left[fine]] = tried[fine]
            left = left[~fine]
            if not len(left):
                break
        return ends

    return inside


def gaps(points: FloatArray, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> FloatArray:
    """The least distance between places that are given by their columns, for each row."""
    distances = [np.linalg.norm(points[:, list(a)] - points[:, list(b)], axis=1) for a, b in pairs]
    return np.min(distances, axis=0)
