"""The judgement: from the results of all checks to one verdict. It never changes the formula."""

from collections.abc import Sequence
from dataclasses import replace

from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Misfit, Rival
from closedform.interpretation.verdict import CheckResult, Verdict
from closedform.judge.checks import Check, Evidence, Sure


def judge(
    checks: Sequence[Check], evidence: Evidence, fit: Misfit, alternatives: Sequence[Rival]
) -> Verdict:
    """Make all checks and weigh them.

    `verified` needs every required check made, and none failed. `ambiguous`: only the confidence
    is missing, and most of the weight is on forms that were thought of. Otherwise `approximate` or
    `none`, by the bound on the alignment.
    """
    others = tuple(rival.expression for rival in alternatives)
    results = tuple(replace(check.measure(evidence), name=check.name) for check in checks)
    failed = {
        check.name: check.failure
        for check, result in zip(checks, results, strict=True)
        if result.passed is False
    }
    missing = [result.name for result in results if result.passed is None and result.is_required]
    # Rounded down: 1.00 would say more than can be known.
    count, sure = evidence.n_points, int(100 * evidence.judged.confidence) / 100
    if not failed and not missing:
        said = (
            f"What the network computes here is an invertible function of this formula, "
            f"{fit.claim} (confidence {sure:.2f})."
        )
        return Verdict("verified", said, results, count)
    # Several spellings of one form may share the weight; then no other form is told.
    is_shared = bool(evidence.judged.listed())
    if set(failed) == {Sure.name} and not missing and evidence.judged.unknown < 0.5 and is_shared:
        shared = sum(rival.weight for rival in alternatives)
        return Verdict("ambiguous", _of_several(len(others), sure, shared), results, count, others)
    if evidence.alignment.bound > evidence.thresholds.approximate:
        return Verdict("none", "The network does not follow this formula here.", results, count)
    why = list(failed.values()) or [f"these checks could not be made: {', '.join(missing)}"]
    if set(failed) == {Sure.name} and not is_shared:
        why = ["a formula that was not found may be the truth"]
    said = (
        f"The network follows this formula within about {fit.degrees:.2g} degrees, but "
        f"{' and '.join(why)} (confidence {sure:.2f})."
    )
    return Verdict("approximate", said, results, count, others)


def _of_several(count: int, sure: float, shared: float) -> str:
    """What is known where several forms fit: the share of each, and what is kept for the unknown.
    What spellings of one form shared is not known to be its own, and is kept too.
    """
    for_others = round(shared, 2)
    kept = max(1 - sure - for_others, 0.0)
    if not count:
        return (
            f"No other form that was found fits as well as this formula, but the truth may be "
            f"another (confidence {sure:.2f}; {kept:.2f} is kept for what was not found)."
        )
    they = "1 other fits" if count == 1 else f"{count} others fit"
    return (
        f"This formula fits as well as anything found, and {they} as well; the truth may be "
        f"another (confidence {sure:.2f} for this one, {for_others:.2f} for the other"
        f"{'s' if count > 1 else ''}, {kept:.2f} kept for what was not found)."
    )


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
