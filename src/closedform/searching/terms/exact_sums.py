"""Sums of any number of terms that fit by linear algebra alone: sparse vectors in the null space of
a library.

All coefficients for which a library's sum has its gradient inside the field's directions form a
linear space. It holds the concepts that the library can write, and sums of them. A beam search has
to see parts of a sum in order to find it, which an energy of eight terms does not allow. Here the
space is brought into echelon form, with the dearest terms as pivots: each vector then holds one of
them at most, and no vector could do with cheaper terms alone. Chance in the order gives others.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from closedform.arrays import FloatArray
from closedform.field.alignment.tolerances import PERFECT
from closedform.searching.terms.moments import Moments
from closedform.searching.terms.term_beam import Support

WORST = 0.05
"""Sums of a larger misalignment are not looked at."""

GAP = 2.0
"""Where the misalignments of independent sums grow by this factor, those before belong together."""

MOST_GAPS = 4
MOST_DIMENSIONS = 60
N_ORDERS = 8
MOST_SUMS = 60
"""Sums that are returned for each gap, the cheapest."""

_EXACT_PARTS, _ROUGH_PARTS = (1e-4,), (0.01, 0.03, 0.1)
"""Terms with a smaller share of a vector's largest are left out, in exact fields and in others."""

_NO_FUNCTION = 1e-8
_ROUNDING = 1e-15
_CHANCE = 2.0


def exact_sums(
    moments: Moments,
    costs: NDArray[np.int64],
    most_terms: int,
    rng: np.random.Generator,
    *,
    only_exact: bool = False,
) -> list[Support]:
    """Supports of sums that fit, of few and cheap terms.

    Parameters
    ----------
    moments : Moments
        Of the library.
    costs : ndarray of int64, shape (n_terms,)
    most_terms : int
        Longer sums are left out.
    rng : Generator
    only_exact : bool
        Whether sums that fit up to noise are left out.

    Returns
    -------
    list of tuple of int
        Sorted terms, each support once, cheapest first.

    Examples
    --------
    >>> lost = np.diag([1.0, 1.0, 1.0, 0.5])
    >>> lost[0, 1] = lost[1, 0] = -1.0
    >>> moments = Moments(lost, np.eye(4), np.ones(4))
    >>> exact_sums(moments, np.ones(4, dtype=np.int64), 9, np.random.default_rng(0))
    [(0, 1)]
    """
    found: dict[Support, None] = {}
    for space, is_exact in [(_exact_space(moments), True)] if only_exact else _null_spaces(moments):
        if space.shape[1] == 0:
            continue
        parts = _EXACT_PARTS if is_exact else _ROUGH_PARTS
        here: set[Support] = set()
        for order in _orders(costs, rng):
            vectors = echelon(space, order, parts[0])
            is_function = np.einsum("kn,kn->n", vectors, moments.whole @ vectors) > _NO_FUNCTION
            sizes = np.abs(vectors[:, is_function])
            for part in parts:
                here |= {
                    tuple(np.flatnonzero(column).tolist())
                    for column in (sizes > part * sizes.max(axis=0)).T
                }
        short = [support for support in here if 0 < len(support) <= most_terms]
        ranked = sorted(short, key=lambda support: (int(costs[list(support)].sum()), support))
        found.update(dict.fromkeys(ranked[:MOST_SUMS]))
    return list(found)


def _exact_space(moments: Moments) -> FloatArray:
    """An orthonormal basis of the coefficients that fit up to rounding; none if there are too many
    to be told apart.
    """
    n_terms = len(moments.lost)
    most = min(MOST_DIMENSIONS + 1, n_terms)
    values, vectors = eigh(moments.lost, subset_by_index=[0, most - 1])
    kept = values <= _ROUNDING * n_terms
    return vectors[:, kept] if kept.sum() <= MOST_DIMENSIONS else vectors[:, :0]


def _null_spaces(moments: Moments) -> Iterator[tuple[FloatArray, bool]]:
    """Orthonormal bases of the coefficients that fit, up to each gap of the spectrum, and whether
    they fit exactly.
    """
    lengths, axes = np.linalg.eigh(moments.whole)
    varies = lengths > _NO_FUNCTION * lengths[-1]
    whitened = axes[:, varies] / np.sqrt(lengths[varies])
    values, vectors = np.linalg.eigh(whitened.T @ moments.lost @ whitened)
    # A combination that is no function at all may be added to any vector, and makes some of them
    # sparse.
    empty = axes[:, ~varies]
    for count in _gaps(values):
        fitting = whitened @ vectors[:, :count]
        if count + empty.shape[1] <= MOST_DIMENSIONS:
            basis = np.concatenate([fitting / np.linalg.norm(fitting, axis=0), empty], axis=1)
            yield np.linalg.qr(basis)[0], bool(values[count - 1] <= PERFECT)


def _gaps(values: FloatArray) -> list[int]:
    """How many of the ascending values lie before each of the first gaps."""
    floor = np.maximum(values, PERFECT)
    counts = [
        i for i in range(1, len(values)) if floor[i - 1] <= WORST and floor[i] >= GAP * floor[i - 1]
    ]
    return counts[:MOST_GAPS]


def _orders(costs: NDArray[np.int64], rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Orders in which terms become pivots, dear ones first."""
    yield np.argsort(-costs, kind="stable")
    for _ in range(N_ORDERS - 1):
        yield np.argsort(-(costs + _CHANCE * rng.normal(size=len(costs))), kind="stable")


def echelon(space: FloatArray, order: NDArray[np.int64], least: float) -> FloatArray:
    """Another basis of the space: each vector has one of the pivots, the first terms in the order
    that are independent.
    """
    dimension = space.shape[1]
    chosen, directions = [], np.zeros((0, dimension))
    for term in order.tolist():
        left = space[term] - (space[term] @ directions.T) @ directions
        size = float(np.linalg.norm(left))
        # A share that could be rounding or noise is no pivot: dividing by it would blow the others
        # up.
        if size > 10 * least * float(np.abs(space[term]).max(initial=1e-3)) and size > least:
            chosen.append(term)
            directions = np.concatenate([directions, left[None] / size])
            if len(chosen) == dimension:
                return space @ np.linalg.inv(space[chosen])
    return space @ np.linalg.pinv(space[chosen]) if chosen else space
