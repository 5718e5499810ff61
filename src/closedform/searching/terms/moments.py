"""Moments of a library: all that the search over supports needs to know about the data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.field.gradient_field import GradientField
from closedform.searching.terms.jacobian import Jacobian

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
