"""How well a concept's directions agree with the network's on held-out points."""

import numpy as np
from numpy.typing import NDArray

from closedform.alignment.misalignment import chance_level, paper_loss, weighted_mean
from closedform.alignment.scores import field_misalignment
from closedform.alignment.tolerances import TRIM
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Alignment

N_RESAMPLES = 1000
CONFIDENCE = 0.95
QUANTILES = (0.5, 0.9, 0.99)


def measure_alignment(
    expression: Expression,
    field: GradientField,
    labels: NDArray[np.int64],
    rng: np.random.Generator,
) -> Alignment:
    """Compare a concept with a field.

    Parameters
    ----------
    expression : Expression
    field : GradientField
        Held-out points.
    labels : ndarray of int, shape (n_points,)
        Regions, from `closedform.judge.regions.divide`.
    rng : Generator
        For the bootstrap.
    """
    values = field_misalignment(expression, field)
    low, high = interval(values, field.weights, labels, rng)
    kept = np.where(values <= np.quantile(values[field.weights > 0], 1 - TRIM), field.weights, 0.0)
    usable = field.weights > 0
    quantiles = (
        np.quantile(angles_in_degrees(values[usable]), QUANTILES)
        if usable.any()
        else np.full(len(QUANTILES), 90.0)
    )
    loss = None
    if field.rank == 1:
        gradients = expression.rename(field.names).gradient(field.points[usable])
        loss = paper_loss(gradients, field.directions[usable, :, 0])
    return Alignment(
        misalignment=weighted_mean(values, field.weights),
        low=low,
        high=high,
        trimmed=weighted_mean(values, kept),
        trimmed_high=interval(values, kept, labels, rng)[1],
        chance=chance_level(field.rank, field.tangent.rank),
        paper_loss=loss,
        angles=tuple(quantiles.tolist()),
        n_points=int(usable.sum()),
    )


def interval(
    values: FloatArray, weights: FloatArray, labels: NDArray[np.int64], rng: np.random.Generator
) -> tuple[float, float]:
    """Bootstrap interval of a weighted mean, with regions drawn again as a whole.

    Examples
    --------
    >>> values, labels = np.repeat([0.0, 1.0], 50), np.repeat(np.arange(10), 10)
    >>> low, high = interval(values, np.ones(100), labels, np.random.default_rng(0))
    >>> low < 0.3 < 0.7 < high
    True
    """
    usable = labels >= 0
    count = int(labels.max(initial=-1)) + 1
    if count == 0:
        return 1.0, 1.0
    total = np.bincount(labels[usable], weights[usable], minlength=count)
    lost = np.bincount(labels[usable], (weights * values)[usable], minlength=count)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=N_RESAMPLES)
    means = (drawn @ lost) / np.maximum(drawn @ total, np.finfo(float).tiny)
    tail = (1 - CONFIDENCE) / 2
    return float(np.quantile(means, tail)), float(np.quantile(means, 1 - tail))


def angles_in_degrees(misalignments: FloatArray) -> FloatArray:
    """Angles whose squared sines these are."""
    return np.degrees(np.arcsin(np.sqrt(np.clip(misalignments, 0.0, 1.0))))
