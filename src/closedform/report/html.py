"""The report, one self-contained page; and the notebook's display, a few lines of HTML."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from closedform import __version__
from closedform.basics.files import write_text
from closedform.basics.optional import require
from closedform.errors import shown
from closedform.expressions.expression import Expression
from closedform.interpretation.answer import Interpretation, ability
from closedform.interpretation.answer_data import NetworkReading
from closedform.interpretation.digits import few_digits, rounded_formula
from closedform.interpretation.verdict import Verdict
from closedform.report import figure_numbers, figures, svg
from closedform.report.figure_numbers import angle_histogram, readable, short_number
from closedform.report.figures import CHECK_MARKS, LOOKS, check_counts, hypothesis_sentence, title
from closedform.report.mathml import mathml_terms
from closedform.report.svg import concept_picture


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


@ability("notebook")
def fragment(interpretation: Interpretation) -> str:
    """The verdict, the formulas and the figures behind them as one ``div``."""
    verdict, parts = interpretation.verdict, interpretation.parts
    border = f"border-left:4px solid {LOOKS[verdict.status].notebook};padding:2px 0 2px 14px"
    concepts = [_concept(p, f"{_status(p.verdict)} ") + _checks(p.verdict) for p in parts]
    return "".join(
        [
            f'<div style="{border};margin:4px 0;max-width:760px;line-height:1.5">',
            f'<div style="opacity:.7;font-size:.9em">{_safe(title(interpretation))}</div>',
            f"<div>{_status(verdict)} {_safe(verdict.sentence)}</div>",
            *(concepts or [_concept(interpretation)]),
            _line(_safe(interpretation.agreement)),
            *(_network(reading) for reading in interpretation.networks),
            _checks(verdict, "Reasons for the joint verdict" if parts else "Reasons"),
            _hypothesis(interpretation),
            _structure(interpretation),
            *(_line(f"Try next: {_safe(step)}") for step in interpretation.next_steps),
            "</div>",
        ]
    )


def _safe(text: str) -> str:
    """Text from outside: visible, no markup, and numbers as on the page."""
    return escape(shown(readable(text)))


def _typeset(expression: Expression) -> str:
    return " ".join(mathml_terms(expression))


def _line(content: str) -> str:
    return f'<div style="font-size:.9em">{content}</div>' if content else ""


def _hypothesis(interpretation: Interpretation) -> str:
    """The user's own formula, compared with the answer."""
    guess = interpretation.hypothesis
    if guess is None:
        return ""
    typeset = _typeset(guess.expression)
    return _line(f"Your hypothesis {typeset}: {_safe(hypothesis_sentence(guess))}")


def _structure(interpretation: Interpretation) -> str:
    """How the formula is built, folded away."""
    if interpretation.structure is None:
        return ""
    lines = few_digits(interpretation.structure.text).splitlines()
    text = escape("\n".join(map(shown, lines)))
    heading = "<summary>How it is built</summary>"
    return (
        f'<details style="font-size:.9em">{heading}<pre '
        f'style="white-space:pre-wrap">{text}</pre></details>'
    )


def _status(verdict: Verdict) -> str:
    look = LOOKS[verdict.status]
    return f'<strong style="color:{look.notebook}">{look.word}.</strong>'


def _concept(interpretation: Interpretation, status: str = "") -> str:
    """The formula, if there is one, and its figures in a line."""
    if interpretation.concept is None:
        return _line(status)
    entry = interpretation.entry
    errors = () if entry is None else entry.errors
    typeset = _typeset(rounded_formula(interpretation.concept, errors))
    caption = _line(_safe(LOOKS[interpretation.verdict.status].caption))
    formula = f'{caption}<div style="font-size:1.5em;padding:6px 0;overflow-x:auto">{typeset}</div>'
    units = _line(_safe(" ".join(interpretation.unit_notes)))
    return formula + units + _line(status + _figures(interpretation))


def _figures(interpretation: Interpretation) -> str:
    entry, n_rivals = interpretation.entry, len(interpretation.rivals)
    if entry is None:
        return ""
    figures = [f"misalignment {short_number(entry.misalignment)}", f"complexity {entry.complexity}"]
    histogram = angle_histogram(entry.angles)
    if histogram is not None:
        figures.insert(1, f"median angle {short_number(histogram.median)}°")
    figures += [f"{n_rivals} rival{'s' if n_rivals > 1 else ''}"] if n_rivals else []
    return " · ".join(figures)


def _network(reading: NetworkReading) -> str:
    said = ", ".join(f"{_status(verdict)} {check_counts(verdict)}" for verdict in reading.verdicts)
    return _line(f"{_safe(reading.name)}: {said}")


def _checks(verdict: Verdict, heading: str = "Reasons") -> str:
    lines = [f"{CHECK_MARKS[check.word]}&ensp;{_safe(check.sentence)}" for check in verdict.checks]
    rows = "".join(f"<div>{line}</div>" for line in lines)
    details = f'<details style="font-size:.9em"><summary>{heading}</summary>{rows}</details>'
    return details if rows else ""
