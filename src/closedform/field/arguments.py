"""What a field is built from, and what every field must satisfy: shapes, finite numbers, names."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, as_points, frozen
from closedform.errors import FieldError, ShapeError
from closedform.expressions.printing import check_names
from closedform.field.tangent_space import check_orthonormal
from closedform.field.tolerances import LARGEST

if TYPE_CHECKING:
    from closedform.field.gradient_field import GradientField


def real_array(values: ArrayLike, what: str, *, masked: float | None = None) -> FloatArray:
    """An array of real numbers as float64, without guessing what anything else may mean; `masked`
    stands for masked entries, which are otherwise refused.
    """
    if np.ma.isMaskedArray(values):
        hidden = int(np.ma.count_masked(values))
        if hidden and masked is None:
            raise FieldError(f"{hidden} entries of the {what} are masked; remove their rows.")
        values = np.ma.filled(np.ma.asarray(values).astype(np.float64), masked)
    try:
        array = np.asarray(values)
    except ValueError as error:
        message = f"The {what} are not an array ({error}); pass rows of one length."
        raise ShapeError(message) from error
    if array.dtype.kind not in "fiub":
        raise FieldError(f"The {what} are of type {array.dtype}; pass real numbers.")
    # Numbers of higher precision may be too large; they become infinite, and that is told.
    with np.errstate(over="ignore"):
        return array.astype(np.float64, copy=False)


def check_range(values: FloatArray, what: str) -> None:
    """Refuse numbers that are not finite or too large."""
    largest = np.abs(values).max(initial=0.0)
    if not np.isfinite(largest):
        bad = int((~np.isfinite(values)).sum())
        raise FieldError(f"{bad} numbers of the {what} are nan or infinite; remove their rows.")
    if largest > LARGEST:
        raise FieldError(
            f"The {what} reach {largest:.3g}; at most {LARGEST:g} is allowed. Use other units."
        )


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
    array = real_array(np.ones(n_points) if weights is None else weights, "weights", masked=0.0)
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


def check_field(field: "GradientField") -> None:
    """See whether the parts of a field are sound and fit each other."""
    check_points(field.points)
    _check_shapes(field)
    if checked_names(field.names, field.points.shape[1]) != tuple(field.names):
        raise FieldError(f"The names {field.names!r} are not the names of inputs.")
    check_weights(field.weights, len(field.points))
    check_range(field.scale, "scale")
    least = field.scale.min()
    if least < 1 / LARGEST:
        raise FieldError(
            f"The smallest spread is {least:.3g}; at least {1 / LARGEST:g} is needed. "
            f"Use other units."
        )
    if field.latents is not None:
        check_range(field.latents[np.isfinite(field.latents)], "latents")
    for values, what in ((field.slopes, "slopes"), (field.held, "held values")):
        if values is not None:
            check_range(values, what)
    counted = field.weights > 0
    check_orthonormal(field.directions[counted], "directions")
    check_orthonormal(field.frames[counted], "frames")


def _check_shapes(field: "GradientField") -> None:
    (n_points, n_inputs), tangent = field.points.shape, field.tangent
    rank = field.directions.shape[-1] if field.directions.ndim else 0
    expected = {
        "directions": (n_points, n_inputs, rank),
        "frames": (n_points, tangent.rank, rank),
        "weights": (n_points,),
        "names": (n_inputs,),
        "scale": (n_inputs,),
        "held": (n_points,),
    }
    for name, shape in expected.items():
        found = getattr(field, name)
        if found is not None and np.shape(found) != shape:
            raise ShapeError(
                f"The field's {name} have shape {np.shape(found)}; with these points they need "
                f"{shape}."
            )
    if not 1 <= rank <= tangent.rank:
        raise ShapeError(f"The field has rank {rank} in a tangent space of rank {tangent.rank}.")
    if field.latents is not None and (field.latents.ndim != 2 or len(field.latents) != n_points):
        raise ShapeError(f"Latents have shape {field.latents.shape}; pass ({n_points}, n_latents).")
    if tangent.n_inputs != n_inputs:
        raise ShapeError(
            f"The tangent space has {tangent.n_inputs} inputs; the field has {n_inputs}."
        )
    if tangent.basis is not None and tangent.basis.ndim == 3 and len(tangent.basis) != n_points:
        raise ShapeError(
            f"Tangent spaces are given at {len(tangent.basis)} points; the field has {n_points}."
        )
    defined = tangent.is_defined
    if defined is not None and defined.shape != (n_points,):
        raise ShapeError(
            f"is_defined of the tangent space has shape {defined.shape}; it needs ({n_points},)."
        )
    lost = 0 if defined is None else int((field.weights[~defined] > 0).sum())
    if lost:
        raise FieldError(f"{lost} points count although their tangent space is not defined.")
