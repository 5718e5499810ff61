"""The gradients of a library's terms, kept sparse: a term touches few inputs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.kernel import FINE, ZERO_GRADIENT, values_and_gradients
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree

_CHUNK_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class Jacobian:
    """Derivatives of many terms, one row for each term and input that occurs in it.

    Attributes
    ----------
    slopes : ndarray, shape (n_slots, n_points)
        Derivatives in scaled coordinates, sorted by input.
    terms : ndarray of int64, shape (n_slots,)
        Whose derivative it is.
    starts : ndarray of int64, shape (n_inputs + 1,)
        Input d has the rows ``starts[d]`` to ``starts[d + 1] - 1``.
    n_terms : int
    """

    slopes: FloatArray
    terms: NDArray[np.int64]
    starts: NDArray[np.int64]
    n_terms: int

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return len(self.starts) - 1

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.slopes.shape[1]

    def of_input(self, column: int) -> tuple[NDArray[np.int64], FloatArray]:
        """The terms that an input occurs in, and their derivatives by it, shape (n, n_points)."""
        rows = slice(self.starts[column], self.starts[column + 1])
        return self.terms[rows], self.slopes[rows]

    def dense(self, support: Sequence[int]) -> tuple[NDArray[np.int64], FloatArray]:
        """The inputs that occur in a few terms, and the terms' gradients, shape (n_points, n_used,
        m).
        """
        rows = [np.flatnonzero(self.terms == term) for term in support]
        columns = [np.searchsorted(self.starts, row, side="right") - 1 for row in rows]
        used = np.unique(np.concatenate(columns))
        result = np.zeros((len(used), len(support), self.n_points))
        for place, (row, column) in enumerate(zip(rows, columns, strict=True)):
            result[np.searchsorted(used, column), place] = self.slopes[row]
        return used, np.ascontiguousarray(result.transpose(2, 0, 1))

    def at(self, points: NDArray[np.int64]) -> "Jacobian":
        """The same terms at some of the points."""
        return Jacobian(
            np.ascontiguousarray(self.slopes[:, points]), self.terms, self.starts, self.n_terms
        )

    def select(self, kept: NDArray[np.int64]) -> "Jacobian":
        """Some of the terms, renumbered in the order given (ascending)."""
        place = np.full(self.n_terms, -1)
        place[kept] = np.arange(len(kept))
        rows = np.flatnonzero(place[self.terms] >= 0)
        starts = np.searchsorted(rows, self.starts)
        return Jacobian(self.slopes[rows], place[self.terms[rows]], starts, len(kept))


def differentiate(
    trees: list[Tree], points: FloatArray, scale: FloatArray
) -> tuple[Jacobian, NDArray[np.int64]]:
    """Gradients of terms in scaled coordinates.

    Parameters
    ----------
    trees : list of Tree
    points : ndarray, shape (n_points, n_inputs)
    scale : ndarray, shape (n_inputs,)
        The spread of each input; gradients are multiplied by it.

    Returns
    -------
    jacobian : Jacobian
    kept : ndarray of int64
        The terms that it holds: those that are finite at every point and not constant.
    """
    n_points, n_inputs = points.shape
    chunk = max(1, _CHUNK_BYTES // (8 * n_points * (n_inputs + 2)))
    rows: list[FloatArray] = []
    owners: list[NDArray[np.int64]] = []
    columns: list[NDArray[np.int64]] = []
    kept: list[int] = []
    for start in range(0, len(trees), chunk):
        _, gradients, status = values_and_gradients(
            compile_tapes(trees[start : start + chunk]), points
        )
        gradients *= scale
        fine = ((status == FINE) | (status == ZERO_GRADIENT)).all(axis=1) & np.isfinite(
            gradients
        ).all(axis=(1, 2))
        touched = fine[:, None] & (gradients != 0).any(axis=1)
        term, column = np.nonzero(touched)
        rows.append(gradients[term, :, column])
        owners.append(term + start)
        columns.append(column)
        kept += (np.flatnonzero(touched.any(axis=1)) + start).tolist()
    owner, column = np.concatenate(owners), np.concatenate(columns)
    order = np.lexsort((owner, column))
    chosen = np.array(kept, dtype=np.int64)
    slopes = np.concatenate(rows)[order]
    starts = np.searchsorted(column[order], np.arange(n_inputs + 1))
    return Jacobian(slopes, np.searchsorted(chosen, owner[order]), starts, len(chosen)), chosen
