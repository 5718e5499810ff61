"""How much each further term would help a sum: the least misalignment on the line through the sum
and the term.

The eigenproblem's quotient weighs points by the squared gradient, so it can be made small by
functions whose gradient is large at a few well-aligned points and nowhere else. Here every point
counts alike: for each sum and each term the one free coefficient is found by reweighted
eigenproblems of size two.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.basics.compiled import compiled, compiled_part
from closedform.field.alignment.tolerances import DEPENDENT
from closedform.field.gradient_field import GradientField
from closedform.searching.terms.moments import Jacobian

_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Lines:
    """A library's gradients at a few points, prepared for the compiled judge.

    Attributes
    ----------
    starts : ndarray of int64, shape (n_terms + 1,)
        Term t has the rows ``starts[t]`` to ``starts[t + 1] - 1``.
    columns : ndarray of int64, shape (n_rows,)
        The input, or tangent direction, of each row.
    slopes : ndarray, shape (n_rows, n_points)
    inside : ndarray, shape (n_terms, k, n_points)
        Components along the network's directions.
    n_columns : int
    weights : ndarray, shape (n_points,)
        They sum to 1.
    frames : ndarray, shape (n_columns, k, n_points)
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    slopes: FloatArray
    inside: FloatArray
    n_columns: int
    weights: FloatArray
    frames: FloatArray

    def least(
        self, supports: NDArray[np.int64], coefficients: FloatArray, is_wanted: NDArray[np.bool_]
    ) -> FloatArray:
        """Least misalignment of each sum with each term added.

        Parameters
        ----------
        supports : ndarray of int64, shape (n_sums, m)
        coefficients : ndarray, shape (n_sums, m)
        is_wanted : ndarray of bool, shape (n_sums, n_terms)
            Where to look.

        Returns
        -------
        ndarray, shape (n_sums, n_terms)
            Infinite where it is not wanted, where the term is a multiple of the sum, and for single
            terms where it comes before the sum's own: each pair is judged once.
        """
        result = np.empty((len(supports), len(self.starts) - 1))
        _least_on_lines(
            supports, coefficients, is_wanted, self.starts, self.columns, self.slopes, self.inside,
            self.n_columns, self.frames,
            self.weights, result,
        )  # fmt: skip
        return result


def prepare_lines(jacobian: Jacobian, field: GradientField, n_points: int) -> Lines:
    """Take a library's gradients at some of the points, evenly chosen, into tangent coordinates.

    Parameters
    ----------
    jacobian : Jacobian
        At the field's points.
    field : GradientField
    n_points : int
        At most so many points.
    """
    chosen = np.unique(
        np.linspace(0, field.n_points - 1, min(n_points, field.n_points)).astype(np.int64)
    )
    basis = field.tangent.basis
    if basis is None:
        columns = np.repeat(np.arange(jacobian.n_inputs), np.diff(jacobian.starts))
        order = np.argsort(jacobian.terms, kind="stable")
        starts = np.searchsorted(jacobian.terms[order], np.arange(jacobian.n_terms + 1))
        columns, slopes = columns[order], jacobian.slopes[order][:, chosen]
    else:
        rank = field.tangent.rank
        spaces = np.broadcast_to(basis, (field.n_points, *basis.shape[-2:]))[chosen]
        projected = np.zeros((jacobian.n_terms, rank, len(chosen)))
        for column in range(jacobian.n_inputs):
            terms, rows = jacobian.of_input(column)
            projected[terms] += rows[:, None, chosen] * spaces[:, column].T
        starts = np.arange(jacobian.n_terms + 1) * rank
        columns, slopes = (
            np.tile(np.arange(rank), jacobian.n_terms),
            projected.reshape(-1, len(chosen)),
        )
    frames = np.ascontiguousarray(field.frames[chosen].transpose(1, 2, 0))
    inside = np.zeros((jacobian.n_terms, frames.shape[1], len(chosen)))
    owners = np.repeat(np.arange(jacobian.n_terms), np.diff(starts))
    np.add.at(inside, owners, slopes[:, None, :] * frames[columns])
    weights = field.weights[chosen] / field.weights[chosen].sum()
    return Lines(
        starts.astype(np.int64),
        columns.astype(np.int64),
        np.ascontiguousarray(slopes),
        inside,
        frames.shape[0],
        weights,
        frames,
    )


