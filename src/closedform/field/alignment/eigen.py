"""The generalised eigenproblem that gives a sum of terms its coefficients.

For g = sum_k c_k theta_k the part of the gradient that leaves the network's directions is linear in
c. So the best c is the smallest generalised eigenvector of A = sum_i w_i (P J_i)^T (P J_i) against
B = sum_i w_i J_i^T J_i, where J_i holds the terms' gradients in the tangent space and P takes the
network's directions out. A combination on which B vanishes is the zero function on the data: it is
never an answer.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.field.alignment.tolerances import DAMPINGS, DEPENDENT, SETTLED, ZERO_SHARE


def modes(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """All generalised eigenpairs of many small problems, (n_problems, m, m), where b has a unit
    diagonal: values in ascending order, vectors as columns, and whether some combination of the
    terms vanishes, so that the two mean nothing.
    """
    lengths, axes = np.linalg.eigh(b)
    whitened = axes / np.sqrt(np.maximum(lengths, DEPENDENT))[:, None, :]
    values, vectors = np.linalg.eigh(np.swapaxes(whitened, 1, 2) @ a @ whitened)
    return values, whitened @ vectors, lengths[:, 0] < DEPENDENT


def extended_minima(a: FloatArray, b: FloatArray, supports: NDArray[np.int64]) -> FloatArray:
    """Smallest eigenvalue of every support with every further term, (n_supports, n_terms): infinite
    where the term depends on the support on the data, or is in it.
    """
    rows, columns = supports[:, :, None], supports[:, None, :]
    values, vectors, is_dependent = modes(a[rows, columns], b[rows, columns])
    turned = np.swapaxes(vectors, 1, 2)
    along = turned @ b[supports]
    coupling = turned @ a[supports]
    length = 1 - np.einsum("smk,smk->sk", along, along)
    fine = (length > DEPENDENT) & ~is_dependent[:, None]
    length = np.where(fine, length, 1.0)
    corner = (
        np.diagonal(a)
        - 2 * np.einsum("smk,smk->sk", along, coupling)
        + np.einsum("sm,smk,smk->sk", values, along, along)
    )
    coupling -= values[:, :, None] * along
    # Terms that nearly depend on a support have huge entries here; their squares may overflow, and
    # then they are not an answer.
    with np.errstate(over="ignore", invalid="ignore"):
        found = _secular_root(values, coupling * coupling / length[:, None, :], corner / length)
    return np.where(fine & np.isfinite(found), found, np.inf)


def _secular_root(poles: FloatArray, squares: FloatArray, corner: FloatArray) -> FloatArray:
    """Smallest root of corner - t = sum_i squares_i / (poles_i - t), below all poles."""
    first = poles[:, 0, None]
    root = _smaller_root(first, corner, squares[:, 0])
    if poles.shape[1] == 1:
        return root
    for _ in range(4):
        # The first pole is kept, the others' sum is replaced by its tangent, which lies below it:
        # the root is still too large.
        gaps = poles[:, 1:, None] - root[:, None, :]
        ratio = squares[:, 1:] / np.maximum(gaps, 1e-14)
        total = ratio.sum(axis=1)
        slope = (ratio / np.maximum(gaps, 1e-14)).sum(axis=1)
        root = _smaller_root(
            first, (corner - total + slope * root) / (1 + slope), squares[:, 0] / (1 + slope)
        )
    return root


def _smaller_root(pole: FloatArray, corner: FloatArray, square: FloatArray) -> FloatArray:
    """Smaller eigenvalue of [[pole, h], [h, corner]], h^2 = square; 0 if rounded below."""
    total = pole + corner
    spread = np.sqrt((pole - corner) ** 2 + 4 * square)
    return np.maximum(2 * (pole * corner - square) / np.maximum(total + spread, 1e-300), 0.0)


@dataclass(frozen=True, slots=True)
class CoefficientFit:
    """Coefficients of a sum of terms."""

    coefficients: FloatArray  # (m,): of any overall size
    shares: FloatArray  # (m,): size of each term's gradient in the sum, relative to the largest
    misalignment: float  # on the points of the fit


def fit_coefficients(
    jacobians: FloatArray, frames: FloatArray, weights: FloatArray, *, reweightings: int = 3
) -> CoefficientFit:
    """The coefficients of least misalignment, for the gradients of m terms in scaled tangent
    coordinates, (n_points, n_tangent, m).
    """
    # Points last: then every operation runs over long rows.
    whole = np.ascontiguousarray(jacobians.transpose(2, 1, 0))
    bases = np.ascontiguousarray(frames.transpose(2, 1, 0))
    m = len(whole)
    lengths = np.sqrt(np.einsum("mrn,mrn->mn", whole, whole))
    scale = _middle(lengths)
    scale = np.where(scale > 0, scale, np.maximum(np.sqrt((lengths**2).mean(axis=1)), 1e-300))
    whole = whole / scale[:, None, None]
    lengths /= scale[:, None]
    lost = whole.copy()
    for basis in bases:
        lost -= basis * np.einsum("rn,mrn->mn", basis, whole)[:, None]
    sizes = np.einsum("mn,mn->n", lengths, lengths)
    solved = _smallest(whole, lost, weights / np.maximum(sizes, 1e-300) * (sizes > 0))
    best, least = solved, np.inf
    total = max(float(weights.sum()), 1e-300)
    for turn in range(reweightings + 1):
        squared, residual = _squared_sum(whole, solved), _squared_sum(lost, solved)
        ratio = np.where(squared > 0, np.minimum(residual / np.maximum(squared, 1e-300), 1.0), 1.0)
        value = float(ratio @ weights) / total
        before = least
        if value < least:
            best, least = solved, value
        if m == 1 or least < ZERO_SHARE or (turn > 0 and value > SETTLED * before):
            break
        if turn < reweightings:
            damping = DAMPINGS[min(turn, len(DAMPINGS) - 1)] * float(_middle(squared[None])[0])
            solved = _smallest(whole, lost, weights / np.maximum(squared + damping, 1e-300))
    spread = np.abs(best) * (lengths @ weights) / total
    return CoefficientFit(best / scale, spread / max(float(spread.max()), 1e-300), least)


def _middle(rows: FloatArray) -> FloatArray:
    """The median of each row, or the value next to it."""
    half = rows.shape[1] // 2
    return np.partition(rows, half, axis=1)[:, half]


def _squared_sum(rows: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Squared length of a combination at each point."""
    combined = (coefficients @ rows.reshape(len(rows), -1)).reshape(rows.shape[1:])
    return np.einsum("rn,rn->n", combined, combined)


