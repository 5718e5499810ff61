"""Gradients of a library's terms, and their moments: all that the search over supports needs to
know about the data. A term touches few inputs, so gradients are kept sparse.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.kernel import FINE, ZERO_GRADIENT, values_and_gradients
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree
from closedform.field.gradient_field import GradientField

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


_CHUNK = 256
_COLLINEAR = 1e-9
_CONSTANT = 1e-12


@dataclass(frozen=True, slots=True)
class Moments:
    """Second moments of the terms' gradients, for terms of unit length.

    Attributes
    ----------
    lost : ndarray, shape (n_terms, n_terms)
        Of the parts outside the network's directions: A of the eigenproblem.
    whole : ndarray, shape (n_terms, n_terms)
        Of the whole gradients in the tangent space: B, with a unit diagonal.
    single : ndarray, shape (n_terms,)
        Misalignment of each term alone.
    """

    lost: FloatArray
    whole: FloatArray
    single: FloatArray

    def select(self, kept: NDArray[np.int64]) -> "Moments":
        """Some of the terms."""
        block = np.ix_(kept, kept)
        return Moments(self.lost[block], self.whole[block], self.single[kept])


# High powers of inputs in extreme units overflow or vanish, and their terms are dropped at the end.
@np.errstate(all="ignore")
def compute_moments(jacobian: Jacobian, field: GradientField) -> tuple[Moments, NDArray[np.int64]]:
    """Moments of the terms that vary on the data, each function once.

    Every point counts by its weight over the squared length of the library's Jacobian there, so
    that a few points far out do not decide. Terms that share no input have no moment without the
    network's directions; with a tangent space, the few directions that it takes out, or the few
    that it leaves, are summed instead of all.

    Parameters
    ----------
    jacobian : Jacobian
        At the field's points.
    field : GradientField
        All its weights are positive.

    Returns
    -------
    moments : Moments
    kept : ndarray of int64
        The terms that are left: constants on the data are dropped, and of terms that are multiples
        of each other on the data all but the first.
    """
    n_terms = jacobian.n_terms
    counts = field.weights / field.weights.sum()
    weights = counts / _sizes(jacobian) ** 2
    through, signs = _projections(field)
    whole, inside = np.zeros((n_terms, n_terms)), np.zeros((n_terms, n_terms))
    single, ambient = np.zeros(n_terms), np.zeros(n_terms)
    is_sparse = signs[0] < 0 or through.shape[2] == 0
    if is_sparse:
        _add_sparse(whole, jacobian, weights)
    concept = field.tangent.ambient(field.frames)
    for start in range(0, jacobian.n_points, _CHUNK):
        part = slice(start, start + _CHUNK)
        squared = _squared_lengths(jacobian, part)
        ambient += weights[part] @ squared
        root = np.sqrt(weights[part])[:, None]
        length = squared.copy() if is_sparse else np.zeros_like(squared)
        for m in range(through.shape[2]):
            along = _components(jacobian, through[..., m], part)
            length += signs[0] * along * along
            along *= root
            whole += signs[0] * (along.T @ along)
        share = np.zeros_like(squared)
        for m in range(field.rank):
            along = _components(jacobian, concept[:, :, m], part)
            share += along * along
            along *= root
            inside += along.T @ along
        with np.errstate(all="ignore"):
            ratio = np.where(length > _CONSTANT * squared, 1 - np.minimum(share / length, 1.0), 1.0)
        single += counts[part] @ ratio
    np.subtract(whole, inside, out=inside)
    return _normalised(whole, inside, single, ambient)


def _normalised(
    whole: FloatArray, lost: FloatArray, single: FloatArray, ambient: FloatArray
) -> tuple[Moments, NDArray[np.int64]]:
    squared = np.diagonal(whole).copy()
    varies = np.flatnonzero(np.isfinite(squared) & (squared > _CONSTANT * ambient) & (squared > 0))
    lengths = np.sqrt(squared[varies])
    if len(varies) < len(squared):
        block = np.ix_(varies, varies)
        whole, lost = whole[block], lost[block]
    for matrix in (whole, lost):
        matrix /= lengths
        matrix /= lengths[:, None]
    different = _first_of_each(whole)
    moments = Moments(lost, whole, single[varies])
    return (moments if len(different) == len(varies) else moments.select(different)), varies[
        different
    ]


def _first_of_each(whole: FloatArray) -> NDArray[np.int64]:
    """Terms of which no earlier one is a multiple."""
    dropped: set[int] = set()
    for row in range(len(whole)):
        if row not in dropped:
            others = whole[row, row + 1 :]
            dropped.update(
                (
                    np.flatnonzero((others > 1 - _COLLINEAR) | (others < _COLLINEAR - 1)) + row + 1
                ).tolist()
            )
    return np.array([k for k in range(len(whole)) if k not in dropped], dtype=np.int64)


def _sizes(jacobian: Jacobian) -> FloatArray:
    """How long the library's Jacobian is at each point, for terms of unit median length; no term
    counts more than ten times.
    """
    lengths = _lengths(jacobian)
    middle = np.median(lengths, axis=1, keepdims=True)
    lengths /= np.where(middle > 0, middle, lengths.mean(axis=1, keepdims=True))
    np.minimum(lengths, 10.0, out=lengths)
    size = np.sqrt(np.einsum("kn,kn->n", lengths, lengths) / max(jacobian.n_terms, 1))
    return np.where(size > 0, size, 1.0)


def _lengths(jacobian: Jacobian) -> FloatArray:
    """Length of every term's gradient, shape (n_terms, n_points)."""
    squared = np.zeros((jacobian.n_terms, jacobian.n_points))
    for column in range(jacobian.n_inputs):
        terms, slopes = jacobian.of_input(column)
        squared[terms] += slopes * slopes
    return np.sqrt(squared, out=squared)


