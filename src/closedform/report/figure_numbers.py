"""The numbers that pictures draw, worked out without any drawing library: axes, histograms, and
constants with their intervals, each named by its term.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, isfinite, log10

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.canonical.constants import free_constants, with_coefficients
from closedform.errors import ReportError
from closedform.expressions.complexity import constant_values, fitted_positions, with_numbers
from closedform.expressions.evaluate import operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.printing import to_text
from closedform.expressions.tree import subtrees
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.answer_data import Spread, spreads
from closedform.interpretation.evidence import Directions, Phi

SMALLEST = 1e-10
"""Misalignments below this are drawn as this: they differ by rounding alone."""

TWO_SIDED = 1.96
"""Standard errors to either side of a 95% interval."""

N_BINS = 24  # of a histogram
_LONG_TAIL = 8.0  # times the range of the inner 98%: the rest would be squeezed into a line
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True, slots=True)
class LogAxis:
    """Whole decades around some misalignments."""

    low: int  # exponents of ten
    high: int

    @classmethod
    def around(cls, values: list[float]) -> "LogAxis":
        """The decades that hold every value, at least two of them.

        Examples
        --------
        >>> LogAxis.around([0.5, 3e-3])
        LogAxis(low=-3, high=0)
        """
        logs = [log10(max(value, SMALLEST)) for value in values] or [0.0]
        high = ceil(max(logs))
        # A bar of no height is not seen: the smallest value stands a little above the axis.
        low = floor(min(logs) - 0.3)
        return cls(min(low, high - 2), high)

    def share(self, value: float) -> float:
        """Where a value lies between the ends, 0 to 1."""
        place = (log10(max(value, SMALLEST)) - self.low) / (self.high - self.low)
        return min(max(place, 0.0), 1.0)

    def percent(self, value: float) -> float:
        """The same in percent, for a style sheet."""
        return round(100 * self.share(value), 2)

    @property
    def exponents(self) -> tuple[int, ...]:
        """Exponents of ten to label: all, or every second of many."""
        step = 1 if self.high - self.low <= 6 else 2
        return tuple(range(self.high, self.low - 1, -step))


def front_axis(interpretation: Interpretation) -> LogAxis:
    """The axis on which the front's misalignments and the floor lie; a front that cannot be drawn
    is refused.
    """
    front = interpretation.front
    sizes = [entry.complexity for entry in front]
    if sizes != sorted(sizes):
        raise ReportError(f"The front has complexities {sizes}; pass it in order of complexity.")
    values = [interpretation.floor, *(entry.misalignment for entry in front)] if front else []
    for value in values:
        if not isfinite(value):
            raise ReportError(f"A misalignment of the front is {value}; pass a finite number.")
    for name in ("chosen", "steepest_drop"):
        place = getattr(interpretation, name)
        if place is not None and not 0 <= place < len(front):
            raise ReportError(
                f"The answer's {name} is {place}, but its front has only {len(front)} formulas; "
                "load or read the answer again."
            )
    return LogAxis.around(values)


@dataclass(frozen=True, slots=True, eq=False)
class AngleHistogram:
    """How far a candidate's gradients stray from the network's."""

    edges: FloatArray  # degrees, shape (n_bins + 1,)
    shares: FloatArray  # of the points, shape (n_bins,); those beyond the last edge are in the last
    median: float  # degrees
    upper: float  # degrees that 95% of the points stay below


def angle_histogram(angles: Sequence[float]) -> AngleHistogram | None:
    """Count angles in equal bins up to where all but the last hundredth lie; None if there are
    none.
    """
    given = np.asarray(angles, dtype=np.float64)
    finite = given[np.isfinite(given)]
    if len(finite) == 0:
        return None
    median, upper, last = (float(value) for value in np.quantile(finite, [0.5, 0.95, 0.99]))
    edges = np.linspace(0.0, max(last, 1e-9), N_BINS + 1)
    counts, _ = np.histogram(np.minimum(finite, edges[-1]), bins=edges)
    return AngleHistogram(edges, counts / len(finite), median, upper)


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """Latent against concept."""

    x: FloatArray  # the concept, shape (n,)
    y: FloatArray  # the latent
    x_range: tuple[float, float]  # what to show: without the tail, if a few values lie far out
    y_range: tuple[float, float]
    curve: tuple[FloatArray, FloatArray]  # the fitted phi


def scatter(phi: Phi | None, limit: int = 400) -> Scatter | None:
    """At most this many of the sampled points, evenly taken; None if none is finite."""
    if phi is None:
        return None
    x, y = _pair(phi.concept_sample, phi.latent_sample)
    finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(finite) == 0:
        return None
    rows = finite[thinned(len(finite), limit)]
    x, y = x[rows], y[rows]
    return Scatter(x, y, shown_range(x), shown_range(y), _pair(phi.concept, phi.latent))


def arrows(directions: Directions | None, limit: int = 160) -> tuple[FloatArray, ...] | None:
    """Points spread over the plane, and unit directions of network and concept there.

    None if no point has both. The concept's are turned to the network's side.
    """
    if directions is None or not directions.points:
        return None
    given = [np.array(v) for v in (directions.points, directions.network, directions.concept)]
    shapes = [vectors.shape for vectors in given]
    if set(shapes) != {(len(directions.points), 2)}:
        raise ReportError(f"Points and directions have shapes {shapes}; pass two numbers at each.")
    points, network, concept = given[0], _unit(given[1]), _unit(given[2])
    good = np.isfinite([points, network, concept]).all(axis=(0, 2))
    if not good.any():
        return None
    points, network, concept = points[good], network[good], concept[good]
    rows = _spread(points, limit)
    turn = np.where(np.einsum("nd,nd->n", network, concept) < 0, -1.0, 1.0)[:, None]
    return points[rows], network[rows], (concept * turn)[rows]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A fitted number, and the ends of its 95% interval; `term` is where it stands."""

    term: str
    value: float
    low: float
    high: float


