"""Affine vector fields, and how far one leads out of the level sets of a latent.

A field v(x) = A x + b is the matrix [A b], of shape (n_inputs, n_inputs + 1). It is a symmetry
where it runs along the level sets of all latents, inside the surface on which the data lies. So at
each point the directions across are those of the field and the normals of the data's tangent space;
what counts is the part of a vector along them, as a share of the whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.tolerances import COMPATIBLE
from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.alignment.tolerances import PERFECT, ZERO_SHARE
from closedform.field.gradient_field import GradientField
from closedform.judge.regions import divide, independent_pieces, mean_by_regions
from closedform.judge.systematic import BEYOND_NOISE, predict_by_place, split_change
from closedform.searching.terms.sum_formula import plain_number

_AFFINE = 1e-9  # share of a field that rounding may leave outside its affine part
_SHOWN, _DENOMINATORS = 4, 12  # digits of a number that is not plain; what is


BY_PLACE = 0.95
"""Share of a breaking that a polynomial of the place, fitted to other points, explains from which
on a term of the concept breaks the symmetry. A network's own error is rougher: of 24 true
symmetries of 12 small networks it explained at most 0.91; where three formulas without one, and
their networks, break the nearest, 0.95 and more, but for one network whose error was as large as
the term."""


SMALLEST_TERM = 0.3
"""Degrees below which a breaking counts as a network's own error however smooth it is: a network
trained on x + 2*y breaks its translation by 0.1, and smoothly, for all that it learned is smooth.
"""


LARGEST_ERROR = 3.0
"""Degrees by which a network's own error may break a symmetry: small networks of smooth activations
leave about 1. Those of ReLU leave 3 to 5, which is given up: with 5, a network trained on the cross
ratio was given a translation that it has not."""


@dataclass(frozen=True, slots=True)
class ScaledInputs:
    """How scaled inputs come from the user's: minus the centre, over the spread."""

    centre: FloatArray  # (n_inputs,)
    scale: FloatArray  # (n_inputs,)

    def scaled(self, user: FloatArray) -> FloatArray:
        """The matrix of a field in scaled inputs."""
        linear = user[:, :-1] * self.scale / self.scale[:, None]
        constant = (user[:, :-1] @ self.centre + user[:, -1]) / self.scale
        return np.column_stack([linear, constant])

    def user(self, scaled: FloatArray) -> FloatArray:
        """The matrix of a field in the user's inputs."""
        linear = scaled[:, :-1] * self.scale[:, None] / self.scale
        return np.column_stack([linear, scaled[:, -1] * self.scale - linear @ self.centre])


def commutator(first: FloatArray, second: FloatArray) -> FloatArray:
    """The matrix of [v, w] = (v . grad) w - (w . grad) v."""
    return second[:, :-1] @ first - first[:, :-1] @ second


def components(matrix: FloatArray, names: Sequence[str]) -> tuple[Expression, ...]:
    """The field's components as formulas, one for each input."""
    return tuple(parse(sum_text(row, names, _full), names=list(names)) for row in matrix)


def field_text(matrix: FloatArray, names: Sequence[str]) -> str:
    """The field in one line, such as ``(x - 2)*d_y - y*d_x``."""
    parts: list[str] = []
    rows = [(row, f"d_{name}") for row, name in zip(matrix, names, strict=True)]
    # A positive part first, so that no sign stands in front.
    for row, derivative in sorted(rows, key=lambda pair: _leads_negative(pair[0])):
        terms = np.flatnonzero(row)
        if not len(terms):
            continue
        negative = bool(_leads_negative(row))
        factor = sum_text(-row if negative else row, names, _short)
        if len(terms) > 1:
            factor = f"({factor})"
        part = derivative if factor == "1" else f"{factor}*{derivative}"
        parts.append(f"{'-' if negative else '+'} {part}")
    text = " ".join(parts) or "0"
    return text.removeprefix("+ ") if text.startswith("+") else text.replace("- ", "-", 1)


def parse_field(text: str, names: Sequence[str]) -> FloatArray:
    """The matrix of a field such as ``x*d_y - y*d_x``."""
    count = len(names)
    whole = parse(text, names=[*names, *(f"d_{name}" for name in names)])
    places = np.concatenate([np.zeros((1, count)), np.eye(count), np.full((1, count), 3.0)])
    at = np.column_stack([places, np.zeros_like(places)])
    with np.errstate(all="ignore"):
        values, slopes = whole(at), whole.gradient(at)[:, count:]
        twice = whole(np.column_stack([places, np.full_like(places, 2.0)]))
    matrix = np.column_stack([(slopes[1:-1] - slopes[0]).T, slopes[0]])
    expected = matrix[:, :-1].sum(axis=1) * 3.0 + matrix[:, -1]
    size = max(float(np.abs(matrix).max()), 1e-300)
    off = [slopes[-1] - expected, values, twice - 2 * slopes.sum(axis=1)]
    if not np.isfinite(matrix).all() or max(np.abs(each).max() for each in off) > _AFFINE * size:
        raise ExpressionError(
            f"{text!r} is not an affine vector field; write one such as "
            f"'{names[0]}*d_{names[-1]}', with d_ before an input's name for its derivative and "
            f"sums of inputs and numbers as factors."
        )
    return matrix


