"""What a formula leaves over: residual directions, and how much of them neighbours share.

Noise is independent from point to point; a formula that is wrong, and a network that is biased, are
wrong in the same way at neighbouring points.
"""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import nearest_others


def residuals(expression: Expression, field: GradientField) -> tuple[FloatArray, FloatArray]:
    """The part of a formula's unit gradient that lies outside the field's directions.

    Returns
    -------
    left : ndarray, shape (n_points, n_tangent)
        Its squared length is the misalignment. NaN where the formula has no gradient. Its sign is
        that of a gradient that points along the first latent's.
    lengths : ndarray, shape (n_points,)
        Of the gradient in the tangent space.
    """
    with np.errstate(all="ignore"):
        gradients = field.project(expression.rename(field.names).gradient(field.points))
        lengths = np.linalg.norm(gradients, axis=1)
        along = np.einsum("ndk,nd->nk", field.frames, gradients)
        sign = np.where(along[:, :1] < 0, -1.0, 1.0)
        left = gradients - np.einsum("ndk,nk->nd", field.frames, along)
        return sign * left / lengths[:, None], lengths * sign[:, 0]


def curved_share(expression: Expression, field: GradientField) -> float:
    """Share of what a formula leaves over that squares and products of inputs explain, fitted on
    every second point and judged on the others.

    Only what bends counts: the square of the formula itself, whose gradient is along the formula's,
    would explain any noise where the formula has one sign.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    >>> bent = np.array([1.0, 2.0]) + 0.1 * points
    >>> field = cf.GradientField.from_arrays(points, bent, names=["x", "y"], tangent="none")
    >>> curved_share(cf.parse("x + 2*y", names=["x", "y"]), field) > 0.99
    True
    """
    left, lengths = residuals(expression, field)
    own = field.project(expression.rename(field.names).gradient(field.points)) / lengths[:, None]
    first, second = np.triu_indices(len(field.names))
    columns = []
    for i, j in zip(first, second, strict=True):
        gradients = np.zeros_like(field.points)
        gradients[:, i] += field.points[:, j]
        gradients[:, j] += field.points[:, i]
        slopes = field.project(gradients) / lengths[:, None]
        slopes -= np.einsum("nd,nd->n", slopes, own)[:, None] * own
        along = np.einsum("ndk,nd->nk", field.frames, slopes)
        columns.append(slopes - np.einsum("ndk,nk->nd", field.frames, along))
    table = np.stack(columns, axis=2)
    fine = np.isfinite(left).all(axis=1) & np.isfinite(table).all(axis=(1, 2))
    left, table = left[fine], table[fine]
    n_terms = table.shape[2]
    fitted = np.linalg.lstsq(table[::2].reshape(-1, n_terms), left[::2].ravel(), rcond=None)[0]
    rest = left[1::2] - table[1::2] @ fitted
    return float(1 - (rest**2).sum() / max((left[1::2] ** 2).sum(), np.finfo(float).tiny))


@dataclass(frozen=True, slots=True)
class Split:
    """A misalignment in its two parts.

    Attributes
    ----------
    total : float
    systematic : float
        What neighbours share, not below 0.
    z : float
        The systematic part in its standard errors, were there none.
    """

    total: float
    systematic: float
    z: float


def split(left: FloatArray, scaled: FloatArray) -> Split:
    """Split residuals by what each point shares with its nearest neighbour.

    Parameters
    ----------
    left : ndarray, shape (n_points, n_coordinates)
        In one frame for all points: those of a curved surface in the inputs' coordinates.
    scaled : ndarray, shape (n_points, n_inputs)
        The points, divided by the inputs' spread.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> points = rng.uniform(-1, 1, (2000, 2))
    >>> noise, trend = rng.normal(size=(2, 2000, 1)), np.sin(points[:, :1])
    >>> abs(split(noise[0], points).z) < 3, split(noise[0] + trend, points).z > 5
    (True, True)
    """
    if len(scaled) < 2:
        return Split(float((left**2).sum(axis=1).mean()), 0.0, 0.0)
    nearest = nearest_others(scaled)
    shared = np.einsum("nd,nd->n", left, left[nearest])
    total = float(np.einsum("nd,nd->n", left, left).mean())
    error = float(np.sqrt((shared**2).mean() / len(shared)))
    mean = float(shared.mean())
    return Split(total, min(max(mean, 0.0), total), mean / max(error, np.finfo(float).tiny))
