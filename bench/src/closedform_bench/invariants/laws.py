"""The direct test of a law: it has one value at both points of a pair. A network can encode a
formula that is none.
"""

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression

LAW = 0.05
"""Largest change within pairs, relative to that between strangers, of what counts as a law."""


def change_in_pairs(concept: Expression, pairs: FloatArray) -> float:
    """How much a function changes within pairs, relative to how much it differs between points of
    different pairs.

    Values are replaced by their quantiles, so that only their order counts, and root mean squares
    are compared: 0 for a law, about 1 for something that pairs do not share.

    Parameters
    ----------
    concept : Expression
    pairs : ndarray, shape (n_pairs, 2, n_inputs)
        Pairs that nothing was trained on or fitted to.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> rng = np.random.default_rng(0)
    >>> radius, angle = rng.uniform(1, 2, (500, 1)), rng.uniform(0, 6.3, (500, 2))
    >>> pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2)
    >>> [
    ...     round(change_in_pairs(parse(text, ["x", "y"]), pairs), 2)
    ...     for text in ("x**2 + y**2", "x + 2")
    ... ]
    [0.0, 1.04]
    """
    with np.errstate(all="ignore"):
        values = concept(pairs.reshape(-1, pairs.shape[2])).reshape(-1, 2)
    if not np.isfinite(values).all():
        return 1.0
    # Differences of rounding between equal values are not to become different quantiles.
    spread = float(np.percentile(values[:, 0], 95) - np.percentile(values[:, 0], 5))
    order = np.sort(values[:, 0])
    places = np.searchsorted(order, values + 1e-7 * spread) / len(values)
    strangers = places[:, 0] - np.roll(places[:, 0], 1)
    return float(
        np.sqrt(np.mean((places[:, 0] - places[:, 1]) ** 2) / max(np.mean(strangers**2), 1e-300))
    )
