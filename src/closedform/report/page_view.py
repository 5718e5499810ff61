"""What the page's template reads: every formula, picture and number already as text."""

from dataclasses import dataclass
from typing import Any

from closedform.expressions.expression import Expression
from closedform.optional import require
from closedform.report.figure_data import CandidateView, Coefficient, ReportData
from closedform.report.figure_numbers import LogAxis, angle_histogram, short_number, tick_labels, ticks
from closedform.report.mathml import mathml_terms
from closedform.report.svg import angles_svg, directions_svg, phi_svg

STATUS_WORDS = {"verified": "Verified", "approximate": "Approximate", "none": "No closed form found"}


@dataclass(frozen=True, slots=True)
class Bar:
    """One candidate on the page; lengths are percentages of the chart's height."""

    index: int
    complexity: int
    formula: Any
    text: str
    misalignment: str
    interval: str
    angle: str
    engine: str
    marks: tuple[str, ...]
    height: float
    whisker: tuple[float, float] | None
    phi: Any
    angles: Any
    is_chosen: bool
    is_steepest: bool


@dataclass(frozen=True, slots=True)
class Whisker:
    """One coefficient on the page; places are percentages of the chart's width."""

    term: Any
    text: str
    place: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Scale:
    """Labels along an axis, as (place in percent, text)."""

    labels: tuple[tuple[float, str], ...]
    zero: float | None = None


def formula(expression: Expression) -> Any:
    """MathML that breaks into lines between terms, marked as safe for the template."""
    return _markup(" ".join(mathml_terms(expression)))


def bars(data: ReportData) -> tuple[list[Bar], Scale, float | None]:
    """Every candidate, the labels of the axis, and where the floor lies."""
    values = [candidate.misalignment for candidate in data.candidates]
    axis = LogAxis.around([*values, *([] if data.floor is None else [data.floor])])
    labels = tuple((_percent(axis.share(10.0**exponent)), str(exponent)) for exponent in axis.exponents)
    floor = None if data.floor is None else _percent(axis.share(data.floor))
    return [_bar(data, index, axis) for index in range(len(data.candidates))], Scale(labels), floor


def whiskers(coefficients: tuple[Coefficient, ...]) -> tuple[list[Whisker], Scale]:
    """Coefficients on one axis that includes zero."""
    ends = [0.0, *(end for c in coefficients for end in (c.low, c.high, c.value))]
    low, high = min(ends), max(ends)
    pad = 0.05 * (high - low) or 1.0
    low, high = low - pad, high + pad

    def place(value: float) -> float:
        return _percent((value - low) / (high - low))

    rows = [Whisker(_term(c.term), _interval_text(c), place(c.value), place(c.low), place(c.high)) for c in coefficients]
    marks = ticks(low, high, 4)
    labels = tuple((place(value), text) for value, text in zip(marks, tick_labels(marks), strict=True))
    return rows, Scale(labels, zero=place(0.0))


def directions(data: ReportData) -> Any:
    """The direction field's picture, or None."""
    return None if data.directions is None else _markup(directions_svg(data.directions))


def _bar(data: ReportData, index: int, axis: LogAxis) -> Bar:
    candidate = data.candidates[index]
    is_chosen, is_steepest = index == data.chosen, index == data.steepest_drop
    marks = [*(["chosen"] if is_chosen else []), *(["steepest drop"] if is_steepest else [])]
    marks += [candidate.note] if candidate.note and candidate.note not in marks else []
    low, high = candidate.interval or (candidate.misalignment, candidate.misalignment)
    return Bar(
        index=index,
        complexity=candidate.complexity,
        formula=formula(candidate.expression),
        text=str(candidate.expression),
        misalignment=short_number(candidate.misalignment),
        interval="" if candidate.interval is None else f"{short_number(low)} to {short_number(high)}",
        angle=_angle_text(candidate),
        engine=candidate.engine,
        marks=tuple(marks),
        height=_percent(axis.share(candidate.misalignment)),
        whisker=None if candidate.interval is None else (_percent(axis.share(low)), _percent(axis.share(high))),
        phi=_markup(phi_svg(candidate)),
        angles=_markup(angles_svg(candidate)),
        is_chosen=is_chosen,
        is_steepest=is_steepest,
    )


def _angle_text(candidate: CandidateView) -> str:
    histogram = None if candidate.angles is None else angle_histogram(candidate.angles)
    return "" if histogram is None else f"{short_number(histogram.median)}°"


def _term(term: Expression | str) -> Any:
    return formula(term) if isinstance(term, Expression) else term


def _interval_text(coefficient: Coefficient) -> str:
    low, high = (f"{value:.4g}".replace("-", "\N{MINUS SIGN}") for value in (coefficient.low, coefficient.high))
    return f"{coefficient.value:.4g} [{low}, {high}]".replace("-", "\N{MINUS SIGN}")


def _percent(share: float) -> float:
    return round(100 * share, 2)


def _markup(text: str | None) -> Any:
    """Text that our own writers have escaped already."""
    return None if text is None else require("markupsafe", extra="report").Markup(text)
