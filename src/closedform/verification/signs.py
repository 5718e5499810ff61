"""Whether a formula's gradient keeps one sign along the network's.

Directions alone cannot tell g from g**2, whose gradients are parallel. But where g changes its
sign, the gradient of g**2 turns round and the network's does not: phi would turn back, and has no
inverse.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.alignment.misalignment import TRIM
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import nearest_others


@dataclass(frozen=True, slots=True)
class Reversal:
    """Where a formula's gradient points against the network's.

    Attributes
    ----------
    share : float
        Of the points; at most one half, for the formula may as well be turned round.
    z : float
        By how many standard errors neighbours share it, were it independent from point to point.
    """

    share: float
    z: float

    def is_fold(self, significance: float, allowed: float = TRIM) -> bool:
        """Whether phi turns back: at more points than may be bad anyway, and not by accident."""
        return self.share > allowed and self.z >= significance


def signs_along(expression: Expression, field: GradientField) -> FloatArray:
    """The sign of a formula's gradient along the field's direction, that of most points being 1;
    0 where there is none.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 2, (300, 2))
    >>> field = cf.GradientField.from_arrays(points, points[:, ::-1], names=["x", "y"])
    >>> folded = signs_along(cf.parse("x**2*y**2"), field)
    >>> bool(np.all((folded < 0) == (points.prod(axis=1) < 0)))
    True
    """
    with np.errstate(all="ignore"):
        gradients = field.project(expression.rename(field.names).gradient(field.points))
        along = np.einsum("nd,nd->n", field.frames[:, :, 0], gradients)
    return most_positive(np.where(field.weights > 0, along, 0.0))


def most_positive(values: FloatArray) -> FloatArray:
    """Signs, turned so that most of them are 1; 0 for what is not a number."""
    signs = np.sign(np.nan_to_num(values))
    return signs if signs.sum() >= 0 else -signs


def measure_reversals(
    signs: Sequence[FloatArray] | FloatArray, field: GradientField
) -> list[Reversal]:
    """How much formulas are turned round, each given by its signs along the field.

    Signs that are arbitrary differ from point to point; those of a fold are the same on either side
    of it, which neighbours show.
    """
    if field.n_points < 2:
        return [Reversal(0.0, 0.0) for _ in signs]
    scaled = field.points / field.scale
    nearest = nearest_others(scaled)
    return [_reversal(each, nearest) for each in signs]


def folds(signs: FloatArray, field: GradientField, significance: float) -> list[bool]:
    """Which of some formulas fold the concept; none where the field's signs mean nothing."""
    if not field.is_signed:
        return [False] * len(signs)
    return [each.is_fold(significance) for each in measure_reversals(signs, field)]


def _reversal(signs: FloatArray, nearest: NDArray[np.int64]) -> Reversal:
    counted = signs != 0
    against = np.where(signs < 0, 1.0, 0.0)
    share = float(against[counted].mean()) if counted.any() else 0.0
    left = np.where(counted, against - share, 0.0)
    shared = left * left[nearest]
    error = np.sqrt((shared**2).sum())
    return Reversal(share, float(shared.sum() / max(error, np.finfo(float).tiny)))
