"""phi, the distortion through which a network stores a concept: a spline that judges formulas, an
isotonic curve that answers show, and what happens when phi(concept) takes the neuron's place.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import isotonic_regression

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.alignment.tolerances import SAME
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Faithfulness, Phi

PIECES = 0.4
"""Pieces of the curve for each square root of a point: 13 for 1,050 points, enough to bend as phi
does, and so few that noise of 1% of the latent's spread is left as it is."""

FEWEST_IN_PIECE = 4
"""Towards both ends pieces halve, down to so many points: there 1/g, exp(g) and g**3 bend most, and
must not score otherwise than g."""

N_CURVE, N_SAMPLE = 60, 300
"""Points of the curve, and of the data, that an answer keeps for its pictures."""

_DEGREE, _RIDGE = 3, 1e-11


@dataclass(frozen=True, slots=True)
class PhiSpline:
    """A cubic spline of the formula's values for each latent."""

    # (n_knots,): at quantiles of the formula's values, so that it hardly matters how the formula is
    # written.
    knots: FloatArray
    coefficients: FloatArray  # (n_coefficients, n_latents): each column rises or falls

    def __call__(self, values: FloatArray) -> FloatArray:
        """phi at values of the formula, shape (n_points, n_latents); constant beyond the data."""
        return _basis(values, self.knots) @ self.coefficients

    def slopes(self, values: FloatArray) -> FloatArray:
        """How steep phi is there; 0 beyond the data."""
        inside = (values >= self.knots[0]) & (values <= self.knots[-1])
        curve = BSpline(_padded(self.knots), self.coefficients, _DEGREE).derivative()
        return np.where(inside[:, None], curve(np.clip(values, *self.knots[[0, -1]])), 0.0)


@dataclass(frozen=True, slots=True)
class PhiFit:
    """A spline, and what it leaves of the latents where it was fitted."""

    phi: PhiSpline
    left: FloatArray  # (n_points, n_latents): each point judged by the spline without it
    # What takes out of any function of the points what the spline would follow.
    basis: FloatArray
    inverse: FloatArray
    weights: FloatArray

    def beyond(self, columns: FloatArray) -> FloatArray:
        """What the spline cannot follow of columns, shape (n_points, m)."""
        weighted = self.basis.T @ (self.weights[:, None] * columns)
        return columns - self.basis @ (self.inverse @ weighted)


def fit_phi_spline(values: FloatArray, latents: FloatArray, weights: FloatArray) -> PhiFit | None:
    """Fit phi to values (n_points,) of a formula and latents (n_points, n_latents); None where the
    formula hardly varies.
    """
    if not np.isfinite(values).all():
        return None
    knots = _knots(values)
    if len(knots) <= _DEGREE:
        return None
    basis = _basis(values, knots)
    normal = (basis * weights[:, None]).T @ basis
    normal[np.diag_indices_from(normal)] += _RIDGE * np.trace(normal) / len(normal)
    inverse = np.asarray(np.linalg.inv(normal), dtype=np.float64)
    free = inverse @ (basis.T @ (weights[:, None] * latents))
    coefficients = np.column_stack([_monotone(column, np.diagonal(normal)) for column in free.T])
    # Without a point, what is left there is larger by this factor: exact for least squares.
    leverage = ((basis @ inverse) * basis).sum(axis=1) * weights
    left = (latents - basis @ coefficients) / (1 - np.clip(leverage, 0.0, 0.9))[:, None]
    return PhiFit(PhiSpline(knots, coefficients), left, basis, inverse, weights)


def _monotone(coefficients: FloatArray, weights: FloatArray) -> FloatArray:
    """The nearest coefficients that rise or fall: without this g would pass for g**2."""
    steps = np.diff(coefficients)
    if (steps >= 0).all() or (steps <= 0).all():
        return coefficients
    ways = [
        isotonic_regression(coefficients, weights=weights, increasing=rises).x
        for rises in (True, False)
    ]
    return min(ways, key=lambda way: float((weights * (way - coefficients) ** 2).sum()))


