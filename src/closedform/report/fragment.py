"""The notebook's display: a few lines of HTML without script, style sheet or any package."""

from html import escape

from closedform.expressions.expression import Expression
from closedform.report.figure_data import ReportData
from closedform.report.figure_numbers import angle_histogram, short_number
from closedform.report.mathml import mathml_terms
from closedform.shown import shown

# Readable on a white and on a black page alike: notebooks do not say which one they have.
_COLOURS = {"verified": "#009E73", "approximate": "#C98A00", "none": "#D55E00"}
_MARKS = {True: "✓", False: "✕", None: "\N{EN DASH}"}
_WORDS = {"verified": "Verified", "approximate": "Approximate", "none": "No closed form found"}


def fragment(data: ReportData) -> str:
    """The verdict, the formula and the figures behind it as one ``div``.

    Examples
    --------
    >>> fragment(ReportData("Neuron fc:0", "none", "No closed form was found."))[:4]
    '<div'
    """
    colour = _COLOURS[data.status]
    pieces = [
        f'<div style="border-left:4px solid {colour};padding:2px 0 2px 14px;margin:4px 0;max-width:760px;line-height:1.5">',
        f'<div style="opacity:.7;font-size:.9em">{escape(shown(data.title))}</div>',
        f'<div><strong style="color:{colour}">{_WORDS[data.status]}.</strong> {escape(shown(data.sentence))}</div>',
        *(_formula(" ".join(mathml_terms(expression))) for expression in _expressions(data)),
        f'<div style="font-size:.9em">{_figures(data)}</div>',
    ]
    if data.reasons:
        rows = "".join(f"<div>{_MARKS[reason.passed]}&ensp;{escape(shown(reason.text))}</div>" for reason in data.reasons)
        pieces.append(f'<details style="font-size:.9em"><summary>Reasons</summary>{rows}</details>')
    return "".join([*pieces, "</div>"])


def _expressions(data: ReportData) -> tuple[Expression, ...]:
    if len(data.concepts) > 1:
        return data.concepts
    return () if data.choice is None else (data.choice.expression,)


def _formula(mathml: str) -> str:
    return f'<div style="font-size:1.5em;padding:6px 0;overflow-x:auto">{mathml}</div>'


def _figures(data: ReportData) -> str:
    if data.choice is None:
        return ""
    figures = [f"misalignment {short_number(data.choice.misalignment)}", f"complexity {data.choice.complexity}"]
    histogram = None if data.choice.angles is None else angle_histogram(data.choice.angles)
    if histogram is not None:
        figures.insert(1, f"median angle {short_number(histogram.median)}°")
    if data.rivals:
        figures.append(f"{len(data.rivals)} rival{'s' if len(data.rivals) > 1 else ''}")
    return " · ".join(figures)
