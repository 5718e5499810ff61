"""Misalignment: how far a candidate's gradient leaves the directions that the network's gradient
spans.

With u the candidate's gradient in the tangent space and Q an orthonormal basis of the network's
gradients there, a point counts 1 - |Q^T u|^2 / |u|^2: 0 is perfect, and neither the sign nor an
invertible distortion of either side matters. A zero or non-finite gradient of the candidate counts
1.
"""

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ShapeError
from closedform.field.alignment.tolerances import TRIM, ZERO_SHARE


def point_misalignment(
    gradients: FloatArray, frames: FloatArray, tangent: FloatArray | None = None
) -> FloatArray:
    """Misalignment at each point.

    gradients (n_points, n_inputs): the candidate's gradients, in the coordinates in which angles
        are compared (scaled inputs).
    frames (n_points, n_inputs, k) or (n_points, n_tangent, k): orthonormal bases of the network's
        gradients: in the inputs' coordinates without a tangent space, in the tangent space's
        coordinates with one.
    tangent (n_inputs, n_tangent) or (n_points, n_inputs, n_tangent): orthonormal basis of the
        data's tangent space, one for all points or one for each.

    Returns an array of shape (n_points,).
    """
    projected = gradients if tangent is None else np.einsum("...dr,...d->...r", tangent, gradients)
    if frames.shape[:2] != projected.shape:
        raise ShapeError(
            f"Frames of shape {frames.shape} do not fit gradients of shape {projected.shape}."
        )
    with np.errstate(all="ignore"):
        total = np.einsum("nd,nd->n", gradients, gradients)
        # Very large and very small gradients would overflow or vanish when squared: only the
        # direction counts.
        unit = projected / np.where(total > 0, np.sqrt(total), 1.0)[:, None]
        norm = np.einsum("nr,nr->n", unit, unit)
        share = np.einsum("nrk,nr->nk", frames, unit)
        aligned = np.einsum("nk,nk->n", share, share) / norm
        good = np.isfinite(total) & (total > 0) & (norm > ZERO_SHARE) & np.isfinite(aligned)
    return np.where(good, np.clip(1 - aligned, 0.0, 1.0), 1.0)


def split(vectors: FloatArray, frames: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The part of vectors (n_points, n) outside orthonormal frames (n_points, n, k), and their
    components along these.
    """
    along = np.einsum("ndk,nd->nk", frames, vectors)
    return vectors - np.einsum("ndk,nk->nd", frames, along), along


def weighted_mean(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Mean with weights; 1 if no point counts."""
    if weights is None:
        return float(values.mean()) if len(values) else 1.0
    total = weights.sum()
    return float(values @ weights / total) if total > 0 else 1.0


def trimmed_mean(
    values: FloatArray, weights: FloatArray | None = None, trim: float = TRIM
) -> float:
    """Weighted mean without the worst points, which hold the share ``trim`` of the weight."""
    weights = np.ones(len(values)) if weights is None else weights
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order])
    limit = (1 - trim) * cumulated[-1]
    kept = np.clip(limit - (cumulated - weights[order]), 0.0, weights[order])
    return weighted_mean(values[order], kept)


def chance_level(rank: int, tangent_rank: int) -> float:
    """Misalignment that a random direction has: 1 - k/r; 0 where every function fits."""
    return max(0.0, 1 - rank / tangent_rank) if tangent_rank else 0.0


def paper_loss(gradients: FloatArray, directions: FloatArray) -> float:
    """The paper's loss for one neuron: mean squared difference of unit vectors, the better of the
    two global signs.

    gradients, directions (n_points, n_inputs): the candidate's and the network's gradients, in the
        user's coordinates and not projected.

    Notes
    -----
    As in the paper's Algorithm 3, a zero gradient stays a zero vector. One that is not finite
    counts like one.
    """
    candidate, target = _unit(gradients), _unit(directions)
    losses = [
        float(np.einsum("nd,nd->n", d := sign * candidate - target, d).mean())
        for sign in (1.0, -1.0)
    ]
    return min(losses)


def _unit(vectors: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        good = np.isfinite(norms) & (norms > 0)
        return np.where(good, vectors / np.where(good, norms, 1.0), 0.0)


def misalignment_of(degrees: float) -> float:
    """The misalignment, 1 - cos^2, of directions that differ by an angle.

    Examples
    --------
    >>> round(misalignment_of(30), 12)
    0.25
    """
    return float(np.sin(np.radians(degrees)) ** 2)
