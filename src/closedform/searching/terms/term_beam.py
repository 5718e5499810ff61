"""Beam search over supports: which sets of terms are worth a look, judged by moments alone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.field.alignment.eigen import extended_minima
from closedform.searching.terms.moments import Moments
from closedform.searching.terms.next_terms import Lines

Support = tuple[int, ...]

VANISHING = 1e-9
"""Smallest eigenvalue of terms that fit perfectly with some coefficients."""

_CHUNK = 2_000_000
_LINES_CHUNK = 60_000
_DIGITS = 10
_AS_GOOD = 1.2


@dataclass(frozen=True, slots=True)
class TermBeam:
    """Supports of one size, the most promising first.

    Attributes
    ----------
    supports : tuple of tuple of int
        Sorted terms.
    sizes : tuple of int
        Least complexity that a sum of these terms can have: all coefficients 1 or -1.
    values : tuple of float
        The misalignment that is expected of each.
    """

    supports: tuple[Support, ...]
    sizes: tuple[int, ...]
    values: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.supports)


@dataclass(frozen=True, slots=True)
class Width:
    """How many supports are kept.

    Attributes
    ----------
    best : int
        Of all.
    per_size : int
        Of each complexity, if no simpler one is much better.
    """

    best: int
    per_size: int


def singles(moments: Moments, costs: NDArray[np.int64], width: Width, bound: float) -> TermBeam:
    """The best single terms of complexity below the bound."""
    pool = _Pool(width)
    values = moments.single
    order = np.arange(len(values))[:, None]
    pool.offer(
        values[:, None], costs, np.zeros(1, dtype=np.int64), lambda i, _: (int(order[i, 0]),), bound
    )
    return pool.beam()


@dataclass(frozen=True, slots=True)
class Sums:
    """Fitted sums of one number of terms, to be extended by one more.

    Attributes
    ----------
    supports : ndarray of int64, shape (n_sums, m)
    coefficients : ndarray, shape (n_sums, m)
    """

    supports: NDArray[np.int64]
    coefficients: FloatArray

    def __len__(self) -> int:
        return len(self.supports)


def extend(
    moments: Moments,
    lines: Lines | None,
    costs: NDArray[np.int64],
    join: int,
    sums: Sums,
    complete: Sequence[Support],
    width: Width,
    bound: float,
    largest: float = VANISHING,
    addable: NDArray[np.bool_] | None = None,
) -> Iterator[TermBeam | None]:
    """The best supports of one term more.

    A support is worth its least misalignment on the line from the fitted sum towards the new term,
    or its smallest eigenvalue if that is less than `largest`: where it vanishes some coefficients
    fit perfectly.

    Parameters
    ----------
    moments : Moments
    lines : Lines or None
        None looks at eigenvalues alone.
    costs : ndarray of int64, shape (n_terms,)
        The terms' complexities.
    join : int
        What an addition costs.
    sums : Sums
    complete : sequence of tuple of int
        Supports that already fit perfectly: nothing that contains one is of use.
    width : Width
    bound : float
        Only complexities below it are of use.
    largest : float
        Eigenvalues above it do not count: far from 0 they say little about the misalignment.
    addable : ndarray of bool, shape (n_terms, n_terms), optional
        Which terms may stand in one sum; by default all.

    Yields
    ------
    Beam or None
        None after each part of the work, so that the caller may stop; the beam at the end.
    """
    pool = _Pool(width)
    rows = max(1, (_CHUNK if lines is None else _LINES_CHUNK) // len(costs))
    for start in range(0, len(sums), rows):
        part = sums.supports[start : start + rows]
        values = extended_minima(moments.lost, moments.whole, part)
        sizes = costs[part].sum(axis=1) + join * part.shape[1]
        _ban(values, [tuple(row) for row in part.tolist()], complete)
        values[sizes[:, None] + costs >= bound] = np.inf
        if addable is not None:
            values[~addable[part].all(axis=1)] = np.inf
        is_wanted = np.isfinite(values)
        values = np.where(values < largest, values, np.inf)
        if lines is not None:
            values = np.minimum(
                values, lines.least(part, sums.coefficients[start : start + rows], is_wanted)
            )

        def name(row: int, term: int, part: NDArray[np.int64] = part) -> Support:
            return tuple(sorted((*part[row].tolist(), term)))

        pool.offer(values, sizes, costs, name, bound)
        yield None
    yield pool.beam()


def merged(beams: Sequence[TermBeam]) -> TermBeam:
    """All supports of several beams, each once."""
    rows = {
        support: (value, size)
        for beam in reversed(beams)
        for support, size, value in zip(beam.supports, beam.sizes, beam.values, strict=True)
    }
    kept = sorted((value, size, support) for support, (value, size) in rows.items())
    return TermBeam(
        tuple(s for _, _, s in kept),
        tuple(size for _, size, _ in kept),
        tuple(v for v, _, _ in kept),
    )


def _ban(values: FloatArray, supports: Sequence[Support], complete: Sequence[Support]) -> None:
    if not complete:
        return
    alone = [support[0] for support in complete if len(support) == 1]
    values[:, alone] = np.inf
    sets = [frozenset(support) for support in complete if len(support) > 1]
    for row, support in enumerate(supports):
        own = frozenset(support)
        for other in sets:
            missing = other - own
            if len(missing) == 1:
                values[row, next(iter(missing))] = np.inf


class _Pool:
    """Collects the best supports, over all and for each complexity."""

    def __init__(self, width: Width) -> None:
        self.width = width
        self.found: dict[Support, tuple[float, int]] = {}

    def offer(
        self,
        values: FloatArray,
        row_sizes: NDArray[np.int64],
        column_costs: NDArray[np.int64],
        name: Callable[[int, int], Support],
        bound: float,
    ) -> None:
        """Take what may be among the best of a matrix of values; equal complexities form blocks of
        it.
        """
        # A support of m terms can come from m smaller ones.
        many = 4 * self.width.best
        row_groups = [(int(s), np.flatnonzero(row_sizes == s)) for s in np.unique(row_sizes)]
        column_groups = [
            (int(c), np.flatnonzero(column_costs == c)) for c in np.unique(column_costs)
        ]
        limit = _smallest_value(values, many)
        for size, rows in row_groups:
            for cost, columns in column_groups:
                if size + cost < bound:
                    self._take(values, rows, columns, size + cost, limit, name)

    def _take(
        self,
        values: FloatArray,
        rows: NDArray[np.int64],
        columns: NDArray[np.int64],
        size: int,
        limit: float,
        name: Callable[[int, int], Support],
    ) -> None:
        block = values[np.ix_(rows, columns)].ravel()
        threshold = max(
            min(limit, _smallest_value(block, 4 * self.width.best)),
            _smallest_value(block, 3 * self.width.per_size),
        )
        for place in np.flatnonzero((block <= threshold) & np.isfinite(block)).tolist()[
            : 8 * self.width.best
        ]:
            row, column = divmod(place, len(columns))
            support = name(int(rows[row]), int(columns[column]))
            # Rounded, so that noise in the last digits does not decide between equals.
            value = round(float(block[place]), _DIGITS)
            if value < self.found.get(support, (np.inf, 0))[0]:
                self.found[support] = (value, size)

    def beam(self) -> TermBeam:
        """The supports to go on with."""
        ranked = sorted((value, size, support) for support, (value, size) in self.found.items())
        chosen = dict.fromkeys(support for _, _, support in ranked[: self.width.best])
        by_size: dict[int, list[tuple[float, Support]]] = {}
        for value, size, support in ranked:
            by_size.setdefault(size, []).append((value, support))
        best = np.inf
        for size in sorted(by_size):
            chosen |= dict.fromkeys(
                s for value, s in by_size[size][: self.width.per_size] if value <= _AS_GOOD * best
            )
            best = min(best, by_size[size][0][0])
        kept = [(value, size, support) for value, size, support in ranked if support in chosen]
        return TermBeam(
            tuple(s for _, _, s in kept),
            tuple(size for _, size, _ in kept),
            tuple(v for v, _, _ in kept),
        )


def _smallest_value(values: FloatArray, count: int) -> float:
    """The count-th smallest value."""
    flat = values.ravel()
    if flat.size == 0:
        return -np.inf
    return float(np.partition(flat, count - 1)[count - 1]) if flat.size > count else np.inf
