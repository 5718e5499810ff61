"""Which laws are independent: functions of laws are laws, so their gradients decide."""

from collections.abc import Sequence

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.tangent import TangentSpace

INDEPENDENT = 0.03
"""Least median sine of the angle between a gradient and the span of others. What is found twice
from noisy data differs by less, and what is worth calling another law by more. The median, because
independent functions have parallel gradients somewhere, and dependent ones ill-conditioned spans.
"""

N_POINTS = 400
"""Gradients are compared at so many points."""

_ROUNDING = 1e-9


def unit_gradients(
    concept: Expression, points: FloatArray, scale: FloatArray, tangent: TangentSpace | None = None
) -> FloatArray:
    """Gradients of unit length in scaled (tangent) coordinates; 0 where there is none."""
    with np.errstate(all="ignore"):
        gradients = concept.gradient(points)
        columns = gradients * scale if tangent is None else tangent.coordinates(gradients, scale)
        units = columns / np.linalg.norm(columns, axis=1, keepdims=True)
    return np.where(np.isfinite(units), units, 0.0)


def beyond(units: FloatArray, known: Sequence[FloatArray]) -> FloatArray:
    """The parts of unit vectors, shape (n, r), outside the span of others of the same shape."""
    if not known:
        return units
    spans, sizes, _ = np.linalg.svd(np.stack(known, axis=2), full_matrices=False)
    spans = spans * (sizes > _ROUNDING)[:, None, :]
    return units - np.einsum("nrk,nk->nr", spans, np.einsum("nrk,nr->nk", spans, units))


def is_new(units: FloatArray, known: Sequence[FloatArray]) -> bool:
    """Whether a function is independent of others, by their gradients."""
    left = np.linalg.norm(beyond(units, known), axis=1)
    return float(np.median(left)) > INDEPENDENT


def count_independent(
    concepts: Sequence[Expression],
    points: FloatArray,
    scale: FloatArray,
    tangent: TangentSpace | None = None,
) -> int:
    """The rank of the gradients of functions.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 3))
    >>> texts = ("x*y", "log(x) + log(y)", "z", "x*y*z")
    >>> count_independent([parse(t, ["x", "y", "z"]) for t in texts], points, np.ones(3))
    2
    """
    known: list[FloatArray] = []
    for concept in concepts:
        units = unit_gradients(concept, points, scale, tangent)
        if is_new(units, known):
            known.append(units)
    return len(known)
