"""Whether smoothing helps, judged where it could cheat: against the raw directions of points that
were held out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from closedform.arrays import FloatArray
from closedform.basics.randomness import as_generator
from closedform.errors import ShapeError
from closedform.field.tangent_space import TangentSpace

Predict = Callable[[FloatArray], FloatArray]
Fit = Callable[[FloatArray, FloatArray], Predict]

FOLDS = 5
"""Parts of the data, each held out once."""


@dataclass(frozen=True, slots=True)
class SmoothingGain:
    """How well held-out raw directions are foretold.

    Attributes
    ----------
    raw, smoothed : float
        Mean misalignment (0 is perfect) of what was fitted to raw and to smoothed gradients.
    """

    raw: float
    smoothed: float

    @property
    def ratio(self) -> float:
        """How many times smoothing lowers it; above 1 it helps."""
        return self.raw / self.smoothed if self.smoothed > 0 else (1.0 if self.raw == 0 else np.inf)


def smoothing_gain(
    points: FloatArray,
    raw: FloatArray,
    smoothed: FloatArray,
    *,
    scale: FloatArray,
    tangent: TangentSpace | None = None,
    fit: Fit | None = None,
    rng: int | np.random.Generator | None = None,
) -> SmoothingGain:
    """Compare what raw and what smoothed gradients teach about held-out points.

    At the same point a smoothed gradient always looks worse than the raw one, for it is compared
    with the raw one. So a model is fitted to the gradients of some points and judged on the raw
    directions of the others.

    Parameters
    ----------
    points : ndarray, shape (n_points, n_inputs)
    raw, smoothed : ndarray, shape (n_points, n_latents, n_inputs)
        Jacobians.
    scale : ndarray, shape (n_inputs,)
        Spread of each input.
    tangent : TangentSpace, optional
        Where the data varies; directions are compared inside it. Default: everywhere.
    fit : callable, optional
        ``fit(points, jacobians)`` returns a function from points to Jacobians, such as the gradient
        of a fitted formula. Default: a local linear model over the nearest points.
    rng : int, numpy.random.Generator or None
        Seed of the split.

    Returns
    -------
    SmoothingGain

    Raises
    ------
    ShapeError
        If the arrays do not belong together, or there are too few points.
    """
    if raw.shape != smoothed.shape or len(points) != len(raw) or raw.ndim != 3:
        raise ShapeError(
            f"Shapes do not belong together: points {points.shape}, raw {raw.shape}, "
            f"smoothed {smoothed.shape}."
        )
    if len(points) < 10 * FOLDS:
        raise ShapeError(
            f"{len(points)} points are too few to hold some out; at least {10 * FOLDS} are needed."
        )
    chosen = fit if fit is not None else _local_linear(scale)
    space = TangentSpace("none", points.shape[1]) if tangent is None else tangent
    fold = as_generator(rng).permutation(len(points)) % FOLDS
    scores: dict[str, list[FloatArray]] = {"raw": [], "smoothed": []}
    for part in range(FOLDS):
        held = np.flatnonzero(fold == part)
        kept = np.flatnonzero(fold != part)
        for name, jacobians in (("raw", raw), ("smoothed", smoothed)):
            foretold = chosen(points[kept], jacobians[kept])(points[held])
            scores[name].append(_misalignment(foretold, raw[held], scale, space.subset(held)))
    return SmoothingGain(
        *(float(np.nanmean(np.concatenate(scores[name]))) for name in ("raw", "smoothed"))
    )


def _misalignment(
    found: FloatArray, truth: FloatArray, scale: FloatArray, space: TangentSpace
) -> FloatArray:
    """1 - the mean squared cosine between the row spaces at each point; nan where the true one is
    not defined.
    """
    first, second = _frames(found, scale, space), _frames(truth, scale, space)
    overlap = (np.einsum("nrk,nrl->nkl", first, second) ** 2).sum(axis=(1, 2)) / first.shape[2]
    return np.where(
        np.isfinite(second).all(axis=(1, 2)),
        np.where(np.isfinite(overlap), 1 - overlap, 1.0),
        np.nan,
    )


def _frames(jacobians: FloatArray, scale: FloatArray, space: TangentSpace) -> FloatArray:
    """Orthonormal bases of the row spaces in tangent coordinates, shape (n_points, rank,
    n_latents); nan where undefined.
    """
    columns = space.coordinates(np.swapaxes(jacobians, 1, 2), scale)
    usable = np.isfinite(columns).all(axis=(1, 2)) & (
        np.linalg.norm(columns, axis=1).min(axis=1) > 0
    )
    frames = np.full(columns.shape, np.nan)
    frames[usable] = np.linalg.qr(columns[usable])[0]
    return frames


def _local_linear(scale: FloatArray) -> Fit:
    """Normalised Jacobians as a linear function of position over the nearest points."""

    def fit(points: FloatArray, jacobians: FloatArray) -> Predict:
        scaled = jacobians * scale
        norm = np.linalg.norm(scaled, axis=(1, 2), keepdims=True)
        usable = np.isfinite(norm[:, 0, 0]) & (norm[:, 0, 0] > 0)
        targets = (jacobians / np.where(norm > 0, norm, 1.0))[usable]
        places = (points / scale)[usable]
        tree = KDTree(places)
        neighbours = min(3 * (points.shape[1] + 1), len(places))

        def predict(wanted: FloatArray) -> FloatArray:
            nearest = np.asarray(tree.query(wanted / scale, k=neighbours)[1]).reshape(
                len(wanted), neighbours
            )
            found = np.empty((len(wanted), *targets.shape[1:]))
            for row, near in enumerate(nearest):
                design = np.column_stack([np.ones(neighbours), places[near] - wanted[row] / scale])
                solution = np.linalg.lstsq(
                    design, targets[near].reshape(neighbours, -1), rcond=1e-6
                )[0]
                found[row] = solution[0].reshape(targets.shape[1:])
            return found

        return predict

    return fit