def coefficients(interpretation: Interpretation) -> tuple[Coefficient, ...]:
    """Constants with the interval that their spread over networks gives, or else their fit."""
    if len(interpretation.networks) > 1:
        over = zip(network_terms(interpretation), network_spreads(interpretation), strict=False)
        return tuple(_coefficient(term, spread.mean, spread.error) for term, spread in over)
    entry = interpretation.entry
    return () if entry is None else fitted_coefficients(entry.expression, entry.errors)


def fitted_coefficients(
    expression: Expression, errors: tuple[float, ...]
) -> tuple[Coefficient, ...]:
    """The fitted constants of an expression, each named by the term in which it stands."""
    positions = fitted_positions(expression.tree)
    values = constant_values(expression.tree, positions)
    return tuple(
        _coefficient(_term_around(expression, position), value, error)
        for position, value, error in zip(positions, values, errors, strict=False)
    )


def network_terms(interpretation: Interpretation) -> list[str]:
    """What each constant of the networks' readings multiplies, in their order."""
    terms: list[str] = []
    for place, concept in enumerate(interpretation.formulas if interpretation.networks else ()):
        free = with_coefficients(concept)
        number = f"{place + 1}: " if len(interpretation.concepts) > 1 else ""
        terms += [number + term_of(free, constant.position) for constant in free_constants(free)]
    return terms


def network_spreads(interpretation: Interpretation) -> list[Spread]:
    """Each constant over the networks, in the order of `network_terms`; none for one network."""
    places = range(len(interpretation.formulas)) if interpretation.networks else ()
    return [spread for place in places for spread in spreads(interpretation.networks, place)]


def term_of(expression: Expression, position: int) -> str:
    """What a constant multiplies, as text; the place of the constant if it multiplies nothing."""
    parts = subtrees(expression.tree)
    operands_of = operand_positions(expression.tree)
    for token, operands in zip(expression.tree.tokens, operands_of, strict=True):
        if position in operands and token == "mul":
            other = next(other for other in operands if other != position)
            return to_text(parts[other], expression.names)
    return f"constant {position}"


def _coefficient(term: str, value: float, error: float) -> Coefficient:
    return Coefficient(term, value, value - TWO_SIDED * error, value + TWO_SIDED * error)


