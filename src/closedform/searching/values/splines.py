"""Splines of latents and quantities, and what is left of one outside those of others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline

from closedform.arrays import FloatArray
from closedform.expressions.kernel import values_and_gradients
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree
from closedform.field.alignment.tolerances import ROUNDING
from closedform.field.gradient_field import GradientField
from closedform.searching.structure_search.quantities import Quantity, Yardstick

YARDSTICK, COARSE = Yardstick(effective=20), Yardstick(effective=8)
"""What a network leaves of its values is smooth, and counts as few points; a function of one more
quantity follows it even where few are assumed.
"""

DEGREE, PIECES, INNER = 3, 10, 12
"""Of the splines of a quantity, and pieces of those of what several explain together."""

DEPENDENT = 1e-7
"""Share of its size that a column must have of its own."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Splines of a quantity at the points of a part, weighted and centred."""

    quantity: Quantity
    columns: FloatArray


def smooth_basis(field: GradientField, pieces: int) -> FloatArray:
    """An orthonormal basis of smooth functions of the latents, weighted and centred."""
    assert field.latents is not None
    return orthonormal(
        np.hstack([splines(column, pieces, field.steepness) for column in field.latents.T])
    )


def values_left(trees: Sequence[Tree], field: GradientField) -> list[float]:
    """The share of the latent's variance that a smooth function of each formula leaves over."""
    target = weighted(latent_of(field)[:, None], field.steepness)[:, 0]
    target = target / np.linalg.norm(target)
    found = []
    for values in values_and_gradients(compile_tapes(trees), field.points)[0] if trees else ():
        if not np.isfinite(values).all():
            found.append(np.inf)
            continue
        columns = splines(values, INNER, field.steepness)
        moments = columns.T @ columns
        # Splines add up to 1, and so the centred ones to nothing.
        moments += (ROUNDING + DEPENDENT**2 * np.trace(moments)) * np.eye(len(moments))
        along = columns.T @ target
        found.append(max(1 - float(along @ np.linalg.solve(moments, along)), DEPENDENT))
    return found


def latent_of(field: GradientField) -> FloatArray:
    """The values of the first latent that has several."""
    assert field.latents is not None
    return field.latents[:, int((np.ptp(field.latents, axis=0) > 0).argmax())]


def splines(values: FloatArray, pieces: int, weights: FloatArray) -> FloatArray:
    """Splines with pieces at quantiles, weighted and centred."""
    knots = np.unique(np.quantile(values, np.linspace(0, 1, pieces + 1)))
    if len(knots) <= 1:
        return np.zeros((len(values), 1))
    ends = np.r_[[knots[0]] * DEGREE, knots, [knots[-1]] * DEGREE]
    return weighted(BSpline.design_matrix(values, ends, DEGREE).toarray(), weights)


def weighted(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Columns of mean 0, times the roots of the weights."""
    return (columns - weights @ columns) * np.sqrt(weights)[:, None]


def orthonormal(columns: FloatArray) -> FloatArray:
    """A basis of what columns span."""
    basis, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return basis[:, sizes > DEPENDENT * sizes.max(initial=1e-300)]
