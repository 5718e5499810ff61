"""Checks: each a class with a name, what it asks, what a failure means, and one method.

To add one, write the class and put an instance into `CHECKS`, or pass it to
`closedform.verify(checks=[...])`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from closedform.alignment.misalignment import TRIM
from closedform.alignment.tolerances import PERFECT
from closedform.expressions.fitted_constants import constant_values, fitted_positions, fitted_powers
from closedform.expressions.linear_formulas import is_linear, may_be_accident
from closedform.field.gradient_field import GradientField
from closedform.field.notes import HELD_VARY
from closedform.interpretation.digits import formula_text
from closedform.interpretation.verdict import CheckResult
from closedform.keywords import KeywordError
from closedform.selection.regions import divide
from closedform.verification.alignment import measure_alignment
from closedform.verification.check_evidence import Evidence
from closedform.verification.description import description_length
from closedform.verification.residuals import curved_share
from closedform.verification.signs import measure_reversals, signs_along
from closedform.verification.structure_agreement import disagreements

LESS_EARNED = 2 / 3
"""Share of the economy that is asked for where noise ends the gain, whatever the formula, and of a
formula without fitted numbers, which has nothing to follow a function with."""


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
        used = (
            f", and {evidence.alignment.n_points} of them were held out to judge on"
            if evidence.choice
            else ""
        )
        return CheckResult.made(
            count >= needed,
            f"The field has {count} different usable points{used}; {needed} are needed.",
        )


class Aligned:
    """The heart of it: directions on held-out points."""

    name = "alignment"
    asks = (
        "Do the concept's gradients point the same way as the network's, on points that the search "
        "has not seen?"
    )
    failure = "its directions deviate"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare upper bounds with both lines."""
        alignment, lines = evidence.alignment, evidence.thresholds
        kind = "held-out points" if evidence.choice else "points"
        text = (
            f"On {alignment.n_points} {kind} the misalignment is "
            f"{alignment.misalignment:.2g} (95% interval "
            f"{alignment.low:.2g} to {alignment.high:.2g}, chance {alignment.chance:.2g}). "
            f"Relative to chance, the upper bound is {alignment.trimmed_bound:.2g} without the "
            f"worst 5% of them (at most {lines.verified:g} is allowed) and {alignment.bound:.2g} "
            f"with them (at most {lines.approximate:g})."
        )
        fine = alignment.trimmed_bound <= lines.verified and alignment.bound <= lines.approximate
        return CheckResult.made(fine, text)


class Monotone:
    """phi must be invertible."""

    name = "phi"
    asks = "Is the latent a monotone function of the concept?"
    failure = "the latent is not a monotone function of it"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare the rank correlation, and the signs of gradients."""
        phi, least = evidence.phi, evidence.thresholds.rank_correlation
        if phi is None and HELD_VARY in evidence.field.notes:
            return CheckResult.not_made(
                "Inputs that are held fixed differ from point to point and change the latent too, "
                "so it cannot be tested whether phi is monotone.",
                is_required=False,
            )
        turns = _turns_back(evidence)
        if phi is None and turns is None:
            return CheckResult.not_made(
                "Whether phi is monotone cannot be tested: that needs the values of a single "
                "latent, or gradients whose signs are known.",
                is_required=False,
            )
        said = [] if turns is None else [turns.text]
        if phi is not None:
            said.append(
                f"The rank correlation of latent and concept is {phi.rank_correlation:.4f} (at "
                f"least {least:g} in size is needed); a monotone phi explains "
                f"{100 * phi.r2:.1f}% of the latent's variance."
            )
        follows = phi is None or abs(phi.rank_correlation) >= least
        keeps_sign = turns is None or turns.passed is True
        return CheckResult.made(follows and keeps_sign, " ".join(reversed(said)))


def _turns_back(evidence: Evidence) -> CheckResult | None:
    """Whether the concept's gradient points with the network's at some points and against it at
    others; None where signs mean nothing.
    """
    field, lines = evidence.field, evidence.thresholds
    if not field.is_signed:
        return None
    (found,) = measure_reversals([signs_along(evidence.concept, field)], field)
    # What is exact points the same way everywhere; elsewhere a few points are always bad.
    allowed = 0.0 if evidence.outcome.fit.kind == "exact" else TRIM
    passed = not found.is_fold(lines.significance, allowed)
    if found.share > allowed and passed:
        return None  # they change from point to point: the signs are arbitrary
    text = (
        f"With one overall sign, the concept's gradient points against the network's at "
        f"{100 * found.share:.2g}% of the points and along it at the others."
    )
    return CheckResult.made(passed, text)


class Explained:
    """What a formula leaves over must be noise, or what a trained network gets wrong."""

    name = "fit"
    asks = "Is what it leaves over rounding, noise, or a trained network's own error?"
    failure = "it leaves over more than noise"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Look at the part of the misalignment that neighbours share."""
        fit = evidence.outcome.fit
        text = f"The formula is {fit.claim}"
        if fit.kind != "exact":
            text += (
                f": without the worst 5% of the points its misalignment is {fit.total:.2g}, and "
                f"neighbouring points share {fit.systematic:.2g} of it "
                f"({fit.z:.2g} standard errors)"
            )
        return CheckResult.made(fit.kind != "lack", f"{text}.")


