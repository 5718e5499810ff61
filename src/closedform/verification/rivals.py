"""Rivals: other formulas that the held-out points cannot tell from the concept, and where one would
have to look to tell.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from closedform.alignment.misalignment import weighted_mean
from closedform.alignment.scores import field_misalignment
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Rival
from closedform.verification.alignment import interval
from closedform.verification.stability import have_same_form

WIDER = 0.5
"""How far beyond the data's range, as a share of it, formulas are compared."""

N_PROBES = 4000

ALIKE = 1.1
"""A misalignment within this factor of the concept's is no difference: a network's bias makes
larger ones.
"""


def find_rivals(
    concept: Expression,
    candidates: Sequence[tuple[Expression, int]],
    field: GradientField,
    labels: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    most: int = 8,
) -> tuple[Rival, ...]:
    """Find the candidates that are not clearly worse than the concept, simplest first.

    Parameters
    ----------
    concept : Expression
    candidates : sequence of (Expression, int)
        Other formulas with their complexities.
    field : GradientField
        Held-out points.
    labels : ndarray of int
        Their regions.
    rng : Generator
    most : int
        How many to report.
    """
    own = field_misalignment(concept, field)
    rivals = []
    for expression, complexity in sorted(candidates, key=lambda pair: (pair[1], str(pair[0]))):
        theirs = field_misalignment(expression, field)
        low, _ = interval(theirs - own, field.weights, labels, rng)
        mean = weighted_mean(theirs, field.weights)
        if low > 0 and mean > ALIKE * weighted_mean(own, field.weights):
            continue
        if have_same_form(concept, expression, field):
            continue
        where, degrees = _most_different(concept, expression, field, rng)
        on_data = float(
            _angles(concept, expression, field.points[field.weights > 0], field.scale).max(
                initial=0.0
            )
        )
        rivals.append(Rival(expression, complexity, mean, low, where, degrees, on_data))
        if len(rivals) == most:
            break
    return tuple(rivals)


def _most_different(
    first: Expression, second: Expression, field: GradientField, rng: np.random.Generator
) -> tuple[tuple[tuple[str, float], ...], float]:
    """Where, in a box around the data, the formulas point most differently.

    Where a gradient nearly vanishes its direction is arbitrary, so such places do not count. On a
    curved surface, whose points cannot be drawn, the data itself is searched.
    """
    data = field.points[field.weights > 0]
    low, high = data.min(axis=0), data.max(axis=0)
    margin = WIDER * (high - low)
    probes = data
    if field.tangent.basis is None:
        probes = np.vstack([data, rng.uniform(low - margin, high + margin, (N_PROBES, len(low)))])
    angles = _angles(first, second, probes, field.scale)
    if not len(angles):
        return (), 0.0
    place = int(angles.argmax())
    return tuple(zip(field.names, (float(f"{v:.4g}") for v in probes[place]), strict=True)), float(
        angles[place]
    )


def _angles(
    first: Expression, second: Expression, points: FloatArray, scale: FloatArray
) -> FloatArray:
    """Angles in degrees; 0 where either gradient is not finite or nearly vanishes."""
    with np.errstate(all="ignore"):
        a, b = (expression.gradient(points) * scale for expression in (first, second))
        sizes = [np.linalg.norm(g, axis=1) for g in (a, b)]
        usable = np.isfinite(sizes[0]) & np.isfinite(sizes[1])
        for size in sizes:
            usable &= (
                size > 0.05 * np.median(size[np.isfinite(size)])
                if np.isfinite(size).any()
                else False
            )
        cosine = np.abs(np.einsum("nd,nd->n", a, b)) / (sizes[0] * sizes[1])
        return np.where(usable, np.degrees(np.arccos(np.clip(cosine, 0.0, 1.0))), 0.0)
