"""An answer in words: its summary, its front as a table, and what to try next."""

from collections.abc import Iterable, Iterator
from html import escape

from closedform.errors import shown
from closedform.expressions.expression import Expression
from closedform.expressions.legality import unit_of
from closedform.expressions.units import Units
from closedform.interpretation.answer_data import AnswerData
from closedform.interpretation.digits import few_digits, formula_text
from closedform.interpretation.evidence import FrontEntry

LEAST_TOLD = 0.001
"""Rivals of less weight are counted, not told."""

MOST_WARNINGS = 2
"""Of a field's warnings so many are printed: an answer is read in a terminal, at a glance."""

_HEADS = ("complexity", "misalignment", "formula")

MANY_INPUTS = 20
"""From so many inputs on a formula of all of them is not what one looks for."""

EVERYTHING = "answer.explain() has every check, answer.report('page.html') the pictures."
"""The next step where nothing is to be tried."""

OUT_OF_TIME = "The search ran out of time; answer.extend(60) continues it."

_OF_FINDINGS = (
    "broken-symmetry", "dead-neuron", "every-function-fits", "one-hot-inputs", "many-inputs",
    "curved-data", "noisy-directions", "saturated", "zero-gradients", "too-few-points",
    "redundant-inputs",
)  # fmt: skip
"""Findings about a field that can be the reason, the likeliest first."""


def brief(answer: AnswerData) -> str:
    """The formula, the verdict, three numbers and the next step."""
    lines = [str(answer.verdict), *_figures(answer)]
    # To the digits that standard errors allow; `Interpretation.full` has all.
    formulas = [formula_text(formula, errors_of(answer, formula)) for formula in answer.formulas]
    if answer.verdict.status == "none":
        lines += [f"closest candidate, not the answer: {one}" for one in formulas]
    else:
        units = [f"  {shown(' '.join(answer.unit_notes))}"] if answer.unit_notes else []
        lines = [*formulas, *lines, *units, *_other_forms(answer)]
    lines += [] if answer.seeds is None else [str(answer.seeds)]
    lines += [answer.agreement] if answer.networks else []
    lines += _hypothesis_lines(answer)
    step = (*next_steps(answer), EVERYTHING)[0]
    return "\n".join([*lines, *_warnings(answer, step), f"next: {shown(step)}"])


def explanation(answer: AnswerData) -> str:
    """Everything that the verdict rests on, in sentences."""
    told = [str(answer), "", "Checks:"]
    for each in (answer, *answer.parts):
        told += [f"  {check.word}: {shown(check.text)}" for check in each.verdict.checks]
    told += [f"Choice: {answer.choice_reason}"] if answer.choice_reason else []
    for each in answer.constants:
        kind = "plain" if each.is_plain else "fitted"
        told.append(
            f"Constant {each.value:.6g} ({kind}): the data say {each.fitted:.4g} +- "
            f"{each.error:.2g}."
        )
    heavy = [rival for rival in answer.rivals if rival.weight >= LEAST_TOLD]
    told += [f"Rival of weight {one.weight:.3f}: {formula_text(one.expression)}" for one in heavy]
    if len(heavy) < len(answer.rivals):
        count = len(answer.rivals) - len(heavy)
        told.append(f"Other forms of weight below {LEAST_TOLD:g}: {count} (answer.rivals).")
    if answer.structure is not None and answer.structure.text:
        built = few_digits(answer.structure.text).splitlines()
        told += ["Structure:", *(f"  {line}" for line in built)]
    told += [f"Note: {shown(note)}" for note in answer.provenance.notes]
    told += [
        f"Note: {shown(finding.message)}"
        for finding in answer.field_quality.findings
        if finding.severity != "info"
    ]
    told += [f"Next: {shown(step)}" for step in next_steps(answer)]
    return "\n".join(told)


def _warnings(answer: AnswerData, told: str) -> list[str]:
    """What may spoil the answer, as the field says; nothing twice, and two lines at most."""
    severe = [one for one in answer.field_quality.findings if one.severity != "info"]
    messages = [one.message for one in severe if one.message != told]
    lines = [f"warning: {shown(message)}" for message in messages[:MOST_WARNINGS]]
    more = len(messages) - MOST_WARNINGS
    return [*lines, f"warnings: {more} more, answer.explain() has all"] if more > 0 else lines


def _figures(answer: AnswerData) -> list[str]:
    """Three numbers in a line; none where nothing was judged."""
    if answer.alignment is None:
        return []
    figures = [f"median angle {answer.alignment.angles[0]:.2g} degrees"]
    if answer.phi is not None:
        figures.append(f"{100 * answer.phi.r2:.4g}% of the latent's variance explained")
    elif answer.entry is not None:
        figures.append(f"complexity {answer.entry.complexity}")
    return [f"  {', '.join(figures)}, on {answer.alignment.n_points} unseen points"]


