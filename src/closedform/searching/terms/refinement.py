"""Refinement of a good sum: leave out one term after the other, and put another in its place where
that fits better.

Sums grow from below, and a truth of four terms may first be seen as part of one with six, or not at
all, because other pairs and triples fitted better on the way. From a sum that fits well the truth
is a few such steps away.
"""

from collections.abc import Callable, Iterator, Sequence

from closedform.field.alignment.eigen import CoefficientFit
from closedform.searching.terms.term_beam import Support

MOST_EXCHANGED = 6
"""Sums of at most so many terms get other terms."""

_BETTER = 0.95

Fitted = tuple[Support, CoefficientFit]


def refine(
    start: Support,
    fit: Callable[[Sequence[Support]], list[CoefficientFit]],
    extend: Callable[[Sequence[Support], Sequence[CoefficientFit]], Sequence[Support]],
) -> Iterator[list[Fitted]]:
    """Sums on the way down from a good one.

    Parameters
    ----------
    start : tuple of int
        A support.
    fit : callable
        Fits the coefficients of several supports.
    extend : callable
        The most promising supports of one term more.

    Yields
    ------
    list of (tuple of int, Fit)
        Supports of one size with their fits.

    Examples
    --------
    >>> import numpy as np
    >>> value = {
    ...     (0, 1): 0.3,
    ...     (0, 2): 0.1,
    ...     (1, 2): 0.2,
    ...     (0,): 0.5,
    ...     (1,): 0.6,
    ...     (2,): 0.4,
    ...     (0, 1, 2): 0.09,
    ... }
    >>> fit = lambda parts: [CoefficientFit(np.ones(1), np.ones(1), value[part]) for part in parts]
    >>> [
    ...     min(level, key=lambda pair: pair[1].misalignment)[0]
    ...     for level in refine((0, 1, 2), fit, lambda parts, fits: [])
    ... ]
    [(0, 2), (2,)]
    """
    support, current = start, fit([start])[0].misalignment
    while len(support) > 1:
        parts = [support[:place] + support[place + 1 :] for place in range(len(support))]
        smaller = list(zip(parts, fit(parts), strict=True))
        yield smaller
        if len(support) <= MOST_EXCHANGED:
            others = [
                other
                for other in extend(parts, [found for _, found in smaller])
                if other != support
            ]
            exchanged = list(zip(others, fit(others), strict=True))
            if exchanged:
                yield exchanged
                best, found = min(exchanged, key=_misalignment)
                if found.misalignment < _BETTER * current:
                    support, current = best, found.misalignment
                    continue
        support, found = min(smaller, key=_misalignment)
        current = found.misalignment


def _misalignment(pair: Fitted) -> float:
    return pair[1].misalignment
