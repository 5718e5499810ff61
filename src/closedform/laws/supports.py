"""Which sets of a few terms can be summed to something small: a beam search on moments."""

import numpy as np

from closedform.alignment.eigen import extended_minima
from closedform.arrays import FloatArray
from closedform.searching.terms.beam import Support

WIDTH = 30
"""Sets of each size that are extended."""


def best_supports(
    small: FloatArray, whole: FloatArray, most_terms: int, *, per_size: int
) -> list[Support]:
    """The best sets of 1, 2, ... terms, by the least ratio of two quadratic forms.

    Parameters
    ----------
    small, whole : ndarray, shape (n_terms, n_terms)
        What is to be small, and what it is compared with; `whole` has a unit diagonal.
    most_terms : int
    per_size : int
        Sets of each size that are returned.

    Examples
    --------
    >>> small = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.5]])
    >>> best_supports(small, np.eye(3), 2, per_size=1)
    [(2,), (0, 1)]
    """
    first = np.argsort(np.diagonal(small))
    found: list[Support] = [(int(k),) for k in first[:per_size]]
    beam = np.arange(len(small))[:, None]
    for _ in range(min(most_terms, len(small)) - 1):
        values = extended_minima(small, whole, beam)
        order = np.argsort(values, axis=None)[: 6 * WIDTH]
        rows, terms = np.unravel_index(order, values.shape)
        best: dict[Support, None] = {}
        for row, term in zip(rows, terms, strict=True):
            if np.isfinite(values[row, term]):
                best.setdefault(tuple(sorted((*beam[row].tolist(), int(term)))))
        if not best:
            break
        kept = list(best)[:WIDTH]
        found += kept[:per_size]
        beam = np.array(kept)
    return found
