"""phi where inputs are held: of F(g(x), c) one curve for each value of c, or one where none is."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.judge.phi_spline import PhiFit, PhiSpline, fit_phi_spline


@dataclass(frozen=True, slots=True)
class HeldPhi:
    """A spline for each value of the held inputs; none where the formula hardly varies.

    Attributes
    ----------
    splines : dict of float to PhiSpline
        By the label of the held values.
    """

    splines: dict[float, PhiSpline]

    def left_of(self, latents: FloatArray, values: FloatArray, held: FloatArray) -> FloatArray:
        """What the splines leave of latents; a whole spread where there is no spline, or the
        formula is not finite.
        """
        left = np.ones_like(latents)
        finite = np.isfinite(values)
        for label, spline in self.splines.items():
            rows = np.flatnonzero((held == label) & finite)
            left[rows] = latents[rows] - spline(values[rows])
        return left


@dataclass(frozen=True, slots=True)
class HeldFit:
    """Splines, and what they leave of the latents where they were fitted.

    Attributes
    ----------
    fits : dict of float to (ndarray of int, PhiFit)
        For each label of held values, at which points its spline was fitted, and how.
    left : ndarray, shape (n_points, n_latents)
        Each point judged by the spline that has not seen it.
    """

    fits: dict[float, tuple[np.ndarray, PhiFit]]
    left: FloatArray

    @property
    def phi(self) -> HeldPhi:
        """What serves at other points."""
        return HeldPhi({label: fit.phi for label, (_, fit) in self.fits.items()})

    def slopes(self, values: FloatArray) -> FloatArray:
        """How steep phi is at these points, shape (n_points, n_latents); 0 beyond the data."""
        steep = np.zeros_like(self.left)
        for rows, fit in self._parts():
            steep[rows] = fit.phi.slopes(values[rows])
        return steep

    def beyond(self, columns: FloatArray) -> FloatArray:
        """What no spline can follow of columns, shape (n_points, m)."""
        left = np.array(columns)
        for rows, fit in self._parts():
            left[rows] = fit.beyond(columns[rows])
        return left

    def _parts(self) -> Iterator[tuple[np.ndarray, PhiFit]]:
        return iter(self.fits.values())


def fit_held_phi(
    values: FloatArray, latents: FloatArray, weights: FloatArray, held: FloatArray
) -> HeldFit | None:
    """Fit phi to values of a formula and of latents, among the points of each label; None where the
    formula varies among none.

    Parameters
    ----------
    values, weights, held : ndarray, shape (n_points,)
    latents : ndarray, shape (n_points, n_latents)

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
