"""What every field must satisfy, whether it is built, read from a file or cut from another."""

from typing import TYPE_CHECKING

import numpy as np

from closedform.errors import ShapeError
from closedform.field.arguments import check_points, check_weights, checked_names
from closedform.field.errors import FieldError
from closedform.field.real_numbers import check_orthonormal, check_range
from closedform.field.tolerances import LARGEST

if TYPE_CHECKING:
    from closedform.field.gradient_field import GradientField


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
    if field.slopes is not None:
        check_range(field.slopes, "slopes")
    counted = field.weights > 0
    check_orthonormal(field.directions[counted], "directions")
    check_orthonormal(field.frames[counted], "frames")


def _check_shapes(field: "GradientField") -> None:
    n_points, n_inputs = field.points.shape
    rank = field.directions.shape[-1] if field.directions.ndim else 0
    expected = {
        "directions": (n_points, n_inputs, rank),
        "frames": (n_points, field.tangent.rank, rank),
        "weights": (n_points,),
        "names": (n_inputs,),
        "scale": (n_inputs,),
    }
    for name, shape in expected.items():
        found = np.shape(getattr(field, name))
        if found != shape:
            raise ShapeError(
                f"The field's {name} have shape {found}; with these points they need {shape}."
            )
    if not 1 <= rank <= field.tangent.rank:
        raise ShapeError(
            f"The field has rank {rank} in a tangent space of rank {field.tangent.rank}."
        )
    if field.latents is not None and (field.latents.ndim != 2 or len(field.latents) != n_points):
        raise ShapeError(f"Latents have shape {field.latents.shape}; pass ({n_points}, n_latents).")
    _check_tangent(field)


def _check_tangent(field: "GradientField") -> None:
    (n_points, n_inputs), tangent = field.points.shape, field.tangent
    if tangent.n_inputs != n_inputs:
        raise ShapeError(
            f"The tangent space has {tangent.n_inputs} inputs; the field has {n_inputs}."
        )
    if tangent.basis is not None and tangent.basis.ndim == 3 and len(tangent.basis) != n_points:
        raise ShapeError(
            f"Tangent spaces are given at {len(tangent.basis)} points; the field has {n_points}."
        )
    if tangent.is_defined is None:
        return
    if tangent.is_defined.shape != (n_points,):
        shape = tangent.is_defined.shape
        raise ShapeError(
            f"is_defined of the tangent space has shape {shape}; it needs ({n_points},)."
        )
    lost = int((field.weights[~tangent.is_defined] > 0).sum())
    if lost:
        raise FieldError(f"{lost} points count although their tangent space is not defined.")
