"""The report: one self-contained page."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from closedform._version import __version__
from closedform.basics.files import write_text
from closedform.basics.optional import require
from closedform.errors import shown
from closedform.expressions.expression import Expression
from closedform.interpretation.abilities import ability
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.digits import few_digits, rounded_formula
from closedform.report import figure_numbers, figures, svg
from closedform.report.concept_picture import concept_picture
from closedform.report.figures import CHECK_MARKS, LOOKS, title
from closedform.report.mathml import mathml_terms


@ability("report")
def write_report(interpretation: Interpretation, path: str | Path, symmetries: Any = None) -> Path:
    """Write the page to a file whose folder exists, and return where it is."""
    write_text(path, render_report(interpretation, symmetries))
    return Path(path)


def render_report(interpretation: Interpretation, symmetries: Any = None) -> str:
    """The page as text."""
    script = _asset("report.js")
    return (
        page_environment()
        .get_template("report.html.j2")
        .render(
            answer=interpretation,
            symmetries=None if symmetries is None else symmetries._repr_html_(),
            title=title(interpretation),
            style=style_sheet(),
            script=script,
            # Only this script may run, whatever a name in the data contains.
            script_hash=b64encode(sha256(script.encode()).digest()).decode(),
            version=__version__,
        )
    )


def page_environment() -> Any:
    """Jinja's environment, with what templates call."""
    jinja2 = require("jinja2", extra="report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("closedform.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        # Autoescaping leaves alone what turns the direction of writing, or has no width.
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(FUNCTIONS, looks=LOOKS, check_marks=CHECK_MARKS)
    return environment


def style_sheet() -> str:
    """The look of all pages."""
    return _asset("report.css")


def _visible(value: object) -> object:
    """Text from outside with escapes; markup of our own, which has no such characters, as it is."""
    return shown(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _asset(name: str) -> str:
    return (files("closedform.report") / "templates" / name).read_text(encoding="utf-8").strip()


def formula(expression: Expression, errors: Sequence[float] = ()) -> Any:
    """MathML that breaks into lines between terms, marked as escaped already; constants end where
    their errors begin.
    """
    terms = mathml_terms(rounded_formula(expression, errors))
    return require("markupsafe", extra="report").Markup(" ".join(terms))


def minus(value: float, digits: int = 4) -> str:
    """A number with a real minus sign."""
    return figure_numbers.short_number(value, digits).replace("-", "\N{MINUS SIGN}")


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
    rows = figure_numbers.coefficients(interpretation)
    ends = [0.0, *(end for row in rows for end in (row.low, row.high, row.value))]
    low, high = figure_numbers.padded(min(ends), max(ends))

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
    figure_numbers.network_terms,
    figure_numbers.network_spreads,
    figures.evidence_rows,
    figures.check_counts,
    figures.hypothesis_sentence,
    figure_numbers.angle_histogram,
    figure_numbers.front_axis,
    figure_numbers.readable,
    few_digits,
    figure_numbers.short_number,
    concept_picture,
    svg.angles_svg,
    svg.directions_svg,
    svg.phi_svg,
)

FUNCTIONS = {function.__name__: function for function in _CALLED}
"""By the names that the templates use."""
