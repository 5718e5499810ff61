"""phi as a smooth monotone curve; where inputs are held, of F(g(x), c) one for each value of c.

Once a formula is at hand, phi is one function of one variable.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import isotonic_regression

from closedform.arrays import FloatArray
from closedform.field.alignment.tolerances import SAME

PIECES = 0.4
"""Pieces of the curve for each square root of a point: 13 for 1,050 points, enough to bend as phi
does, and so few that noise of 1% of the latent's spread is left as it is."""

FEWEST_IN_PIECE = 4
"""Towards both ends pieces halve, down to so many points: there 1/g, exp(g) and g**3 bend most, and
must not score otherwise than g."""

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
        return self.basis(values) @ self.coefficients

    def slopes(self, values: FloatArray) -> FloatArray:
        """How steep phi is there; 0 beyond the data."""
        inside = (values >= self.knots[0]) & (values <= self.knots[-1])
        curve = BSpline(_padded(self.knots), self.coefficients, _DEGREE).derivative()
        return np.where(inside[:, None], curve(np.clip(values, *self.knots[[0, -1]])), 0.0)

    def basis(self, values: FloatArray) -> FloatArray:
        """The B-splines at values, shape (n_points, n_coefficients)."""
        clipped = np.clip(values, self.knots[0], self.knots[-1])
        return BSpline.design_matrix(clipped, _padded(self.knots), _DEGREE).toarray()


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
    empty = PhiSpline(knots, np.empty((0, 0)))
    basis = empty.basis(values)
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
    """Fit phi among the points of each label; None where the formula varies among none.

    Examples
    --------
    >>> g, held = np.random.default_rng(0).uniform(1, 2, 400), np.arange(400.0) % 2
    >>> latent = np.where(held == 0, np.exp(g), -3 * g)[:, None]
    >>> apart = fit_held_phi(g, latent, np.ones(400), held)
    >>> together = fit_held_phi(g, latent, np.ones(400), np.zeros(400))
    >>> bool(np.abs(apart.left).max() < 1e-2 < 1 < np.abs(together.left).max())
    True
    """
    left, fits = np.ones_like(latents), {}
    for label in np.unique(held).tolist():
        rows = np.flatnonzero(held == label)
        fit = fit_phi_spline(values[rows], latents[rows], weights[rows])
        if fit is not None:
            left[rows] = fit.left
            fits[label] = (rows, fit)
    return HeldFit(fits, left) if fits else None
