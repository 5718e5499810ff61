"""How well a concept's directions agree with the network's on held-out points."""

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.misalignment import chance_level, paper_loss
from closedform.field.alignment.tolerances import TRIM
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Alignment
from closedform.judge.regions import mean_by_regions

QUANTILES = (0.5, 0.9, 0.99)
"""Of the angles, those that an answer tells."""


def measure_alignment(
    expression: Expression, field: GradientField, labels: NDArray[np.int64]
) -> Alignment:
    """Compare a concept with a field of held-out points.

    labels (n_points,): regions, from `divide`; the interval is two standard errors wide on both
        sides, from how far they differ.
    """
    values = field_misalignment(expression, field)
    mean, error = mean_by_regions(values, field.weights, labels)
    usable = field.weights > 0
    kept = np.where(values <= np.quantile(values[usable], 1 - TRIM), field.weights, 0.0)
    trimmed, trimmed_error = mean_by_regions(values, kept, labels)
    loss = None
    if field.rank == 1:
        gradients = expression.rename(field.names).gradient(field.points[usable])
        loss = paper_loss(gradients, field.directions[usable, :, 0])
    return Alignment(
        misalignment=mean,
        low=max(mean - 2 * error, 0.0),
        high=min(mean + 2 * error, 1.0),
        trimmed=trimmed,
        trimmed_high=min(trimmed + 2 * trimmed_error, 1.0),
        chance=chance_level(field.rank, field.tangent.rank),
        paper_loss=loss,
        angles=tuple(np.quantile(angles_in_degrees(values[usable]), QUANTILES).tolist()),
        n_points=int(usable.sum()),
    )


def angles_in_degrees(misalignments: FloatArray) -> FloatArray:
    """Angles whose squared sines these are."""
    return np.degrees(np.arcsin(np.sqrt(np.clip(misalignments, 0.0, 1.0))))
