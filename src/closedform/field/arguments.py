"""What a field is built from, checked: shapes, finite numbers, names."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, as_points, frozen
from closedform.errors import ShapeError
from closedform.expressions.input_names import check_names
from closedform.field.errors import FieldError
from closedform.field.real_numbers import check_range, real_array
from closedform.field.tolerances import LARGEST


def checked_arrays(points: ArrayLike, gradients: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Points (n, d) and Jacobians with the latents last, (n, d, m)."""
    array = real_array(points, "points")
    check_points(array)
    n_points, n_inputs = array.shape
    # A masked gradient is one that is not known, as one that is not finite.
    slopes = real_array(gradients, "gradients", masked=np.nan)
    if slopes.ndim == 2:
        slopes = as_points(slopes, n_inputs)[:, None, :]
    if (
        slopes.ndim != 3
        or slopes.shape[0] != n_points
        or slopes.shape[2] != n_inputs
        or slopes.shape[1] == 0
    ):
        raise ShapeError(
            f"Gradients have shape {np.shape(gradients)}; with points of shape {array.shape} "
            f"pass ({n_points}, {n_inputs}) for "
            f"one latent or ({n_points}, n_latents, {n_inputs}) for several."
        )
    return array, np.swapaxes(_in_range(slopes), 1, 2)


def check_points(points: FloatArray) -> None:
    """See whether points are a table of finite numbers that formulas can be computed of."""
    if points.ndim != 2 or points.size == 0:
        raise ShapeError(
            f"Points have shape {points.shape}; pass a non-empty array of shape (n_points, "
            f"n_inputs)."
        )
    bad = int((~np.isfinite(points).all(axis=1)).sum())
    if bad:
        raise FieldError(
            f"{bad} of {len(points)} points hold nan or infinite numbers; remove these rows "
            f"and their gradients."
        )
    check_range(points, "points")


def _in_range(gradients: FloatArray) -> FloatArray:
    """Gradients whose squares neither overflow nor vanish: only their directions matter."""
    finite = np.abs(gradients[np.isfinite(gradients)])
    largest = finite.max(initial=0.0)
    if largest == 0 or 1 / LARGEST <= largest <= LARGEST:
        return gradients
    # A power of two, which changes no digit.
    return np.ldexp(gradients, -int(np.frexp(largest)[1]))


def checked_names(names: Sequence[str] | None, n_inputs: int) -> tuple[str, ...]:
    """Names of the inputs, as `check_names` takes them; x0, x1 and so on by default."""
    if names is None:
        return tuple(f"x{column}" for column in range(n_inputs))
    labels = tuple(str(name) for name in names)
    if isinstance(names, str) or len(labels) != n_inputs or len(set(labels)) != n_inputs:
        raise FieldError(
            f"Names are {names!r}; pass {n_inputs} different ones, one for each input."
        )
    check_names(labels)
    return labels


def checked_weights(weights: ArrayLike | None, n_points: int) -> FloatArray:
    """Weights (n,), finite and not negative; 1 by default."""
    if weights is None:
        return np.ones(n_points)
    array = real_array(weights, "weights", masked=0.0)
    check_weights(array, n_points)
    return array


def check_weights(weights: FloatArray, n_points: int) -> None:
    """See whether there is a weight for each point, finite and not negative."""
    if weights.shape != (n_points,):
        raise ShapeError(f"Weights have shape {weights.shape}; pass ({n_points},).")
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise FieldError(
            f"The smallest weight is {weights.min()}; pass finite weights, 0 or larger."
        )
    check_range(weights, "weights")
    least = weights[weights > 0].min(initial=1.0)
    if least < 1 / LARGEST:
        raise FieldError(f"The smallest weight above 0 is {least:.3g}; pass larger ones, or 0.")


def checked_latents(latents: ArrayLike | None, n_points: int, n_latents: int) -> FloatArray | None:
    """Values of the latents (n, m), read-only."""
    if latents is None:
        return None
    array = real_array(latents, "latents", masked=np.nan)
    if array.ndim == 1:
        array = array[:, None]
    if array.shape != (n_points, n_latents):
        raise ShapeError(f"Latents have shape {np.shape(latents)}; pass ({n_points}, {n_latents}).")
    return frozen(array)