class Advantage:
    """A complex formula must earn its complexity."""

    name = "advantage"
    asks = "Is it much better than anything of half its complexity, or than chance?"
    failure = "much simpler formulas are nearly as good"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare with the best simple one."""
        simple = [
            entry.misalignment
            for entry in evidence.others
            if entry.complexity <= evidence.complexity / 2
        ]
        rival, needed = (
            min(simple, default=evidence.alignment.chance),
            evidence.thresholds.advantage,
        )
        whom = "anything of half its complexity" if simple else "chance"
        own = max(evidence.alignment.misalignment, PERFECT)
        text = (
            f"It is {rival / own:.3g} times better than {whom}; it must be at least {needed:g} "
            f"times better."
        )
        return CheckResult.made(rival >= needed * own, text)


class Earned:
    """A sum of enough terms follows any smooth function; the truth needs fewer."""

    name = "economy"
    asks = "Does it explain more than a stand-in of its length would?"
    failure = "so flexible a formula follows any smooth function as well"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare what it explains, for each unit of its description, with what stand-ins do."""
        fit, lines = evidence.outcome.fit, evidence.thresholds
        if fit.kind == "exact":
            return CheckResult.made(True, "It is exact, which no stand-in is.")
        tree = evidence.concept.tree
        powers = constant_values(tree, fitted_powers(tree))
        if fit.kind == "network" and powers:
            text = (
                f"It has a fitted power, {powers[0]:.3g}. Within a network's error such a power "
                f"follows many functions, log(1 + x) and x/(1 + x) among them."
            )
            return CheckResult.made(False, text)
        is_less = fit.kind == "noise" or not fitted_positions(tree)
        needed = lines.economy * (LESS_EARNED if is_less else 1)
        gain = float(np.log(evidence.alignment.chance / max(fit.total, lines.rounding)))
        # To name an input and join it to the others takes two units, whatever the formula.
        further = max(description_length(tree) - 2 * len(tree.variables), 1.0)
        rate = gain / further
        text = (
            f"Beyond naming its inputs, each unit of its description explains {rate:.2g} nats of "
            f"the directions; {needed:.2g} are needed, because sums that can follow any smooth "
            f"function explain nearly as much."
        )
        return CheckResult.made(rate >= needed, text)


class NotOnlyLinear:
    """Every smooth function looks linear from near by."""

    name = "curvature"
    asks = "If it is linear, is the network linear, and not merely nearly so?"
    failure = "it is the linear part of something curved"

    def measure(self, evidence: Evidence) -> CheckResult:
        """See whether squares and products explain what a linear formula leaves over."""
        fit, lines = evidence.outcome.fit, evidence.thresholds
        tree = evidence.concept.tree
        if fit.kind != "network" or not is_linear(tree) or not may_be_accident(tree):
            return CheckResult.not_made(
                "Only linear formulas of networks can be the linear part of something curved.",
                is_required=False,
            )
        share = curved_share(evidence.concept, evidence.field)
        text = (
            f"Squares and products of the inputs explain {100 * max(share, 0):.0f}% of what this "
            f"linear formula leaves over; up to {100 * lines.curved:g}% may be a network's error."
        )
        return CheckResult.made(share <= lines.curved, text)


