"""NSGA-II survival on misalignment and complexity, compiled: ranks, crowding, and duplicates to the
end of the queue.
"""

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.basics.compiled import compiled, compiled_part
from closedform.field.alignment.tolerances import SAME

DUPLICATE = 1e6
"""Added to the score of a tree whose structure, or whose pair of objectives, occurs already."""


def survival_scores(
    misalignments: FloatArray, costs: NDArray[np.int64], keys: NDArray[np.uint64]
) -> FloatArray:
    """Lower is better: the rank of a tree's front, plus a fraction that is small where its front is
    sparse.

    Of several trees of one structure only the best counts; on ties the one that stands first.

    Examples
    --------
    >>> keys = np.array([1, 2, 3, 3], dtype=np.uint64)
    >>> survival_scores(np.array([0.5, 0.1, 0.7, 0.8]), np.array([3, 9, 5, 5]), keys).astype(
    ...     int
    ... ).tolist()
    [0, 0, 1, 1000000]
    """
    order = np.lexsort((np.arange(len(costs)), costs, misalignments))
    scores = np.empty(len(costs))
    _score(misalignments, costs, keys, order, np.argsort(keys, kind="stable"), scores)
    return scores


@compiled
def _score(misalignments, costs, keys, order, by_key, scores):
    count = costs.shape[0]
    duplicate = np.zeros(count, np.bool_)
    best = 0
    for position in range(1, count):
        i, j = by_key[position], by_key[best]
        if keys[i] != keys[j]:
            best = position
        elif misalignments[i] < misalignments[j]:
            duplicate[j] = True
            best = position
        else:
            duplicate[i] = True
    highest = 0
    for i in range(count):
        highest = max(highest, costs[i])
    last = np.full(highest + 1, -1.0)
    smallest = np.empty(count, np.int64)
    front = np.full(count, -1, np.int64)
    n_fronts = np.int64(
        0
    )  # a plain 0 is a type of its own, for which `_crowd` would be compiled again
    for position in range(count):
        i = order[position]
        if duplicate[i]:
            continue
        seen = last[costs[i]]
        if seen >= 0.0 and misalignments[i] - seen <= SAME * (seen + 1e-9):
            duplicate[i] = True
            continue
        last[costs[i]] = misalignments[i]
        # In order of misalignment a front dominates a tree if its cheapest member so far costs no
        # more.
        low, high = 0, n_fronts
        while low < high:
            middle = (low + high) // 2
            if smallest[middle] <= costs[i]:
                low = middle + 1
            else:
                high = middle
        front[i] = low
        smallest[low] = costs[i]
        n_fronts = max(n_fronts, low + 1)
    _crowd(misalignments, costs, order, front, n_fronts, max(highest, 1), duplicate, scores)


@compiled_part
def _crowd(misalignments, costs, order, front, n_fronts, highest, duplicate, scores):
    count = costs.shape[0]
    previous = np.full(n_fronts, -1, np.int64)
    before = np.full(n_fronts, -1, np.int64)
    for i in range(count):
        scores[i] = DUPLICATE + misalignments[i] if duplicate[i] else float(front[i])
    for position in range(count):
        i = order[position]
        f = front[i]
        if f < 0:
            continue
        a, b = before[f], previous[f]
        if a >= 0:
            gap = 10.0 * ((costs[a] - costs[i]) / highest + misalignments[i] - misalignments[a])
            scores[b] = f + 0.999 / (1.0 + gap)
        before[f] = b
        previous[f] = i