def _knots(values: FloatArray) -> FloatArray:
    """Quantiles, even in the middle and halving towards the ends; those that coincide once."""
    count = len(values)
    pieces = max(round(PIECES * np.sqrt(count)), _DEGREE)
    halvings = max(int(np.log2(count / pieces / FEWEST_IN_PIECE)), 0)
    tail = 0.5 ** np.arange(1, halvings + 1) / pieces
    shares = np.sort(np.concatenate([np.arange(pieces + 1) / pieces, tail, 1 - tail]))
    # What np.quantile does, which takes ten times as long.
    found = np.interp(shares * (count - 1), np.arange(count), np.sort(values))
    keep = np.diff(found, prepend=-np.inf) > SAME * (found[-1] - found[0])
    return found[keep]


def _basis(values: FloatArray, knots: FloatArray) -> FloatArray:
    """The B-splines at values, shape (n_points, n_coefficients)."""
    clipped = np.clip(values, knots[0], knots[-1])
    return BSpline.design_matrix(clipped, _padded(knots), _DEGREE).toarray()


def _padded(knots: FloatArray) -> FloatArray:
    return np.concatenate([[knots[0]] * _DEGREE, knots, [knots[-1]] * _DEGREE])


@dataclass(frozen=True, slots=True)
class HeldFit:
    """A spline for each value of the held inputs, none where the formula hardly varies, and what
    they leave of the latents.
    """

    # For each label of held values, at which points its spline was fitted, and how.
    fits: dict[float, tuple[np.ndarray, PhiFit]]
    left: FloatArray  # (n_points, n_latents): each point judged by the spline without it

    def left_of(self, latents: FloatArray, values: FloatArray, held: FloatArray) -> FloatArray:
        """What the splines leave of latents at other points; a whole spread where there is no
        spline, or the formula is not finite.
        """
        left = np.ones_like(latents)
        finite = np.isfinite(values)
        for label, (_, fit) in self.fits.items():
            rows = np.flatnonzero((held == label) & finite)
            left[rows] = latents[rows] - fit.phi(values[rows])
        return left

    def slopes(self, values: FloatArray) -> FloatArray:
        """How steep phi is at these points, shape (n_points, n_latents); 0 beyond the data."""
        steep = np.zeros_like(self.left)
        for rows, fit in self.fits.values():
            steep[rows] = fit.phi.slopes(values[rows])
        return steep

    def beyond(self, columns: FloatArray) -> FloatArray:
        """What no spline can follow of columns, shape (n_points, m)."""
        left = np.array(columns)
        for rows, fit in self.fits.values():
            left[rows] = fit.beyond(columns[rows])
        return left


def fit_held_phi(
    values: FloatArray, latents: FloatArray, weights: FloatArray, held: FloatArray
) -> HeldFit | None:
    """Fit phi among the points of each label; None where the formula varies among none."""
    left, fits = np.ones_like(latents), {}
    for label in np.unique(held).tolist():
        rows = np.flatnonzero(held == label)
        fit = fit_phi_spline(values[rows], latents[rows], weights[rows])
        if fit is not None:
            left[rows] = fit.left
            fits[label] = (rows, fit)
    return HeldFit(fits, left) if fits else None


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
    x, curve, r2 = _isotonic(concept, latent, increasing=increasing)
    _, _, r2_inverse = _isotonic(latent, concept, increasing=increasing)
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


def _isotonic(
    x: FloatArray, y: FloatArray, *, increasing: bool
) -> tuple[FloatArray, FloatArray, float]:
    """Isotonic regression of y on x: sorted x, fitted values, and the share of variance
    explained.
    """
    order = np.argsort(x, kind="stable")
    fitted = isotonic_regression(y[order], increasing=increasing).x
    left = ((y[order] - fitted) ** 2).sum()
    return x[order], fitted, float(1 - left / ((y - y.mean()) ** 2).sum())


def compare_outputs(
    original: FloatArray, replaced: FloatArray, by_mean: FloatArray
) -> Faithfulness | None:
    """Compare outputs of shape (n_points, n_outputs); None if they do not depend on the neuron."""
    flat = [array.reshape(len(array), -1) for array in (original, replaced, by_mean)]
    spread = float(((flat[0] - flat[0].mean(axis=0)) ** 2).mean())
    change, by_mean_change = (float(((other - flat[0]) ** 2).mean()) for other in flat[1:])
    if by_mean_change <= 1e-20 * max(spread, np.finfo(float).tiny) or spread == 0:
        return None
    return Faithfulness(
        explained=1 - change / by_mean_change,
        change=float(np.sqrt(change / spread)),
        change_by_mean=float(np.sqrt(by_mean_change / spread)),
        n_points=len(original),
    )
