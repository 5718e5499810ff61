"""How broken a symmetry is: the angle by which a vector field leads out of the level sets, measured
on points that it was not fitted to, with an interval, where it is largest, and what it comes from.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.tolerances import COMPATIBLE
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.judge.regions import divide, independent_pieces, mean_by_regions
from closedform.judge.systematic import BEYOND_NOISE, predict_by_place, split_change
from closedform.reading.symmetries.level_sets import level_sets
from closedform.reading.symmetries.tolerances import BY_PLACE, LARGEST_ERROR, SMALLEST_TERM

Cause = Literal["rounding", "noise", "network", "term"]

_NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True)
class Breaking:
    """How far a vector field leads out of the level sets, on points that it was not fitted to.

    Attributes
    ----------
    degrees : float
        Root mean square of the angle, without what independent noise of the directions adds.
    low, high : float
        Its 95% interval, from how far regions of the data differ.
    cause : {'rounding', 'noise', 'network', 'term'}
        What breaks it: nothing but rounding; noise that neighbours do not share; an error that the
        place hardly predicts, as networks make it; or a term of the concept itself.
    by_place : float
        Share of the breaking that a polynomial of the place predicts on other points.
    where : tuple of float
        The middle of the region in which it is most broken, in the user's inputs.
    there : float
        Degrees in that region.
    """

    degrees: float
    low: float
    high: float
    cause: Cause
    by_place: float
    where: tuple[float, ...]
    there: float

    @property
    def holds(self) -> bool:
        """Whether the field is a symmetry, as far as these directions can tell."""
        return self.cause != "term"

    def __str__(self) -> str:
        if self.cause == "rounding":
            return "exact"
        return f"broken by {self.degrees:.2g} degrees ({self.low:.2g} to {self.high:.2g})"


class Judge:
    """The points that a symmetry is judged on."""

    def __init__(self, field: GradientField, centre: FloatArray, rng: np.random.Generator) -> None:
        used = field.subset(field.weights > 0)
        self.levels = level_sets(used, centre)
        self.labels = divide(used, rng)
        self._points, self._scale, self._rng = used.points, field.scale, rng
        self._slopes = None if used.slopes is None else np.linalg.norm(used.slopes, axis=1)
        # The gradients' directions where their signs count.
        has_signs = used.is_signed and used.rank == 1
        self._signs = self.levels.across[:, 0] if has_signs else None
        # Of the noise that turns a direction, the part towards one vector in the level set.
        free = field.tangent.rank - field.rank
        self._noise = field.rank * field.quality.noise_misalignment / max(free, 1)

    def squares(self, coefficients: FloatArray) -> FloatArray:
        """Squared sines of the angles, shape (n_points,)."""
        return (self.levels.residuals(coefficients) ** 2).sum(axis=1)

    def mean(self, coefficients: FloatArray) -> float:
        """Their mean."""
        return float(np.average(self.squares(coefficients), weights=self.levels.weights))

    def is_no_worse(self, plain: FloatArray, fitted: FloatArray, n_fewer: int) -> bool:
        """Whether these points do not tell a plainer vector field from the fitted one.

        A network is wrong smoothly, so that the best fit is always a little better than the truth.
        So numbers that are left out or made plain, `n_fewer` of them, may cost what Schwarz's
        criterion allows for as many pieces of evidence as the error of the fitted field has.
        """
        new, old = self.squares(plain), self.squares(fitted)
        mean, error = mean_by_regions(new - old, self.levels.weights, self.labels)
        if mean <= max(COMPATIBLE * error, PERFECT):
            return True
        best, other = (float(np.average(each, weights=self.levels.weights)) for each in (old, new))
        if best <= PERFECT or _degrees(other) > LARGEST_ERROR:
            return False
        pieces = independent_pieces(self.levels.residuals(fitted), self.levels.places)
        return pieces * np.log(other / best) <= n_fewer * np.log(max(pieces, 2.0))

    def measure(self, coefficients: FloatArray) -> Breaking:
        """How broken a vector field is, given in scaled inputs."""
        squares = self.squares(coefficients)
        mean, error = mean_by_regions(squares, self.levels.weights, self.labels)
        share = self._share_by_place(coefficients)
        cause = self._cause(coefficients, mean, share)
        noise = self._noise if cause in ("noise", "term") else 0.0
        ends = [mean - noise, mean - _NORMAL_95 * error - noise, mean + _NORMAL_95 * error - noise]
        degrees, low, high = (_degrees(end) for end in ends)
        worst, there = self._worst(squares)
        return Breaking(degrees, low, high, cause, share, worst, _degrees(there - noise))

    def _cause(self, coefficients: FloatArray, mean: float, share: float) -> Cause:
        if mean <= PERFECT:
            return "rounding"
        if self._noise > 0 and mean <= BEYOND_NOISE**2 * self._noise:
            columns = self.levels.residuals(coefficients).T
            parts = [split_change(each, self.levels.places, self._rng) for each in columns]
            if not any(part.systematic for part in parts):
                return "noise"
        if self._slopes is None:
            return "term"  # without the lengths of gradients a term looks as rough as an error
        degrees = _degrees(mean)
        is_error = degrees <= SMALLEST_TERM or (degrees <= LARGEST_ERROR and share < BY_PLACE)
        return "network" if is_error else "term"

    def _share_by_place(self, coefficients: FloatArray) -> float:
        """How much of the derivative along the vector field its place predicts."""
        along = self.levels.residuals(coefficients)
        if self._signs is not None:
            along = np.einsum("nd,nd->n", along, self._signs)[:, None]
        lengths = np.linalg.norm(self.levels.vectors(coefficients), axis=1)
        slopes = 1.0 if self._slopes is None else self._slopes
        changes = along * (lengths * slopes)[:, None]
        total = float((changes**2).sum())
        if len(changes) < 20 or total == 0:
            return 1.0
        left = changes - predict_by_place(changes, self.levels.places, self._rng)
        return max(1 - float((left**2).sum()) / total, 0.0)

    def _worst(self, squares: FloatArray) -> tuple[tuple[float, ...], float]:
        counted = self.labels >= 0
        weights = self.levels.weights[counted]
        shares = np.bincount(self.labels[counted], weights)
        means = np.bincount(self.labels[counted], (weights * squares[counted]))
        means = means / np.maximum(shares, np.finfo(float).tiny)
        place = int(np.argmax(means))
        middle = self._points[self.labels == place].mean(axis=0)
        return tuple(float(value) for value in middle), float(means[place])


def _degrees(square: float) -> float:
    return float(np.degrees(np.arcsin(np.sqrt(min(max(square, 0.0), 1.0)))))