class Preferred:
    """No other formula may be better by more than its description costs."""

    name = "choice"
    asks = "Is no other formula better by more than its description costs?"
    failure = "another formula fits clearly better"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare with the best of the rivals that were found or made."""
        if evidence.not_looked is not None:
            return evidence.not_looked
        outcome, lines = evidence.outcome, evidence.thresholds
        better = [r for r in outcome.rivals if r.difference < -np.log(lines.alike)]
        if better:
            best = better[0]
            ratio = outcome.fit.total / max(best.misalignment, lines.rounding)
            return CheckResult.made(
                False, f"{best.expression} is {ratio:.3g} times better ({best.source})."
            )
        said = (
            f"None of {outcome.n_compared} other formulas fits better once its length is paid for."
        )
        return CheckResult.made(True, f"{said} {evidence.choice}".strip())


class OneOfAKind:
    """The set of what the field cannot tell apart must hold one formula."""

    name = "alternatives"
    asks = "Is it the only formula that the field supports?"
    failure = "the field cannot tell it from other formulas"

    def measure(self, evidence: Evidence) -> CheckResult:
        """List those that were found or made and fit as well."""
        if evidence.not_looked is not None:
            return evidence.not_looked
        outcome = evidence.outcome
        others = outcome.alternatives
        if not others and not outcome.is_complete and outcome.fit.kind != "exact":
            return CheckResult.not_made(
                f"Time ran out after {outcome.n_compared} other formulas. The field tells it from "
                "these; a longer budget compares it with the rest."
            )
        if not others:
            return CheckResult.made(
                True, f"The field tells it from all {outcome.n_compared} other formulas."
            )
        listed = "; ".join(formula_text(rival.expression) for rival in others[:3])
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        nearest = min(others, key=lambda rival: rival.degrees_on_data)
        place = ", ".join(f"{name} = {value:g}" for name, value in nearest.where)
        text = f"The field cannot tell it from {listed}{more}."
        if place:
            text += (
                f" On the data they differ by up to "
                f"{max(rival.degrees_on_data for rival in others):.2g} degrees; at {place}, "
                f"{formula_text(nearest.expression)} would differ by {nearest.degrees:.2g} "
                f"degrees, so data there would decide."
            )
        return CheckResult.made(False, text)


class StructureAgrees:
    """Inputs that enter the network through one combination must do so in the formula."""

    name = "structure"
    asks = "Do inputs that enter the field together enter the formula together?"
    failure = "inputs enter it in other combinations than they enter the field"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare partial gradients with those of the combinations that the search saw."""
        if evidence.outcome.fit.kind == "exact":
            return CheckResult.made(
                True, "It is exact, so inputs enter it as they enter the field, whatever was seen."
            )
        found = [] if evidence.structure is None else disagreements(evidence)
        if evidence.structure is None or found is None:
            return CheckResult.not_made(
                "The search saw no combinations of inputs that could be compared.",
                is_required=False,
            )
        if not found:
            return CheckResult.made(True, "Inputs enter it through the field's combinations.")
        return CheckResult.made(False, " ".join(found))


@dataclass(frozen=True)
class FollowsLatents:
    """For one of several concepts: modulo other formulas that are not exact either, one can fit
    better than it deserves.

    Attributes
    ----------
    whole : GradientField
        The field of all latents.
    """

    whole: GradientField
    name: str = "latents"
    asks: str = "Does it lie in the span of all latents, not only modulo the other concepts?"
    failure: str = "a part of it is not a function of the latents"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Measure the alignment with the span of all latents."""
        field = self.whole.subset(evidence.rows)
        whole = measure_alignment(
            evidence.concept, field, divide(field, evidence.rng), evidence.rng
        )
        allowed = evidence.thresholds.verified
        text = (
            f"Without the worst 5% of the points, a share of {whole.trimmed:.2g} of its directions "
            f"lies outside those of all latents together; the upper bound relative to chance is "
            f"{whole.trimmed_bound:.2g}, and at most {allowed:g} is allowed."
        )
        return CheckResult.made(whole.trimmed_bound <= allowed, text)


CHECKS: tuple[Check, ...] = (
    Aligned(), EnoughPoints(), Explained(), Monotone(), Advantage(), Earned(),
    NotOnlyLinear(), Preferred(), StructureAgrees(), OneOfAKind(),
)  # fmt: skip
"""What every verdict rests on, as questions in their order."""


def all_checks(further: Sequence[Check] | None) -> tuple[Check, ...]:
    """The built-in checks and a user's: a verdict never rests on fewer.

    Raises
    ------
    KeywordError
        If something is not a check.
    """
    for check in further or ():
        if isinstance(check, type) or not isinstance(check, Check):
            raise KeywordError(
                f"{check!r:.80} is not a check; pass objects with name, asks, failure and "
                f"measure(evidence)."
            )
    return (*CHECKS, *(further or ()))
