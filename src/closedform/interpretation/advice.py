"""What to try next where nothing is verified: true for this field, with the line to type."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from closedform.interpretation.answer import Interpretation

MANY_INPUTS = 20
"""From so many inputs on a formula of all of them is not what one looks for."""

EVERYTHING = "answer.explain() has every check, answer.report('page.html') the pictures."
"""The next step where nothing is to be tried."""

_OF_FINDINGS = (
    "dead-neuron", "every-function-fits", "one-hot-inputs", "many-inputs", "curved-data",
    "noisy-directions", "saturated", "zero-gradients", "too-few-points", "redundant-inputs",
)  # fmt: skip
"""Findings about a field that can be the reason, the likeliest first."""


def next_steps(answer: "Interpretation") -> tuple[str, ...]:
    """What to try where nothing is verified, the likeliest first; after `verified` only what casts
    doubt on it.
    """
    signs = answer.field_quality.finding("arbitrary-signs")
    doubts = () if signs is None else (signs.message,)
    if answer.verdict.status == "verified":
        return doubts
    if answer.verdict.status != "none":
        return (*doubts, *_surer(answer))
    return tuple(_steps(answer)) or (
        "Most neurons have no closed form. Read others with closedform.sweep, or tell the search "
        "more: space=closedform.SearchSpace(operators=[...]).",
    )


def _surer(answer: "Interpretation") -> Iterator[str]:
    """What could turn `approximate` or `ambiguous` into more."""
    if answer.provenance.status == "time":
        yield "The search ran out of time; answer.extend(60) continues it."
    if answer.fit is not None and answer.fit.kind == "network":
        yield (
            f"Directions leave {answer.fit.degrees:.2g} degrees unexplained. If that is the "
            f"network's own error, train it longer or on more data, and read it again."
        )
    if answer.alternatives:
        yield (
            "Points from a wider range of inputs may tell the alternatives apart; "
            "closedform.verify(formula, field) judges the one you expect."
        )


def _steps(answer: "Interpretation") -> Iterator[str]:
    quality = answer.field_quality
    count = len(quality.names)
    if count >= MANY_INPUTS:
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
        first = answer.structure.text.splitlines()[0]
        yield f"The search did see structure: {first} Read its parts with wrt=[...]."
    if answer.provenance.status == "time":
        yield "The search ran out of time; answer.extend(60) continues it."