def _leads_negative(row: FloatArray) -> bool:
    terms = np.flatnonzero(row)
    return bool(len(terms)) and bool((row[terms] < 0).all() or row[terms[0]] < 0)


def sum_text(
    row: Sequence[float] | FloatArray, names: Sequence[str], write: Callable[[float], str]
) -> str:
    """A sum of inputs and a number; '0' if it is empty."""
    parts: list[str] = []
    for value, name in zip(row, [*names, ""], strict=True):
        if value == 0:
            continue
        size = write(abs(float(value)))
        term = size if not name else name if size == "1" else f"{size}*{name}"
        sign = "-" if value < 0 else "+"
        parts.append(f"{sign} {term}" if parts else (f"-{term}" if value < 0 else term))
    return " ".join(parts) or "0"


def _full(value: float) -> str:
    return _plain(value) or repr(float(value))


def _short(value: float) -> str:
    return _plain(value) or f"{value:.{_SHOWN}g}"


def _plain(value: float) -> str:
    """A number that is a small fraction up to rounding; empty for others."""
    number = plain_number(value)
    return str(number) if number.denominator <= _DENOMINATORS else ""


_CHUNK = 512  # points whose products with the whole library are held at once


@dataclass(frozen=True, slots=True)
class LevelSets:
    """Points and what leads out of their level sets, in scaled and centred inputs."""

    places: FloatArray  # (n_points, n_inputs)
    across: FloatArray  # (n_points, n_across, n_inputs): orthonormal rows
    weights: FloatArray  # (n_points,)

    @property
    def n_inputs(self) -> int:
        """Dimension of the space."""
        return self.places.shape[1]

    @property
    def factors(self) -> FloatArray:
        """What the coefficients of an affine vector field multiply: the inputs, and 1."""
        return np.column_stack([self.places, np.ones(len(self.places))])

    def vectors(self, coefficients: FloatArray) -> FloatArray:
        """An affine vector field, (n_inputs, n_inputs + 1), at the points."""
        return self.factors @ coefficients.T

    def residuals(self, coefficients: FloatArray) -> FloatArray:
        """The part across of a field's unit vectors, (n_points, n_inputs); 0 where it vanishes."""
        # As a vector it depends neither on the sign of a direction nor on the choice of a basis.
        vectors = self.vectors(coefficients)
        squared = np.einsum("nd,nd->n", vectors, vectors)
        typical = float(np.median(squared))
        fine = squared > ZERO_SHARE * typical
        unit = vectors / np.sqrt(np.where(fine, squared, 1.0))[:, None] * fine[:, None]
        along = np.einsum("ncd,nd->nc", self.across, unit)
        return np.einsum("ncd,nc->nd", self.across, along)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Moments of all affine fields, row by row: of their parts across, and of the whole."""
        # Every point counts by its weight over the squared length of the library there, so that far
        # points do not decide.
        factors = self.factors
        root = np.sqrt(self.weights / self.weights.sum() / np.einsum("nj,nj->n", factors, factors))
        factors = factors * root[:, None]
        size = self.n_inputs * factors.shape[1]
        lost = np.zeros((size, size))
        for start in range(0, len(factors), _CHUNK):
            part = slice(start, start + _CHUNK)
            rows = np.einsum("ncd,nj->ncdj", self.across[part], factors[part]).reshape(-1, size)
            lost += rows.T @ rows
        return lost, np.kron(np.eye(self.n_inputs), factors.T @ factors)

    def quotient(self, complement: FloatArray) -> "LevelSets":
        """The same in a complement, orthonormal columns, of what changes nothing."""
        rows = np.linalg.qr(np.swapaxes(self.across @ complement, 1, 2))[0]
        return LevelSets(self.places @ complement, np.swapaxes(rows, 1, 2), self.weights)


def level_sets(field: GradientField, centre: FloatArray) -> LevelSets:
    """Of a field, at its points of positive weight."""
    used = field.subset(field.weights > 0)
    tangent = used.tangent
    across = np.swapaxes(tangent.ambient(used.frames), 1, 2)
    if tangent.basis is not None and tangent.rank < tangent.n_inputs:
        normals = np.linalg.svd(tangent.basis, full_matrices=True)[0][..., tangent.rank :]
        rows = np.swapaxes(normals, -1, -2)
        shape = (len(across), *rows.shape[-2:])
        across = np.concatenate([across, np.broadcast_to(rows, shape)], axis=1)
    weights = used.weights * _reliability(used.slopes)
    return LevelSets((used.points - centre) / field.scale, across, weights)


def _reliability(slopes: FloatArray | None) -> FloatArray | float:
    """How much a direction is worth: one of a short gradient less."""
    if slopes is None:
        return 1.0
    typical = np.median(slopes, axis=0)
    return (np.minimum(slopes / np.where(typical > 0, typical, 1.0), 1.0) ** 2).min(axis=1)


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
        """Whether these points do not tell a plainer vector field from the fitted one."""
        # A network is wrong smoothly, so that the best fit is always a little better than the
        # truth. So numbers that are left out or made plain, `n_fewer` of them, may cost what
        # Schwarz's criterion allows for as many pieces of evidence as the error of the fitted field
        # has.
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
