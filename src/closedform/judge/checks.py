"""Checks: each a class with a name, what it asks, what a failure means, and one method.

To add one, write the class and put an instance into `CHECKS`, or pass it to
`closedform.verify(checks=[...])`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from closedform.basics.keywords import KeywordError
from closedform.canonical.tolerances import COMPATIBLE
from closedform.expressions.expression import Expression
from closedform.expressions.legality import carried_constants, units_sentences
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Alignment, Misfit, Rival
from closedform.interpretation.verdict import CheckResult, Verdict
from closedform.judge.confidence import Judged
from closedform.judge.regions import divide, measure_alignment
from closedform.judge.thresholds import Thresholds
from closedform.judge.witnesses import VALUE_FLOOR, Witnesses

MOST_UNLIKE = 10.0
"""A network's error has about one size for all values of the held inputs; ten times leaves room for
one that few points were trained on, and a formula that fails for one value leaves more."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a check looks at.

    Attributes
    ----------
    concept : Expression
    field : GradientField
        The points that the concept is judged on; search, choice and fitting have not seen them.
    rows : ndarray of int, shape (n_points,)
        Which points of the whole field these are.
    n_points : int
        Different usable points in all, those of search and choice included.
    rng : Generator
    thresholds : Thresholds
    alignment : Alignment
    judged : Judged
        The weights of the concept and of all that competed.
    is_complete : bool
        Whether other formulas were looked for to the end: not if the search was interrupted.
    """

    concept: Expression
    field: GradientField
    rows: NDArray[np.int64]
    n_points: int
    rng: np.random.Generator
    thresholds: Thresholds
    alignment: Alignment
    judged: Judged
    is_complete: bool = True


@runtime_checkable
class Check(Protocol):
    """One test that the verdict rests on.

    Attributes
    ----------
    name : str
        A word.
    asks : str
        The question, as a sentence.
    failure : str
        What it means if the answer is no, as a clause: 'its directions deviate'.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def asks(self) -> str: ...  # noqa: D102

    @property
    def failure(self) -> str: ...  # noqa: D102

    def measure(self, evidence: Evidence) -> CheckResult:
        """Answer with `CheckResult.made`, or with `CheckResult.not_made` and the reason."""
        ...


class EnoughPoints:
    """Few points decide nothing."""

    name = "points"
    asks = "Are there enough points to judge on?"
    failure = "there are too few points"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Count them."""
        count, needed = evidence.n_points, evidence.thresholds.points
        text = (
            f"The field has {count} different usable points, and {evidence.alignment.n_points} of "
            f"them were kept to judge on; {needed} are needed."
        )
        return CheckResult.made(count >= needed, text)


class Aligned:
    """Directions on points that nobody has seen.

    Where the latent's values are known they decide: a rough network follows the truth to a
    thousandth by its values while its directions are 15 degrees off.
    """

    name = "alignment"
    asks = "Do the concept's gradients point the same way as the network's?"
    failure = "its directions deviate"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare the upper bound with the line."""
        alignment, line = evidence.alignment, evidence.thresholds.approximate
        text = (
            f"On {alignment.n_points} unseen points the misalignment is "
            f"{alignment.misalignment:.2g} (95% interval {alignment.low:.2g} to "
            f"{alignment.high:.2g}, chance {alignment.chance:.2g}). Relative to chance the upper "
            f"bound is {alignment.bound:.2g}; at most {line:g} is allowed."
        )
        is_near = alignment.bound <= line
        if not is_near and evidence.judged.has_values:
            return CheckResult.not_made(f"{text} The values decide.", is_required=False)
        return CheckResult.made(is_near, text)


