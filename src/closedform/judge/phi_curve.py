"""phi: the distortion through which the network stores the concept, by isotonic regression on
held-out points.
"""

import numpy as np
from scipy.optimize import isotonic_regression

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Phi

N_CURVE, N_SAMPLE = 60, 300


def fit_phi(expression: Expression, field: GradientField) -> Phi | None:
    """Fit phi for one latent. None without the latent's values, for several latents, if one of both
    does not vary, or where held inputs make phi another for each of their values.
    """
    if field.latents is None or field.latents.shape[1] != 1 or field.held is not None:
        return None
    usable = field.weights > 0
    return phi_between(
        expression.rename(field.names)(field.points[usable]), field.latents[usable, 0]
    )


def phi_between(concept: FloatArray, latent: FloatArray) -> Phi | None:
    """Fit phi to values of a concept and of a latent at the same points; None if one of both does
    not vary.
    """
    usable = np.isfinite(concept) & np.isfinite(latent)
    concept, latent = concept[usable], latent[usable]
    if len(concept) < 3 or np.ptp(concept) == 0 or np.ptp(latent) == 0:
        return None
    correlation = float(np.corrcoef(_ranks(concept), _ranks(latent))[0, 1])
    increasing = correlation >= 0
    x, curve, r2 = _monotone(concept, latent, increasing=increasing)
    _, _, r2_inverse = _monotone(latent, concept, increasing=increasing)
    kept = np.unique(np.linspace(0, len(x) - 1, N_CURVE).astype(int))
    sample = np.unique(np.linspace(0, len(concept) - 1, N_SAMPLE).astype(int))
    return Phi(
        rank_correlation=correlation,
        r2=r2,
        r2_inverse=r2_inverse,
        concept=tuple(x[kept].tolist()),
        latent=tuple(curve[kept].tolist()),
        concept_sample=tuple(concept[sample].tolist()),
        latent_sample=tuple(latent[sample].tolist()),
    )


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks, the mean one for equal values."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def _monotone(
    x: FloatArray, y: FloatArray, *, increasing: bool
) -> tuple[FloatArray, FloatArray, float]:
    """Isotonic regression of y on x: sorted x, fitted values, and the share of variance
    explained.
    """
    order = np.argsort(x, kind="stable")
    fitted = isotonic_regression(y[order], increasing=increasing).x
    left = ((y[order] - fitted) ** 2).sum()
    return x[order], fitted, float(1 - left / ((y - y.mean()) ** 2).sum())
