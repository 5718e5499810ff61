"""Checks: each a class with a name, what it asks, what a failure means, and one method.

To add one, write the class and put an instance into `CHECKS`, or pass it to
`closedform.verify(checks=[...])`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from closedform.alignment.scores import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import FrontEntry
from closedform.interpretation.evidence import N_HALVES
from closedform.interpretation.verdict import CheckResult
from closedform.keywords import KeywordError
from closedform.selection.contenders import PERFECT, count_parts
from closedform.selection.regions import divide
from closedform.selection.rules import FACTOR, ByFactor, explainable
from closedform.verification.alignment import interval, measure_alignment
from closedform.verification.evidence import Evidence
from closedform.verification.stability import have_same_form


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
        "Do the concept's gradients point as the network's do, on points that the search has not "
        "seen?"
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
            f"Without the worst 5% of them the "
            f"upper bound relative to chance is {alignment.trimmed_bound:.2g}, and "
            f"{lines.verified:g} is allowed; with them "
            f"{alignment.bound:.2g}, and {lines.approximate:g} is allowed."
        )
        fine = alignment.trimmed_bound <= lines.verified and alignment.bound <= lines.approximate
        return CheckResult.made(fine, text)


class Monotone:
    """phi must be invertible."""

    name = "phi"
    asks = "Is the latent a monotone function of the concept?"
    failure = "the latent is not a monotone function of it"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare the rank correlation."""
        phi, least = evidence.phi, evidence.thresholds.rank_correlation
        if phi is None:
            return CheckResult.not_made(
                "Without the values of a single latent, phi cannot be tested.", is_required=False
            )
        text = (
            f"Latent and concept have the rank correlation {phi.rank_correlation:.4f} "
            f"({least:g} is needed); a monotone phi "
            f"explains {100 * phi.r2:.1f}% of the latent's variance."
        )
        return CheckResult.made(abs(phi.rank_correlation) >= least, text)


class HalvesAgree:
    """Search again on halves of the data."""

    name = "halves"
    asks = "Do both halves of the data, searched again with other seeds, lead to the same form?"
    failure = "the halves of the data do not lead to one form"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Count the halves that agree."""
        stability = evidence.stability
        if isinstance(stability, CheckResult):
            return stability
        count = sum(stability.same_form)
        others = [
            str(c)
            for c, same in zip(stability.concepts, stability.same_form, strict=True)
            if not same
        ]
        text = (
            f"{count} of {N_HALVES} halves of the data, searched again with other seeds, lead to "
            f"the same form."
        )
        if others:
            text += f" Otherwise: {'; '.join(others)}."
        return CheckResult.made(stability.is_stable, text)


class Advantage:
    """A complex formula must earn its complexity."""

    name = "advantage"
    asks = "Is it much better than anything of half its complexity, or than chance?"
    failure = "much simpler formulas are nearly as good"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare with the best simple one."""
        others = () if isinstance(evidence.others, CheckResult) else evidence.others
        simple = [
            entry.misalignment for entry in others if entry.complexity <= evidence.complexity / 2
        ]
        rival, needed = (
            min(simple, default=evidence.alignment.chance),
            evidence.thresholds.advantage,
        )
        whom = "anything of half its complexity" if simple else "chance"
        own = max(evidence.alignment.misalignment, PERFECT)
        text = f"It is {rival / own:.3g} times better than {whom}; {needed:g} times are needed."
        return CheckResult.made(rival >= needed * own, text)