def _term_around(expression: Expression, position: int) -> str:
    """The term of the outermost sum in which a token stands, its numbers rounded."""
    tree, offset = expression.tree, 0
    while tree.root in ("add", "sub", "neg"):
        start = offset
        for child in tree.children:
            if start <= position < start + child.size:
                tree, offset = child, start
                break
            start += child.size
        else:
            break
    positions = fitted_positions(tree)
    rounded = [float(f"{value:.3g}") for value in constant_values(tree, positions)]
    return to_text(with_numbers(tree, positions, rounded), expression.names)


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers within a range, about this many.

    Examples
    --------
    >>> ticks(-0.3, 2.2, 4)
    [0.0, 0.5, 1.0, 1.5, 2.0]
    """
    span = high - low
    if not span > 0:
        return [low]
    rough = span / count
    power = 10.0 ** floor(log10(rough))
    step = min(
        (factor * power for factor in (1.0, 2.0, 5.0, 10.0)),
        key=lambda step: abs(log10(step / rough)),
    )
    first = ceil(low / step - 1e-9)
    values = [index * step for index in range(first, floor(high / step + 1e-9) + 1)]
    digits = -floor(log10(step) + 1e-9)
    return [round(value, digits) + 0.0 for value in values]  # + 0.0 makes a negative zero positive


def tick_labels(values: list[float]) -> list[str]:
    """Texts with just the digits that tell the values apart.

    Examples
    --------
    >>> tick_labels([1000.25, 1000.5, 1000.75])
    ['1000.25', '1000.50', '1000.75']
    """
    largest = max((abs(value) for value in values), default=0.0)
    if not 1e-3 <= largest < 1e6:
        return [short_number(value, 3) for value in values]
    step = min((b - a for a, b in pairwise(values)), default=largest)
    digits = next(
        (digits for digits in range(12) if abs(step - round(step, digits)) < 1e-6 * step), 12
    )
    return [f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}") for value in values]


def short_number(value: float, digits: int = 2) -> str:
    """A number for reading: few digits, and powers of ten as such.

    Examples
    --------
    >>> short_number(0.0335), short_number(3.35e-7), short_number(41.0), short_number(np.inf)
    ('0.034', '3.4×10⁻⁷', '41', 'inf')
    """
    text = f"{value:.{digits}g}"
    if not isfinite(value):
        return text
    # From 0.0001 on, as sentences write it.
    if value == 0 or 1e-4 <= abs(float(text)) < 1e5:
        return np.format_float_positional(float(text), trim="-")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = np.format_float_positional(float(mantissa), trim="-")
    return f"{mantissa}\N{MULTIPLICATION SIGN}10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


_POWER_OF_TEN = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?)e([+-]?\d+)(?![\w.])")


def readable(text: str) -> str:
    """A sentence whose powers of ten are written as those of the figures are.

    Examples
    --------
    >>> readable("At most 1.5e-05 of 1.2e+03 is allowed.")
    'At most 1.5×10⁻⁵ of 1200 is allowed.'
    """

    def written(match: re.Match[str]) -> str:
        return short_number(float(match[0]), sum(map(str.isdigit, match[1])))

    return _POWER_OF_TEN.sub(written, text)


def thinned(count: int, limit: int) -> NDArray[np.int64]:
    """At most `limit` row numbers, evenly spaced."""
    return (
        np.arange(count)
        if count <= limit
        else np.unique(np.linspace(0, count - 1, limit).round().astype(np.int64))
    )


def _pair(x: Sequence[float], y: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Both as arrays of one length."""
    if len(x) != len(y):
        raise ReportError(f"A picture has {len(x)} values of x and {len(y)} of y; pass pairs.")
    return np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)


def shown_range(values: FloatArray) -> tuple[float, float]:
    """What to show of values: without the tail, if a few lie far out."""
    low, high = float(values.min()), float(values.max())
    inner_low, inner_high = (float(value) for value in np.quantile(values, [0.01, 0.99]))
    inner = inner_high - inner_low
    if inner > 0 and high - low > _LONG_TAIL * inner:
        low, high = inner_low, inner_high
    return padded(low, high, 0.04)


def padded(low: float, high: float, share: float = 0.05) -> tuple[float, float]:
    """A range with a margin at both ends; never an empty one."""
    margin = share * (high - low) or 0.5 * abs(high) or 0.5
    return low - margin, high + margin


def _unit(vectors: FloatArray) -> FloatArray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    is_direction = np.isfinite(norms) & (norms > 0)
    return np.divide(vectors, norms, out=np.full(vectors.shape, np.nan), where=is_direction)


def _spread(points: FloatArray, limit: int) -> NDArray[np.int64]:
    """One point for each cell of a grid, the nearest to its centre, so that arrows do not lie on
    each other.
    """
    side = max(int(np.sqrt(limit)), 1)
    low, high = points.min(axis=0), points.max(axis=0)
    place = (points - low) / np.where(high > low, high - low, 1.0) * side
    cells = np.minimum(place.astype(np.int64), side - 1)
    distance = np.linalg.norm(place - cells - 0.5, axis=1)
    order = np.lexsort((distance, cells[:, 1], cells[:, 0]))
    _, first = np.unique(cells[order], axis=0, return_index=True)
    return order[first]
