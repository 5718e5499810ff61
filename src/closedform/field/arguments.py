"""What a field is built from, checked: shapes, finite numbers, names."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, as_points, frozen
from closedform.errors import ShapeError
from closedform.expressions.input_names import check_names
from closedform.field.errors import FieldError


def checked_arrays(points: ArrayLike, gradients: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Points (n, d) and Jacobians with the latents last, (n, d, m)."""
    array, slopes = np.asarray(points, dtype=np.float64), np.asarray(gradients, dtype=np.float64)
    if array.ndim != 2 or array.size == 0:
        raise ShapeError(f"Points have shape {array.shape}; pass a non-empty array of shape (n_points, n_inputs).")
    n_points, n_inputs = array.shape
    if slopes.ndim == 2:
        slopes = as_points(slopes, n_inputs)[:, None, :]
    if slopes.ndim != 3 or slopes.shape[0] != n_points or slopes.shape[2] != n_inputs or slopes.shape[1] == 0:
        raise ShapeError(
            f"Gradients have shape {np.shape(gradients)}; with points of shape {array.shape} pass ({n_points}, {n_inputs}) for "
            f"one latent or ({n_points}, n_latents, {n_inputs}) for several."
        )
    bad = int((~np.isfinite(array).all(axis=1)).sum())
    if bad:
        raise FieldError(f"{bad} of {n_points} points hold nan or infinite numbers; remove these rows and their gradients.")
    return array, np.swapaxes(slopes, 1, 2)


def checked_names(names: Sequence[str] | None, n_inputs: int) -> tuple[str, ...]:
    """Names of the inputs, as `check_names` takes them; x0, x1 and so on by default."""
    if names is None:
        return tuple(f"x{column}" for column in range(n_inputs))
    labels = tuple(str(name) for name in names)
    if isinstance(names, str) or len(labels) != n_inputs or len(set(labels)) != n_inputs:
        raise FieldError(f"Names are {names!r}; pass {n_inputs} different ones, one for each input.")
    check_names(labels)
    return labels


def checked_weights(weights: ArrayLike | None, n_points: int) -> FloatArray:
    """Weights (n,), finite and not negative; 1 by default."""
    if weights is None:
        return np.ones(n_points)
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n_points,):
        raise ShapeError(f"Weights have shape {array.shape}; pass ({n_points},).")
    if not np.isfinite(array).all() or array.min() < 0:
        raise FieldError(f"The smallest weight is {array.min()}; pass finite weights, 0 or larger.")
    return array


def checked_latents(latents: ArrayLike | None, n_points: int, n_latents: int) -> FloatArray | None:
    """Values of the latents (n, m), read-only."""
    if latents is None:
        return None
    array = np.asarray(latents, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.shape != (n_points, n_latents):
        raise ShapeError(f"Latents have shape {np.shape(latents)}; pass ({n_points}, {n_latents}).")
    return frozen(array)
