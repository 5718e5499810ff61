"""The verdict: verified, approximate or none, each with its reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.selection.choice import explainable
from closedform.verification.alignment import Alignment
from closedform.verification.gain import Simpler
from closedform.verification.phi import MONOTONE, Phi
from closedform.verification.rivals import Rival
from closedform.verification.stability import N_HALVES, Stability

Status = Literal["verified", "approximate", "none"]

FEWEST_POINTS = 100
"""Nothing is verified from fewer points. 30% of them are held out, and with fewer than 30 points in 24
regions a bootstrap interval says nothing: three random directions were verified from one point."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the lines are drawn; docs/verdict.md has the calibration behind them.

    Attributes
    ----------
    verified : float
        Largest upper bound of the trimmed misalignment, relative to chance.
    approximate : float
        The same for the mean over all points; for `verified` too.
    rank_correlation : float
        Least absolute rank correlation of latent and concept.
    advantage : float
        How many times better than anything of half its complexity, or than chance, a concept must be.
    gain : float
        How many times better than the next simpler formula a concept must be, unless it fits excellently.
    excellent : float
        A fit is excellent if the upper bound of its trimmed misalignment, relative to chance, is no larger.
    """

    verified: float = 0.02
    approximate: float = 0.1
    rank_correlation: float = MONOTONE
    advantage: float = 5.0
    gain: float = 5.0
    excellent: float = 0.005


@dataclass(frozen=True, slots=True)
class Check:
    """One test that the verdict rests on.

    Attributes
    ----------
    name : str
        'alignment', 'points', 'latents', 'phi', 'halves', 'advantage', 'gain', 'rivals' or 'rank'.
    passed : bool or None
        None if it could not be made.
    text : str
        A sentence with the figures.
    """

    name: str
    passed: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the concept can be defended.

    Attributes
    ----------
    status : {'verified', 'approximate', 'none'}
    sentence : str
        The verdict in one sentence.
    checks : tuple of Check
        What it rests on.
    n_points : int or None
        How many different points of the field count; None if that is not known.
    """

    status: Status
    sentence: str
    checks: tuple[Check, ...] = ()
    n_points: int | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """The checks' sentences; for a verdict below `verified` those that failed come first."""
        ordered = sorted(self.checks, key=lambda check: {False: 0, None: 1, True: 2}[check.passed])
        return tuple(check.text for check in ordered)

    def __str__(self) -> str:
        return f"{self.status}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the verdict looks at.

    Attributes
    ----------
    concept : Expression
    complexity : int
    alignment : Alignment
    phi : Phi or None
    stability : Stability or None
        None if there were too few points to divide.
    simpler : tuple of float
        Held-out misalignments of the candidates of at most half the complexity.
    next_simpler : Simpler or None
        The best candidate of another form that is simpler at all.
    noise : float
        Misalignment that independent noise of the directions causes; most of it is taken off before gains are formed.
    rivals : tuple of Rival
    whole : Alignment or None
        Of one of several concepts: the agreement with all that the latents span, not only modulo the other concepts.
    n_points : int or None
        How many different points of the field count, those that the search has seen included; see
        `count_points`. Without it the held-out ones count alone.
    """

    concept: Expression
    complexity: int
    alignment: Alignment
    phi: Phi | None
    stability: Stability | None
    simpler: tuple[float, ...] = ()
    next_simpler: Simpler | None = None
    noise: float = 0.0
    rivals: tuple[Rival, ...] = ()
    whole: Alignment | None = None
    n_points: int | None = None


def count_points(field: GradientField) -> int:
    """How many different points of a field count."""
    return len(np.unique(field.points[field.weights > 0], axis=0))


def judge(evidence: Evidence, thresholds: Thresholds | None = None) -> Verdict:
    """Weigh the evidence."""
    lines = Thresholds() if thresholds is None else thresholds
    alignment = evidence.alignment
    checks = (
        _alignment(alignment, lines, evidence.n_points),
        *_points(evidence),
        *([] if evidence.whole is None else [_latents(evidence.whole, lines)]),
        _phi(evidence.phi, lines),
        _halves(evidence.stability),
        _advantage(evidence, lines),
        _gain(evidence, lines),
        _rivals(evidence),
    )
    failed = [check for check in checks if check.passed is False]
    if not failed:
        said = "What the network computes here is an invertible function of this formula."
        return Verdict("verified", said, checks, evidence.n_points)
    if alignment.bound <= lines.approximate:
        why = " and ".join(_WEAKNESS[check.name] for check in failed)
        said = f"The network follows this formula approximately: {why}."
        return Verdict("approximate", said, checks, evidence.n_points)
    said = "No closed form was found that the network follows here."
    return Verdict("none", said, checks, evidence.n_points)


def undecidable(rank: int, tangent_rank: int) -> Verdict:
    """The verdict where every function fits."""
    text = (
        f"The field has {rank} independent direction(s) in a tangent space of {tangent_rank}: there every function fits, so "
        "directions cannot tell one concept from another. Use data with more degrees of freedom, or fewer latents at once."
    )
    return Verdict("none", "Directions say nothing here, because every function fits.", (Check("rank", False, text),))


def nothing_found(sentence: str) -> Verdict:
    """The verdict when a search returns an empty front."""
    return Verdict("none", sentence, (Check("alignment", False, sentence),))


_WEAKNESS = {
    "alignment": "its directions deviate",
    "points": f"fewer than {FEWEST_POINTS} points verify nothing",
    "latents": "a part of it is no function of the latents",
    "phi": "the latent is no monotone function of it",
    "halves": "the halves of the data do not lead to one form",
    "advantage": "much simpler formulas are nearly as good",
    "gain": "a simpler formula is nearly as good",
    "rivals": "another formula that is no more complex fits as well",
}


def _alignment(alignment: Alignment, lines: Thresholds, n_points: int | None) -> Check:
    text = (
        f"On {alignment.n_points} held-out points the misalignment is {alignment.misalignment:.2g} (95% interval "
        f"{alignment.low:.2g} to {alignment.high:.2g}, chance {alignment.chance:.2g}). Without the worst 5% of them the upper "
        f"bound relative to chance is {alignment.trimmed_bound:.2g}, and {lines.verified:g} is allowed; with them "
        f"{alignment.bound:.2g}, and {lines.approximate:g} is allowed."
    )
    if n_points is not None:
        text += f" In all {n_points} different points count."
    fine = alignment.trimmed_bound <= lines.verified and alignment.bound <= lines.approximate
    return Check("alignment", fine, text)


def _points(evidence: Evidence) -> list[Check]:
    """That there are too few points to verify anything; if there are enough, `alignment` says how many."""
    held = evidence.alignment.n_points
    count = held if evidence.n_points is None else evidence.n_points
    if count >= FEWEST_POINTS:
        return []
    text = (
        f"{count} different points count, those that the search has seen included, and {held} of them "
        f"were held out; nothing is verified from fewer than {FEWEST_POINTS}."
    )
    return [Check("points", False, text)]


def _latents(whole: Alignment, lines: Thresholds) -> Check:
    """Modulo other formulas that are not exact either, a formula can fit better than it deserves."""
    text = (
        f"Of its directions {whole.trimmed:.2g} lie outside those of all latents together, without the worst 5% of the points; "
        f"the upper bound relative to chance is {whole.trimmed_bound:.2g}, and {lines.verified:g} is allowed."
    )
    return Check("latents", whole.trimmed_bound <= lines.verified, text)


def _phi(phi: Phi | None, lines: Thresholds) -> Check:
    if phi is None:
        return Check("phi", None, "Without the values of a single latent, phi cannot be tested.")
    text = (
        f"Latent and concept have the rank correlation {phi.rank_correlation:.4f} ({lines.rank_correlation:g} is needed); a "
        f"monotone phi explains {100 * phi.r2:.1f}% of the latent's variance."
    )
    return Check("phi", abs(phi.rank_correlation) >= lines.rank_correlation, text)


def _halves(stability: Stability | None) -> Check:
    if stability is None:
        return Check("halves", None, "Halves of the data were not searched: too few points, or an interruption.")
    count = sum(stability.same_form)
    others = [str(c) for c, same in zip(stability.concepts, stability.same_form, strict=True) if not same]
    text = f"{count} of {N_HALVES} halves of the data, searched again with other seeds, lead to the same form."
    if others:
        text += f" Otherwise: {'; '.join(others)}."
    return Check("halves", stability.is_stable, text)


def _advantage(evidence: Evidence, lines: Thresholds) -> Check:
    rival = min(evidence.simpler, default=evidence.alignment.chance)
    whom = "anything of half its complexity" if evidence.simpler else "chance"
    own = max(evidence.alignment.misalignment, 1e-10)
    text = f"It is {rival / own:.3g} times better than {whom}; {lines.advantage:g} times are needed."
    return Check("advantage", rival >= lines.advantage * own, text)


def _gain(evidence: Evidence, lines: Thresholds) -> Check:
    simpler, bound = evidence.next_simpler, evidence.alignment.trimmed_bound
    if simpler is None:
        return Check("gain", True, "There is no simpler formula of another form to compare with.")
    theirs, own = explainable(np.array([simpler.misalignment, evidence.alignment.misalignment]), evidence.noise).tolist()
    ratio = theirs / own
    text = f"It is {ratio:.3g} times better than the next simpler formula, {simpler.expression}"
    if bound <= lines.excellent:
        return Check("gain", True, f"{text}; any gain counts, because the bound is at most {lines.excellent:g}.")
    return Check("gain", ratio >= lines.gain, f"{text}; {lines.gain:g} times are needed.")


def _rivals(evidence: Evidence) -> Check:
    simple = [rival for rival in evidence.rivals if rival.complexity <= evidence.complexity]
    if not simple:
        return Check("rivals", True, "No formula that is as simple fits as well.")
    return Check("rivals", False, f"As simple, and not told apart by the held-out points: {_listed(simple)}.")


def _listed(rivals: Sequence[Rival]) -> str:
    return "; ".join(str(rival.expression) for rival in rivals[:3])