def _projections(field: GradientField) -> tuple[FloatArray, tuple[int, ...]]:
    """Directions, shape (n_points or 1, n_inputs, m), whose moments are added to nothing (+1) or
    taken from the whole (-1).
    """
    basis = field.tangent.basis
    n_inputs = field.points.shape[1]
    if basis is None:
        return np.zeros((1, n_inputs, 0)), (-1,)
    spaces = basis if basis.ndim == 3 else basis[None]
    rank = field.tangent.rank
    if rank <= n_inputs - rank:
        return spaces, (1,)
    normals = np.linalg.svd(spaces, full_matrices=True)[0][:, :, rank:]
    return normals, (-1,)


def _add_sparse(whole: FloatArray, jacobian: Jacobian, weights: FloatArray) -> None:
    for column in range(jacobian.n_inputs):
        terms, slopes = jacobian.of_input(column)
        scaled = slopes * np.sqrt(weights)
        whole[np.ix_(terms, terms)] += scaled @ scaled.T


def _squared_lengths(jacobian: Jacobian, part: slice) -> FloatArray:
    """Of every term's gradient, shape (n_chunk, n_terms)."""
    result = np.zeros((jacobian.n_terms, len(range(*part.indices(jacobian.n_points)))))
    for column in range(jacobian.n_inputs):
        terms, slopes = jacobian.of_input(column)
        result[terms] += slopes[:, part] ** 2
    return result.T


def _components(jacobian: Jacobian, directions: FloatArray, part: slice) -> FloatArray:
    """Every term's gradient along one direction at each point, shape (n_chunk, n_terms)."""
    chosen = directions[part] if len(directions) > 1 else directions
    result = np.zeros((jacobian.n_terms, len(range(*part.indices(jacobian.n_points)))))
    for column in range(jacobian.n_inputs):
        if not chosen[:, column].any():
            continue
        terms, slopes = jacobian.of_input(column)
        result[terms] += slopes[:, part] * chosen[:, column]
    return result.T
