"""Where two formulas point most differently: data there would decide between them."""

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable

N_PROBES = 4000
"""Points between those of the data at which formulas are compared: some milliseconds for two
formulas of five inputs."""


def most_different(
    first: Expression, second: Expression, field: GradientField, rng: np.random.Generator
) -> tuple[tuple[tuple[str, float], ...], float]:
    """Where, inside the hull of the data, the formulas point most differently.

    Beyond the hull nobody knows what can be measured: a box around concentrations holds negative
    ones. Where a gradient nearly vanishes its direction is arbitrary, so such places do not count.
    On a curved surface, whose points cannot be drawn, the data itself is searched.
    """
    data = field.points[field.weights > 0]
    probes = data
    if field.tangent.basis is None and len(data):
        count = affordable(N_PROBES, data.shape[1])
        ends = data[rng.integers(len(data), size=(2, count))]
        share = rng.uniform(size=(count, 1))
        probes = np.vstack([data, share * ends[0] + (1 - share) * ends[1]])
    angles = angles_between(first, second, probes, field.scale)
    if not len(angles):
        return (), 0.0
    place = int(angles.argmax())
    return tuple(zip(field.names, (float(f"{v:.4g}") for v in probes[place]), strict=True)), float(
        angles[place]
    )


def angles_between(
    first: Expression, second: Expression, points: FloatArray, scale: FloatArray
) -> FloatArray:
    """Angles in degrees; 0 where either gradient is not finite or nearly vanishes."""
    with np.errstate(all="ignore"):
        a, b = (expression.gradient(points) * scale for expression in (first, second))
        sizes = [np.linalg.norm(g, axis=1) for g in (a, b)]
        usable = np.isfinite(sizes[0]) & np.isfinite(sizes[1])
        if usable.any():
            for size in sizes:
                usable &= size > 0.05 * np.median(size[np.isfinite(size)])
        cosine = np.abs(np.einsum("nd,nd->n", a, b)) / (sizes[0] * sizes[1])
        return np.where(usable, np.degrees(np.arccos(np.clip(cosine, 0.0, 1.0))), 0.0)
