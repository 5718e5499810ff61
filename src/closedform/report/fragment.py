"""The notebook's display: a few lines of HTML without script or style sheet."""

from html import escape

from closedform.errors import shown
from closedform.expressions.expression import Expression
from closedform.interpretation.abilities import ability
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.digits import few_digits, rounded_formula
from closedform.interpretation.several import NetworkReading
from closedform.interpretation.verdict import Verdict
from closedform.report.figure_numbers import angle_histogram, readable, short_number
from closedform.report.figures import CHECK_MARKS, LOOKS, check_counts, hypothesis_sentence, title
from closedform.report.mathml import mathml_terms


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