@compiled
def _least_on_lines(
    supports,
    coefficients,
    is_wanted,
    starts,
    columns,
    slopes,
    inside,
    n_columns,
    frames,
    weights,
    result,
):
    n = weights.shape[0]
    n_frames = frames.shape[1]
    gradient = np.empty((n_columns, n))
    along = np.empty((n_frames, n))
    # Squares and products, whole and outside the network's directions: of the sum, of both, of the
    # term.
    whole = np.empty((3, n))
    lost = np.empty((3, n))
    size = np.empty(n)
    for s in range(supports.shape[0]):
        gradient[:] = 0.0
        along[:] = 0.0
        for j in range(supports.shape[1]):
            term = supports[s, j]
            c = coefficients[s, j]
            for row in range(starts[term], starts[term + 1]):
                for i in range(n):
                    gradient[columns[row], i] += c * slopes[row, i]
            for f in range(n_frames):
                for i in range(n):
                    along[f, i] += c * inside[term, f, i]
        _squares(gradient, along, whole[0], lost[0])
        own = 0.0
        for i in range(n):
            own += weights[i] * (min(lost[0, i] / whole[0, i], 1.0) if whole[0, i] > 0.0 else 1.0)
        begin = supports[s, 0] + 1 if supports.shape[1] == 1 else 0
        result[s, :begin] = np.inf
        for term in range(begin, starts.shape[0] - 1):
            if not is_wanted[s, term]:
                result[s, term] = np.inf
                continue
            whole[1] = 0.0
            whole[2] = 0.0
            for row in range(starts[term], starts[term + 1]):
                column = columns[row]
                for i in range(n):
                    slope = slopes[row, i]
                    whole[1, i] += slope * gradient[column, i]
                    whole[2, i] += slope * slope
            for i in range(n):
                lost[1, i] = whole[1, i]
                lost[2, i] = whole[2, i]
            for f in range(n_frames):
                for i in range(n):
                    part = inside[term, f, i]
                    lost[1, i] -= part * along[f, i]
                    lost[2, i] -= part * part
            result[s, term] = _least_on_line(whole, lost, weights, size, own)


@compiled_part
def _squares(gradient, along, whole, lost):
    for i in range(whole.shape[0]):
        total = 0.0
        for column in range(gradient.shape[0]):
            total += gradient[column, i] * gradient[column, i]
        share = 0.0
        for f in range(along.shape[0]):
            share += along[f, i] * along[f, i]
        whole[i] = total
        lost[i] = total - share


@compiled_part
def _least_on_line(whole, lost, weights, size, own):
    n = weights.shape[0]
    first = 0.0
    second = 0.0
    for i in range(n):
        first += np.sqrt(whole[0, i])
        second += np.sqrt(whole[2, i])
    if second == 0.0 or first == 0.0:
        return np.inf
    ratio = first / second
    for i in range(n):
        size[i] = whole[0, i] + ratio * ratio * whole[2, i]
    damping = 0.0
    best = np.inf
    for turn in range(_ROUNDS):
        a11, a12, a22, b11, b12, b22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            w = weights[i] / (size[i] + damping) if size[i] + damping > 0.0 else 0.0
            a11 += w * lost[0, i]
            a12 += w * lost[1, i]
            a22 += w * lost[2, i]
            b11 += w * whole[0, i]
            b12 += w * whole[1, i]
            b22 += w * whole[2, i]
        u, v, is_fine = _smaller_pair(a11, a12, a22, b11, b12, b22)
        if not is_fine:
            return best
        value = 0.0
        for i in range(n):
            size[i] = max(u * u * whole[0, i] + 2 * u * v * whole[1, i] + v * v * whole[2, i], 0.0)
            left = u * u * lost[0, i] + 2 * u * v * lost[1, i] + v * v * lost[2, i]
            share = left / size[i] if size[i] > 0.0 else 1.0
            value += weights[i] * min(max(share, 0.0), 1.0)
        best = min(best, value)
        # Most terms do not help: they are not worth a further round.
        if turn > 0 and best > 0.98 * own:
            break
        damping = 1e-3 * _typical(size)
    return best


@compiled_part
def _typical(size):
    """A mean that a few very large sizes do not move much: each turn counts what is above the last
    mean as that mean.
    """
    n = size.shape[0]
    mean = np.inf
    for _ in range(4):
        total = 0.0
        for i in range(n):
            total += min(size[i], mean)
        mean = total / n
    return mean


@compiled_part
def _smaller_pair(a11, a12, a22, b11, b12, b22):
    """Generalised eigenvector of the smaller eigenvalue of two symmetric matrices; not fine if the
    second is singular.
    """
    determinant = b11 * b22 - b12 * b12
    if not determinant > DEPENDENT * b11 * b22:
        return 0.0, 0.0, False
    middle = 0.5 * (a11 * b22 + a22 * b11 - 2 * a12 * b12)
    spread = np.sqrt(max(middle * middle - determinant * (a11 * a22 - a12 * a12), 0.0))
    value = max((middle - spread) / determinant, 0.0)
    c11, c12, c22 = a11 - value * b11, a12 - value * b12, a22 - value * b22
    if abs(c11) / b11 > abs(c22) / b22:
        return -c12, c11, True
    return c22, -c12, True
