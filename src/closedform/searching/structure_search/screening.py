"""Screen all sums of one function each of two quantities, compiled."""

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.compiled import compiled

N_SCREENED = 200
"""Points on which sums are screened and fitted, or nearly twice as many."""


def screened(n_points: int) -> slice:
    """The points on which sums are screened and fitted; what they lose is judged on all."""
    return slice(None, None, max(n_points // N_SCREENED, 1))


def screen(
    first: FloatArray, second: FloatArray, along: FloatArray, across: FloatArray,
    weights: FloatArray,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Judge every a(x) + c*b(y), with the best c.

    Slopes a' and b' have the shape (n_forms, n_points), and the mean losses and c that are returned
    (n_first, n_second). The direction (along, across) loses (along*c*b' - across*a')^2 /
    (a'^2 + c^2*b'^2), squared, at each point.
    """
    losses = np.empty((len(first), len(second)))
    factors = np.empty_like(losses)
    given = [np.ascontiguousarray(each) for each in (first, second, along, across, weights)]
    _screen(*given, losses, factors)
    return losses, factors


@compiled
def _screen(first, second, along, across, weights, losses, factors):
    n = along.shape[0]
    for i in range(first.shape[0]):
        for j in range(second.shape[0]):
            factor = 1.0
            for _ in range(4):
                top = 0.0
                bottom = 0.0
                square = factor * factor
                for k in range(n):
                    a = first[i, k]
                    b = second[j, k]
                    weight = weights[k] / (a * a + square * b * b + 1e-30)
                    x = along[k] * b
                    top += weight * x * across[k] * a
                    bottom += weight * x * x
                if not bottom > 0.0:
                    break
                factor = top / bottom
                if factor == 0.0:
                    break
            loss = 0.0
            square = factor * factor
            for k in range(n):
                a = first[i, k]
                b = second[j, k]
                r = along[k] * factor * b - across[k] * a
                loss += weights[k] * r * r / (a * a + square * b * b + 1e-30)
            losses[i, j] = loss if factor != 0.0 else np.inf
            factors[i, j] = factor