def _smallest(whole: FloatArray, lost: FloatArray, weights: FloatArray) -> FloatArray:
    """Smallest generalised eigenvector, among the combinations that do not vanish."""
    root = np.sqrt(weights)
    _, vectors, whitened, diagonal = _varying(_gram(lost * root), _gram(whole * root))
    vector = whitened @ vectors[:, 0]
    return vector / diagonal / np.linalg.norm(vector)


def varying_modes(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """All generalised eigenpairs of one problem, among the combinations on which b does not vanish:
    values in ascending order, vectors as columns, orthonormal with respect to b.
    """
    values, vectors, whitened, diagonal = _varying(a, b)
    return values, whitened @ vectors / diagonal[:, None]


def _varying(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Eigenpairs in the basis that whitens b, that basis for terms of unit length, and these
    lengths.
    """
    diagonal = np.sqrt(np.maximum(np.diagonal(b), 1e-300))
    b, a = b / np.outer(diagonal, diagonal), a / np.outer(diagonal, diagonal)
    lengths, axes = np.linalg.eigh(b)
    # The terms are chosen by now, so more is kept here than where supports are compared.
    kept = lengths > DEPENDENT * 1e-3
    whitened = axes[:, kept] / np.sqrt(lengths[kept])
    values, vectors = np.linalg.eigh(whitened.T @ a @ whitened)
    return values, vectors, whitened, diagonal


def _gram(rows: FloatArray) -> FloatArray:
    flat = rows.reshape(len(rows), -1)
    return flat @ flat.T
