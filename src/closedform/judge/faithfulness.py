"""Faithfulness: what happens to the network's outputs when phi(concept) takes the neuron's
place.
"""

import numpy as np

from closedform.arrays import FloatArray
from closedform.interpretation.evidence import Faithfulness


def compare_outputs(
    original: FloatArray, replaced: FloatArray, by_mean: FloatArray
) -> Faithfulness | None:
    """Compare outputs of shape (n_points, n_outputs); None if they do not depend on the neuron.

    Examples
    --------
    >>> outputs = np.arange(4.0)[:, None]
    >>> compare_outputs(outputs, outputs, np.full((4, 1), 1.5)).explained
    1.0
    """
    flat = [array.reshape(len(array), -1) for array in (original, replaced, by_mean)]
    spread = float(((flat[0] - flat[0].mean(axis=0)) ** 2).mean())
    change, by_mean_change = (float(((other - flat[0]) ** 2).mean()) for other in flat[1:])
    if by_mean_change <= 1e-20 * max(spread, np.finfo(float).tiny) or spread == 0:
        return None
    return Faithfulness(
        explained=1 - change / by_mean_change,
        change=float(np.sqrt(change / spread)),
        change_by_mean=float(np.sqrt(by_mean_change / spread)),
        n_points=len(original),
    )