class Holds:
    """What was true where it was chosen must be true elsewhere."""

    name = "unseen"
    asks = "Does it leave as little over on unseen points as the choice's regions predict?"
    failure = "it leaves more over on unseen points than where it was chosen"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare both residuals with their intervals."""
        said = [
            f"{what} it leaves {100 * np.expm1(more):+.0f}% ({more / error:+.1f} standard errors)"
            for what, (more, error) in zip(
                ("by directions", "by values"), evidence.judged.predicted.tolist(), strict=False
            )
            if error > 0
        ]
        text = (
            f"Compared with the points that it was chosen on, {' and '.join(said)}; up to "
            f"{COMPATIBLE:g} standard errors more are allowed."
            if said
            else "It is exact on both sets of points."
        )
        return CheckResult.made(evidence.judged.holds, text)


class Sure:
    """The weight of the answer among all that was thought of, and what was not."""

    name = "confidence"
    asks = "Does the evidence speak for this formula alone?"
    failure = "other formulas may be the truth"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare the confidence with the line."""
        judged, line = evidence.judged, evidence.thresholds.confidence
        if not evidence.is_complete:
            return CheckResult.not_made(
                "The search was interrupted before other formulas were looked for."
            )
        # Rounded down: 1.000 would say more than can be known.
        sure = int(1000 * judged.confidence) / 1000
        text = (
            f"Confidence {sure:.3f}; {line:g} is needed. The rest is shared by the "
            f"other {len(set(judged.groups)) - 1} forms that were weighed and what was not "
            f"thought of."
        )
        return CheckResult.made(judged.confidence >= line, text)


class UnitsPossible:
    """Sums of equal units, functions of pure numbers."""

    name = "units"
    asks = "Is the formula possible in the units of its inputs?"
    failure = "it adds different units"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Look at the formula, and tell the units of its constants."""
        units, formula = evidence.field.units, evidence.concept
        if units is None:
            return CheckResult.not_made("No units were stated.", is_required=False)
        fine = carried_constants(formula.tree, units, formula.names) is not None
        return CheckResult.made(fine, " ".join(units_sentences(formula, units)) or "Units fit.")


class AlikeForHeld:
    """One that is exact for some values of the held inputs can hide that it fails for others."""

    name = "held"
    asks = "Does it fit about as well for each value of the held inputs?"
    failure = "it fits some values of the held inputs far worse than others"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare what phi leaves of the latent, value by value of the held inputs."""
        field = evidence.field
        witnesses = Witnesses.of(field)
        _, squares = witnesses.hear(evidence.concept.rename(field.names).tree).squares()
        if squares is None:
            return CheckResult.not_made("The latent's values are not known.", is_required=False)
        # The median: a network is bad somewhere, for every value.
        sizes = [
            float(np.sqrt(np.median(squares[witnesses.held == label]) + VALUE_FLOOR))
            for label in np.unique(witnesses.held)
        ]
        ratio = max(sizes) / min(sizes)
        text = (
            f"For one value of the held inputs phi leaves {ratio:.2g} times as much as for "
            f"another; at most {MOST_UNLIKE:g} times is allowed."
        )
        return CheckResult.made(ratio <= MOST_UNLIKE, text)


@dataclass(frozen=True)
class FollowsLatents:
    """For one of several concepts: modulo other formulas that are not exact either, one can fit
    better than it deserves.
    """

    whole: GradientField  # of all latents
    name: str = "latents"
    asks: str = "Does it lie in the span of all latents, not only modulo the other concepts?"
    failure: str = "a part of it is not a function of the latents"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Measure the alignment with the span of all latents."""
        field = self.whole.subset(evidence.rows)
        whole = measure_alignment(evidence.concept, field, divide(field, evidence.rng))
        allowed = evidence.thresholds.span
        text = (
            f"Without the worst 5% of the points, a share of {whole.trimmed:.2g} of its directions "
            f"lies outside those of all latents together; the upper bound relative to chance is "
            f"{whole.trimmed_bound:.2g}, and at most {allowed:g} is allowed."
        )
        return CheckResult.made(whole.trimmed_bound <= allowed, text)


CHECKS: tuple[Check, ...] = (EnoughPoints(), Aligned(), Holds(), Sure())
"""What every verdict rests on, as questions in their order."""


def all_checks(
    further: Sequence[Check] | None, field: GradientField | None = None
) -> tuple[Check, ...]:
    """The built-in checks and a user's: a verdict never rests on fewer. Units where there are any,
    and each value of held inputs.
    """
    for check in further or ():
        if isinstance(check, type) or not isinstance(check, Check):
            raise KeywordError(
                f"{check!r:.80} is not a check; pass objects with name, asks, failure and "
                f"measure(evidence)."
            )
    checks = [*CHECKS, *(further or ())]
    if field is not None and field.units is not None:
        checks.append(UnitsPossible())
    if field is not None and field.held is not None:
        checks.append(AlikeForHeld())
    return tuple(checks)


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
