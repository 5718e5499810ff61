"""What the page's templates call to show an answer."""

from collections.abc import Callable, Sequence
from typing import Any

from closedform.expressions.expression import Expression
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.digits import rounded_formula
from closedform.optional import require
from closedform.report import coefficient_intervals, figure_numbers, figures, svg
from closedform.report.mathml import mathml_terms


def formula(expression: Expression, errors: Sequence[float] = ()) -> Any:
    """MathML that breaks into lines between terms, marked as escaped already; constants end where
    their errors begin.
    """
    terms = mathml_terms(rounded_formula(expression, errors))
    return require("markupsafe", extra="report").Markup(" ".join(terms))


def minus(value: float, digits: int = 4) -> str:
    """A number with a real minus sign."""
    return f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def marks(interpretation: Interpretation, place: int) -> list[str]:
    """What is special about a formula of the front."""
    rivals = {rival.expression for rival in interpretation.rivals}
    holds = {
        "chosen": place == interpretation.chosen,
        "steepest drop": place == interpretation.steepest_drop,
        "rival": interpretation.front[place].expression in rivals,
    }
    return [mark for mark in holds if holds[mark]]


def coefficient_chart(interpretation: Interpretation) -> dict[str, Any]:
    """The rows of coefficients, and the axis, with zero on it, as a function and labelled places.

    Places are percentages of the chart's width.
    """
    rows = coefficient_intervals.coefficients(interpretation)
    ends = [0.0, *(end for row in rows for end in (row.low, row.high, row.value))]
    low, high = min(ends), max(ends)
    pad = 0.05 * (high - low) or 1.0
    low, high = low - pad, high + pad

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    ticks = figure_numbers.ticks(low, high, 4)
    labels = zip(map(place, ticks), figure_numbers.tick_labels(ticks), strict=True)
    return {"rows": rows, "place": place, "labels": list(labels)}


_CALLED: tuple[Callable[..., Any], ...] = (
    formula,
    minus,
    marks,
    coefficient_chart,
    coefficient_intervals.network_terms,
    coefficient_intervals.network_spreads,
    figures.evidence_rows,
    figures.check_counts,
    figures.hypothesis_sentence,
    figure_numbers.angle_histogram,
    figure_numbers.front_axis,
    figure_numbers.short_number,
    svg.angles_svg,
    svg.directions_svg,
    svg.phi_svg,
)

FUNCTIONS = {function.__name__: function for function in _CALLED}
"""By the names that the templates use."""
