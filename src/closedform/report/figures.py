"""The figures of an answer as rows of texts (label, value, meaning), and how verdicts and checks
look wherever they are shown.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from closedform.interpretation.answer import Interpretation
from closedform.interpretation.answer_data import JointEvidence
from closedform.interpretation.evidence import (
    Alignment,
    Faithfulness,
    HypothesisResult,
    InputNeed,
    Phi,
)
from closedform.interpretation.verdict import Status, Verdict
from closedform.report.figure_numbers import short_number

Row = tuple[str, str, str]
"""Label, value, explanation."""


def title(interpretation: Interpretation) -> str:
    """What was read."""
    several = len(interpretation.concepts) > 1
    named = ", ".join(interpretation.names)
    return interpretation.provenance.title or f"{'Concepts' if several else 'A concept'} of {named}"


def evidence_rows(interpretation: Interpretation) -> list[Row]:
    """All figures that there are; for several latents those of the concepts together.

    Each explanation is for someone who has not read the paper.
    """
    if interpretation.together is not None:
        return _joint_rows(interpretation.together)
    return [
        *(_alignment_rows(interpretation.alignment) if interpretation.alignment else ()),
        *(_phi_rows(interpretation.phi) if interpretation.phi else ()),
        *(_faithfulness_rows(interpretation.faithfulness) if interpretation.faithfulness else ()),
        *(_need_row(need) for need in interpretation.inputs if need.is_used),
    ]


def check_counts(verdict: Verdict) -> str:
    """How many checks had which outcome."""
    counts = Counter(check.word for check in verdict.checks)
    return ", ".join(f"{counts[word]} {word}" for word in CHECK_MARKS if counts[word])


def hypothesis_sentence(result: HypothesisResult) -> str:
    """What became of the user's formula."""
    verb = "differs from this formula"
    if result.status != "different":
        verb = f"is the same as this formula ({result.status})"
    own = f"This formula's misalignment is {short_number(result.misalignment)}."
    return f"The concept {verb}. {own} {result.reason}"


def _alignment_rows(alignment: Alignment) -> list[Row]:
    value, low, high = map(short_number, (alignment.misalignment, alignment.low, alignment.high))
    interval = f"{value} ({low} to {high})"
    meaning = (
        "Mean squared sine of the angle between the concept's gradient and the network's on the "
        "points that judge it, with a 95% interval from how far regions of the data differ; 0 "
        "is perfect."
    )
    worst = "The same without the worst 5% of the points: every network is poor somewhere."
    angles = " / ".join(f"{short_number(angle)}°" for angle in alignment.angles)
    rows = [
        ("Misalignment", interval, meaning),
        ("Without the worst 5%", short_number(alignment.trimmed), worst),
        ("Angles", angles, "Median, 90% and 99% quantile of the angles."),
    ]
    if alignment.paper_loss is not None:
        loss = short_number(alignment.paper_loss)
        rows.append(("The paper's loss", loss, "Mean squared difference of unit vectors."))
    return rows


def _phi_rows(phi: Phi) -> list[Row]:
    meaning = "Of latent and concept; ±1 means that phi is invertible."
    share = (
        "Share of the latent's variance that a monotone function of the concept explains; "
        f"{100 * phi.r2_inverse:.2f}% the other way round."
    )
    return [
        ("Rank correlation", f"{phi.rank_correlation:.4f}", meaning),
        ("phi explains", f"{100 * phi.r2:.2f}%", share),
    ]


def _faithfulness_rows(faithful: Faithfulness) -> list[Row]:
    meaning = (
        "With phi(concept) in the neuron's place the outputs change by "
        f"{short_number(100 * faithful.change)}% of their spread; with the neuron's mean there, by "
        f"{short_number(100 * faithful.change_by_mean, 3)}%."
    )
    return [("Faithfulness", f"{100 * faithful.explained:.1f}%", meaning)]


def _need_row(need: InputNeed) -> Row:
    meaning = f"Misalignment with {need.name} held at its median in the concept."
    return f"Without {need.name}", short_number(need.without), meaning


def _joint_rows(joint: JointEvidence) -> list[Row]:
    spectrum = ", ".join(map(short_number, joint.spectrum))
    rank = "How many independent quantities the latents hold, from the spectrum of their Jacobians."
    outside = "Share of the concepts' directions outside those of the latents."
    missing = "Share of the latents' directions that no concept explains."
    rows = [
        ("Rank", str(joint.rank), rank),
        ("Read", str(joint.read), "Concepts that follow the latents on held-out points."),
        ("Spectrum", spectrum, "Singular values, relative to the largest."),
        ("Outside", short_number(joint.outside), outside),
        ("Missing", short_number(joint.missing), missing),
    ]
    if joint.explained is not None:
        share = "Held-out variance of the latents that a smooth function of the concepts explains."
        rows.append(("Explained", f"{100 * joint.explained:.1f}%", share))
    return rows


@dataclass(frozen=True, slots=True)
class Look:
    """How a status is shown."""

    word: str
    caption: str  # stands over a formula that must not be taken for more than it is
    terminal: str  # colour by its name
    notebook: str  # readable on white and on black: notebooks do not say which one they have
    light: tuple[str, str, str]  # on the page: of text, of shapes, and of the ground behind text
    dark: tuple[str, str, str]


LOOKS: Mapping[Status, Look] = {
    "verified": Look(
        "Verified", "", "green", "#009E73",
        ("#00795a", "#009e73", "#e3f4ee"), ("#3ccfa2", "#1fb58a", "#15312a"),
    ),
    "ambiguous": Look(
        "Ambiguous", "Others fit as well, and the truth may be another", "cyan", "#0072B2",
        ("#005a8d", "#0072b2", "#e2eef6"), ("#6fb8e8", "#3d9bd6", "#142a38"),
    ),
    "approximate": Look(
        "Approximate", "Approximate concept", "yellow", "#C98A00",
        ("#8a5800", "#e69f00", "#fbf1dc"), ("#f3bc4d", "#e69f00", "#362a12"),
    ),
    "none": Look(
        "No closed form found", "Closest candidate, not to be trusted", "red", "#D55E00",
        ("#b04a00", "#d55e00", "#fcebe0"), ("#ff9a5c", "#e46f1c", "#3a2215"),
    ),
}  # fmt: skip

CHECK_MARKS: Mapping[str, str] = {"passed": "✓", "failed": "✕", "not made": "\N{EN DASH}"}
"""By `CheckResult.word`."""
