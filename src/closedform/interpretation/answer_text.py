"""An answer in words: briefly, and with everything that its verdict rests on."""

from typing import TYPE_CHECKING

from closedform.expressions.expression import Expression
from closedform.interpretation.advice import EVERYTHING
from closedform.interpretation.digits import formula_text
from closedform.shown import shown

if TYPE_CHECKING:
    from closedform.interpretation.answer import Interpretation

LEAST_TOLD = 0.001
"""Rivals of less weight are counted, not told."""


def brief(answer: "Interpretation") -> str:
    """The formula, the verdict, three numbers and the next step."""
    lines = [str(answer.verdict), *_figures(answer)]
    formulas = _shown_formulas(answer)
    if answer.verdict.status == "none":
        lines += [f"closest candidate, not the answer: {one}" for one in formulas]
    else:
        units = [f"  {shown(' '.join(answer.unit_notes))}"] if answer.unit_notes else []
        lines = [*formulas, *lines, *units, *_other_forms(answer)]
    lines += [] if answer.seeds is None else [str(answer.seeds)]
    lines += [answer.agreement] if answer.networks else []
    lines += _hypothesis_lines(answer)
    return "\n".join([*lines, f"next: {shown((*answer.next_steps, EVERYTHING)[0])}"])


def explanation(answer: "Interpretation") -> str:
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
        told += ["Structure:", *(f"  {line}" for line in answer.structure.text.splitlines())]
    told += [f"Note: {shown(note)}" for note in answer.provenance.notes]
    told += [
        f"Note: {shown(finding.message)}"
        for finding in answer.field_quality.findings
        if finding.severity != "info"
    ]
    told += [f"Next: {shown(step)}" for step in answer.next_steps]
    return "\n".join(told)


def _figures(answer: "Interpretation") -> list[str]:
    """Three numbers in a line; none where nothing was judged."""
    if answer.alignment is None:
        return []
    figures = [f"median angle {answer.alignment.angles[0]:.2g} degrees"]
    if answer.phi is not None:
        figures.append(f"{100 * answer.phi.r2:.4g}% of the latent's variance explained")
    elif answer.entry is not None:
        figures.append(f"complexity {answer.entry.complexity}")
    return [f"  {', '.join(figures)}, on {answer.alignment.n_points} unseen points"]


def _other_forms(answer: "Interpretation") -> list[str]:
    """What else it may be, in three lines at most."""
    if answer.verdict.status != "ambiguous":
        return []
    shares = {rival.expression: rival.weight for rival in answer.rivals}
    texts = [
        f"{formula_text(one)} ({shares[one]:.2f})" if one in shares else formula_text(one)
        for one in answer.alternatives
    ]
    more = [f"  or one of {len(texts) - 2} more: answer.explain()"] if len(texts) > 2 else []
    return [f"  or {text}" for text in texts[:2]] + more


def _shown_formulas(answer: "Interpretation") -> list[str]:
    """To the digits that standard errors allow; `Interpretation.full` has all."""
    return [formula_text(formula, errors_of(answer, formula)) for formula in answer.formulas]


def errors_of(answer: "Interpretation", formula: Expression) -> tuple[float, ...]:
    """Standard errors of a concept's constants; none if they are not known."""
    for each in (answer, *answer.parts):
        if each.entry is not None and formula == each.entry.expression:
            return each.entry.errors
    return ()


def _hypothesis_lines(answer: "Interpretation") -> list[str]:
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
