"""Where a theory fails: the box of two inputs in which its angle is largest, in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from closedform.arrays import FloatArray, frozen

MOST_PAIRS = 12
"""Inputs whose pairs are compared: those along which the angle varies most."""

DEPTH, LEAF = 2, 0.05
"""Cuts on the way to a region, and the share of the points that it holds at least: a sentence holds
no more, and fewer points are an accident."""

STANDS_OUT = 1.5
"""Times by which the angle in a region exceeds that elsewhere to be worth a sentence."""

SMALLEST_ANGLE = 1e-3
"""Degrees below which angles do not differ."""

MOST_KEPT = 1500
"""Points that are kept for the picture."""


@dataclass(frozen=True, slots=True, eq=False)
class FailingRegion:
    """Where the angle of a theory is largest.

    Attributes
    ----------
    inputs : tuple of str
        The two that explain the angle best (one, if there is only one).
    bounds : tuple of (str, float, float)
        The region: input, and from where to where; infinite where it has no bound.
    inside, outside : float
        Median angles, in degrees.
    share : float
        Of the points, in the region.
    points : ndarray, shape (n_points, 1 or 2)
        The two inputs at some points.
    angles : ndarray, shape (n_points,)
        Degrees there.
    """

    inputs: tuple[str, ...]
    bounds: tuple[tuple[str, float, float], ...]
    inside: float
    outside: float
    share: float
    points: FloatArray
    angles: FloatArray

    @property
    def stands_out(self) -> bool:
        """Whether the region is clearly worse than the rest."""
        return self.inside > STANDS_OUT * max(self.outside, SMALLEST_ANGLE)

    def __str__(self) -> str:
        if not self.stands_out:
            return f"about as far off everywhere ({self.outside:.2g} degrees)"
        return (
            f"fails where {' and '.join(_range(*bound) for bound in self.bounds)}: "
            f"{self.inside:.2g} degrees there ({100 * self.share:.0f}% of the points), "
            f"{self.outside:.2g} elsewhere"
        )


def find_failing_region(
    points: FloatArray, angles: FloatArray, names: Sequence[str], rng: np.random.Generator
) -> FailingRegion:
    """The pair of inputs that explains the angles best, and its worst region.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(0, 1, (2000, 3))
    >>> angles = np.where((points[:, 0] > 0.7) & (points[:, 2] < 0.4), 8.0, 1.0)
    >>> print(find_failing_region(points, angles, ["a", "b", "c"], np.random.default_rng(0)))
    fails where a > 0.7 and c < 0.4: 8 degrees there (12% of the points), 1 elsewhere
    """
    logs = np.log(np.maximum(angles, SMALLEST_ANGLE))
    columns = range(points.shape[1])
    if len(columns) > MOST_PAIRS:
        alone = [_grown(points[:, [column]], logs)[1] for column in columns]
        columns = sorted(np.argsort(alone)[-MOST_PAIRS:].tolist())
    pairs = list(combinations(columns, 2)) or [(0,)]
    trees = [(pair, *_grown(points[:, list(pair)], logs)) for pair in pairs]
    pair, tree, _ = max(trees, key=lambda one: one[2])
    own = points[:, list(pair)]
    leaves = tree.apply(own)
    medians = {leaf: float(np.median(angles[leaves == leaf])) for leaf in np.unique(leaves)}
    worst = max(medians, key=lambda leaf: medians[leaf])
    is_in = leaves == worst
    kept = rng.permutation(len(own))[:MOST_KEPT]
    bounds = _box(tree.tree_, int(worst))
    return FailingRegion(
        inputs=tuple(names[column] for column in pair),
        bounds=tuple((names[pair[place]], low, high) for place, (low, high) in bounds.items()),
        inside=medians[worst],
        outside=float(np.median(angles[~is_in])) if (~is_in).any() else medians[worst],
        share=float(is_in.mean()),
        points=frozen(own[kept]),
        angles=frozen(angles[kept]),
    )


def _grown(points: FloatArray, logs: FloatArray) -> tuple[Any, float]:
    """A small regression tree, and the share of the variance that it explains."""
    from sklearn.tree import DecisionTreeRegressor

    least = max(int(LEAF * len(points)), 1)
    tree = DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=least, random_state=0)
    tree.fit(points, logs)
    return tree, float(tree.score(points, logs)) if np.ptp(logs) > 0 else 0.0


def _box(tree: Any, leaf: int) -> dict[int, tuple[float, float]]:
    """The bounds of a leaf, by column."""
    above = {}
    for parent in range(tree.node_count):
        for child, is_left in ((tree.children_left, True), (tree.children_right, False)):
            if child[parent] >= 0:
                above[int(child[parent])] = parent, is_left
    found: dict[int, tuple[float, float]] = {}
    node = leaf
    while node in above:
        node, is_left = above[node]
        column, cut = int(tree.feature[node]), float(tree.threshold[node])
        low, high = found.get(column, (-np.inf, np.inf))
        found[column] = (low, min(high, cut)) if is_left else (max(low, cut), high)
    return dict(sorted(found.items()))


def _range(name: str, low: float, high: float) -> str:
    if np.isinf(low):
        return f"{name} < {high:.2g}"
    return f"{name} > {low:.2g}" if np.isinf(high) else f"{low:.2g} < {name} < {high:.2g}"
