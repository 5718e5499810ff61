"""The judgement: from the results of all checks to one verdict."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from closedform.expressions.linear_formulas import is_linear
from closedform.field.gradient_field import GradientField
from closedform.interpretation.digits import formula_text
from closedform.interpretation.verdict import CheckResult, Verdict
from closedform.verification.check_evidence import Evidence
from closedform.verification.checks import Check, OneOfAKind


def judge(checks: Sequence[Check], evidence: Evidence) -> Verdict:
    """Make all checks and weigh them: `verified` needs every required one made, and none failed;
    `ambiguous` that nothing failed but that other formulas fit as well.
    """
    results = tuple(replace(check.measure(evidence), name=check.name) for check in checks)
    failed = {
        check.name: check.failure
        for check, result in zip(checks, results, strict=True)
        if result.passed is False
    }
    missing = [result.name for result in results if result.passed is None and result.is_required]
    count, claim = evidence.n_points, evidence.outcome.fit.claim
    if not failed and not missing:
        return Verdict("verified", _claim(evidence), results, count)
    others = tuple(rival.expression for rival in evidence.outcome.alternatives)
    if set(failed) == {OneOfAKind.name} and not missing:
        said = (
            f"The network computes an invertible function of one of {len(others) + 1} formulas, "
            f"and the field cannot tell which; this one is {claim}."
        )
        return Verdict("ambiguous", said, results, count, others)
    if evidence.alignment.bound > evidence.thresholds.approximate:
        found = "No closed form was found that the network follows here."
        said = found if evidence.choice else "The network does not follow this formula here."
        return Verdict("none", said, results, count, others)
    why = list(failed.values()) or [f"these checks could not be made: {', '.join(missing)}"]
    degrees = evidence.outcome.fit.degrees
    said = (
        f"The network follows this formula within about {degrees:.2g} degrees, but "
        f"{' and '.join(why)}.{_as_linear(evidence)}"
    )
    return Verdict("approximate", said, results, count, others)


def _as_linear(evidence: Evidence) -> str:
    """What a network that is nearly linear is, where a longer formula follows its bends."""
    chance, lines = evidence.alignment.chance, evidence.thresholds
    linear = [
        entry
        for entry in evidence.others
        if is_linear(entry.expression.tree) and entry.high <= lines.verified * chance
    ]
    if not linear or is_linear(evidence.concept.tree):
        return ""
    best = min(linear, key=lambda entry: entry.misalignment)
    degrees = float(np.degrees(np.arcsin(np.sqrt(best.misalignment))))
    formula = formula_text(best.expression, best.errors)
    return f" It is nearly linear: {formula} follows it within about {degrees:.2g} degrees."


def undecided(field: GradientField) -> Verdict | None:
    """The verdict where directions cannot decide anything; None where they can."""
    n_usable = int((field.weights > 0).sum())
    if n_usable < 2:
        few = "No point" if n_usable == 0 else "Only one point"
        return nothing_found(
            f"{few} of the field has a usable direction. Choose another neuron, or inputs that it "
            "responds to; print(field.quality) says more."
        )
    if field.rank < field.tangent.rank:
        return None
    text = (
        f"The field has {field.rank} independent direction(s) in a tangent space of dimension "
        f"{field.tangent.rank}, so every function fits and directions cannot tell one concept from "
        "another. Use data with more degrees of freedom, or fewer latents at once."
    )
    check = CheckResult(False, text, name="rank")
    return Verdict("none", "Directions say nothing here, because every function fits.", (check,))


def nothing_found(sentence: str) -> Verdict:
    """The verdict when there is nothing to judge."""
    return Verdict("none", sentence, (CheckResult(False, sentence, name="alignment"),))


def _claim(evidence: Evidence) -> str:
    """What `verified` says: how well it fits, and less where no other formula was looked for."""
    claim = "What the network computes here is an invertible function of this formula"
    looked = "" if evidence.not_looked is None else "; no other was looked for"
    return f"{claim}, {evidence.outcome.fit.claim}{looked}."