def _other_forms(answer: AnswerData) -> list[str]:
    """What else it may be, in three lines at most."""
    if answer.verdict.status != "ambiguous":
        return []
    shares = {rival.expression: rival.weight for rival in answer.rivals}
    texts = [
        f"{formula_text(one)} ({shares[one]:.2f})" if one in shares else formula_text(one)
        for one in answer.alternatives
    ]
    others = len(texts) - 2
    more = (
        ["  or another one" if others == 1 else f"  or one of {others} more"] if others > 0 else []
    )
    return [f"  or {text}" for text in texts[:2]] + [f"{line}: answer.explain()" for line in more]


def errors_of(answer: AnswerData, formula: Expression) -> tuple[float, ...]:
    """Standard errors of a concept's constants; none if they are not known."""
    for each in (answer, *answer.parts):
        if each.entry is not None and formula == each.entry.expression:
            return each.entry.errors
    return ()


def _hypothesis_lines(answer: AnswerData) -> list[str]:
    """The user's own formula compared with the answer."""
    guess = answer.hypothesis
    if guess is None:
        return []
    word = "the same concept" if guess.status != "different" else "another concept"
    mine = None if answer.alignment is None else answer.alignment.misalignment
    if guess.status == "different" and mine is not None and guess.misalignment < mine:
        word += ", which fits better"
    own = "" if mine is None else f", the formula's {mine:.2g}"
    return [
        f"hypothesis {formula_text(guess.expression)}: {word}. Its misalignment is "
        f"{guess.misalignment:.2g}{own}. {shown(guess.reason)}"
    ]


class FrontTable(tuple[FrontEntry, ...]):
    """Entries of a front, simplest first; a tuple in everything but how it shows itself."""

    units: Units | None = None

    @classmethod
    def of(cls, entries: Iterable[FrontEntry], units: Units | None) -> "FrontTable":
        """Entries whose units are shown where those of the inputs are known."""
        table = cls(entries)
        table.units = units
        return table

    def __repr__(self) -> str:
        """A line for each formula."""
        if not self:
            return "(no candidates)"
        lines = [f"{_HEADS[0]}  {_HEADS[1]}  {_HEADS[2]}"]
        lines += [f"{size:>10}  {value:>12}  {formula}" for size, value, formula in self._rows()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        left = '<td style="text-align:left;white-space:nowrap">'
        cells = ["".join(f"{left}{escape(cell)}</td>" for cell in row) for row in self._rows()]
        rows = "".join(f"<tr>{row}</tr>" for row in cells)
        heads = "".join(f'<th style="text-align:left">{head}</th>' for head in _HEADS)
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        # A formula that is wider than a phone scrolls by itself, and the page does not.
        return f'<div style="overflow-x:auto">{table}</div>'

    def _rows(self) -> list[tuple[str, str, str]]:
        rows = []
        for entry in self:
            unit = None if self.units is None else unit_of(entry.expression, self.units)
            formula = shown(formula_text(entry.expression, entry.errors))
            formula += "" if unit is None else f"  [{unit}]"
            rows.append((str(entry.complexity), f"{entry.misalignment:.2e}", formula))
        return rows


def next_steps(answer: AnswerData) -> tuple[str, ...]:
    """What to try where nothing is verified, likeliest first; else only what casts doubt on it."""
    signs = answer.field_quality.finding("arbitrary-signs")
    doubts = () if signs is None else (signs.message,)
    if answer.verdict.status == "verified":
        return doubts
    alike = answer.field_quality.finding("alike-inputs")
    if alike is not None:
        return (*doubts, alike.message)
    if answer.verdict.status != "none":
        return (*doubts, *_surer(answer))
    return tuple(_steps(answer)) or (
        "Most neurons have no closed form. Read others with closedform.sweep, or tell the search "
        "more: space=closedform.SearchSpace(operators=[...]).",
    )


def _surer(answer: AnswerData) -> Iterator[str]:
    """What could turn `approximate` or `ambiguous` into more."""
    if answer.provenance.status == "time":
        yield OUT_OF_TIME
    if answer.fit is not None and answer.fit.kind == "network":
        left = f"{answer.fit.degrees:.2g}"
        unit = "degree" if left == "1" else "degrees"
        yield (
            f"Directions leave {left} {unit} unexplained. If that is the network's own error, "
            "train it longer or on more data, and read it again."
        )
    if answer.alternatives:
        yield (
            "Points from a wider range of inputs may tell the alternatives apart; "
            "closedform.verify(formula, field) judges the one you expect."
        )


def _steps(answer: AnswerData) -> Iterator[str]:
    quality = answer.field_quality
    count = len(quality.names)
    if count >= MANY_INPUTS and quality.finding("broken-symmetry") is None:
        yield (
            f"There are {count} inputs. If they are made from a few quantities q by a function (a "
            f"simulator, a renderer, features), read the neuron in these: "
            f"closedform.interpret(model, q, neuron, names=[...], transform=function)."
        )
    findings = {finding.code: finding for finding in quality.findings}
    for code in _OF_FINDINGS:
        if code in findings:
            yield findings[code].message
    if answer.structure is not None and answer.structure.text:
        first = few_digits(answer.structure.text).splitlines()[0]
        yield f"The search did see structure: {first} Read its parts with wrt=[...]."
    if answer.provenance.status == "time":
        yield OUT_OF_TIME
