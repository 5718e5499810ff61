"""Which sets of a few terms can be summed to something small: a beam search on moments."""

import numpy as np

from closedform.alignment.eigen import extended_minima
from closedform.arrays import FloatArray
from closedform.searching.terms.term_beam import Support

WIDTH = 30
"""Sets of each size that are extended."""

MOST_LOOKED_AT = 40
"""For each of them."""

DROP = 0.05
"""A set is complete if its last term lowers the ratio to this share; then more terms must do so
again, for a law with anything else added to it is as small as the law.
"""


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
    values = np.diagonal(small).copy()
    found: list[Support] = [(int(k),) for k in np.argsort(values)[:per_size]]
    beam = np.arange(len(small))[:, None]
    complete: dict[Support, float] = {}
    for _ in range(min(most_terms, len(small)) - 1):
        extended = extended_minima(small, whole, beam)
        best: dict[Support, float] = {}
        for place in np.argsort(extended, axis=None)[: MOST_LOOKED_AT * WIDTH]:
            row, term = divmod(int(place), len(small))
            value = float(extended[row, term])
            support = tuple(sorted((*beam[row].tolist(), term)))
            if not np.isfinite(value) or support in best or len(best) == WIDTH:
                continue
            if _only_adds(support, value, complete):
                continue
            best[support] = value
            if value <= DROP * values[row]:
                complete.setdefault(support, value)
        if not best:
            break
        found += [one for k, one in enumerate(best) if k < per_size or one in complete]
        beam, values = np.array(list(best)), np.array(list(best.values()))
    return found


def _only_adds(support: Support, value: float, complete: dict[Support, float]) -> bool:
    """Whether a set holds a complete one and is hardly better."""
    return any(value > DROP * own and set(known) < set(support) for known, own in complete.items())