class Gain:
    """The last part of a true concept gains much; a further part of a stand-in gains a little."""

    name = "gain"
    asks = "Is it clearly better than the next simpler formula?"
    failure = "a simpler formula is nearly as good"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare with the best simpler one of another form."""
        if isinstance(evidence.others, CheckResult):
            return evidence.others
        simpler, lines = next_simpler(evidence, evidence.others), evidence.thresholds
        if simpler is None:
            return CheckResult.made(
                True, "There is no simpler formula of another form to compare with."
            )
        pair = np.array([simpler.misalignment, evidence.alignment.misalignment])
        theirs, own = explainable(pair, evidence.noise).tolist()
        text = (
            f"It is {theirs / own:.3g} times better than the next simpler formula, "
            f"{simpler.expression}"
        )
        if evidence.alignment.trimmed_bound <= lines.excellent:
            return CheckResult.made(
                True, f"{text}; any gain counts, because the bound is at most {lines.excellent:g}."
            )
        return CheckResult.made(
            theirs >= lines.gain * own, f"{text}; {lines.gain:g} times are needed."
        )


class NoRivals:
    """Nothing as simple may fit as well."""

    name = "rivals"
    asks = "Does no other formula that is as simple fit as well?"
    failure = "another formula that is no more complex fits as well"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Look among the rivals for simple ones."""
        if isinstance(evidence.others, CheckResult):
            return evidence.others
        simple = [rival for rival in evidence.rivals if rival.complexity <= evidence.complexity]
        if not simple:
            compared = (
                f"{len(evidence.others)} other formula{'' if len(evidence.others) == 1 else 's'}"
            )
            return CheckResult.made(True, f"Of {compared}, none that is as simple fits as well.")
        listed = "; ".join(str(rival.expression) for rival in simple[:3])
        return CheckResult.made(
            False, f"As simple, and not told apart by the held-out points: {listed}."
        )


class Preferred:
    """No other formula may be better by more than its complexity costs."""

    name = "choice"
    asks = "Is no other formula better by more than its further terms and constants cost?"
    failure = "another formula fits clearly better"

    def measure(self, evidence: Evidence) -> CheckResult:
        """A concept that a rule has chosen passed already; for a stated one the usual rule is
        applied here.
        """
        if evidence.choice:
            return CheckResult.made(True, evidence.choice)
        if isinstance(evidence.others, CheckResult):
            return evidence.others
        rule, own = ByFactor(), field_misalignment(evidence.concept, evidence.field)
        mine = explainable(np.array([evidence.alignment.misalignment]), evidence.noise)[0]
        for entry in evidence.others:
            added = rule.penalty(entry.expression) - rule.penalty(evidence.concept)
            ratio = mine / explainable(np.array([entry.misalignment]), evidence.noise)[0]
            if np.log(ratio) < max(added, np.log(FACTOR)):
                continue
            theirs = field_misalignment(entry.expression, evidence.field)
            low, _ = interval(own - theirs, evidence.field.weights, evidence.labels, evidence.rng)
            if low > 0:
                return CheckResult.made(False, f"{entry.expression} is {ratio:.3g} times better.")
        return CheckResult.made(
            True, "No other formula is better by as much as its further terms and constants cost."
        )


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
            f"Of its directions {whole.trimmed:.2g} lie outside those of all latents "
            f"together, without the worst 5% of the "
            f"points; the upper bound relative to chance is {whole.trimmed_bound:.2g}, and "
            f"{allowed:g} is allowed."
        )
        return CheckResult.made(whole.trimmed_bound <= allowed, text)


CHECKS: tuple[Check, ...] = (
    Aligned(), EnoughPoints(), Monotone(), HalvesAgree(), Advantage(), Gain(), NoRivals(),
    Preferred(),
)  # fmt: skip
"""What every verdict rests on."""


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


def next_simpler(evidence: Evidence, others: Sequence[FrontEntry]) -> FrontEntry | None:
    """The best candidate that is simpler, has no more terms and free constants, and is not the
    concept with other numbers.
    """
    parts = count_parts(evidence.concept.tree)
    for entry in sorted(others, key=lambda entry: (entry.misalignment, entry.complexity)):
        is_simpler = (
            entry.complexity < evidence.complexity and count_parts(entry.expression.tree) <= parts
        )
        if is_simpler and not have_same_form(evidence.concept, entry.expression, evidence.field):
            return entry
    return None
