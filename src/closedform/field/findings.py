"""What the numbers about a field mean: each finding a plain sentence with what to do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from closedform.errors import shown
from closedform.field.alignment.misalignment import misalignment_of
from closedform.field.tolerances import (
    DEAD_SHARE,
    DUPLICATE_SHARE,
    FEWEST_POINTS,
    IRRELEVANT_SHARE,
    NOISE_DEGREES,
    NOTABLE_SHARE,
    POINTS_PER_INPUT,
    SATURATED_ORDERS,
    SCALE_RATIO,
    TOO_MANY_INPUTS,
)

Severity = Literal["info", "warning", "error"]

_MOST_LISTED = 8  # names and numbers in a sentence; a finding's data hold all


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a field that its user should know."""

    code: str  # a stable name, such as ``dead-neuron``
    severity: Severity  # worth knowing; may spoil the answer; no answer can be trusted
    message: str  # what was seen, and what to do
    data: dict[str, Any] = field(default_factory=dict)  # the numbers, of plain Python types


@dataclass(frozen=True, slots=True)
class Redundancy:
    """An input that others determine on the data."""

    name: str
    others: tuple[str, ...]  # the inputs that it follows from
    is_affine: bool  # whether it is an affine combination of them, or some other function


@dataclass(frozen=True, slots=True)
class Quality:
    """Numbers about a field, and the findings that follow from them.

    Shares of points are between 0 and 1. ``print(field.quality)`` lists the findings in plain
    sentences.
    """

    names: tuple[str, ...]  # of the inputs
    n_points: int
    n_usable: int  # points that count (weight above 0)
    n_latents: int
    rank: int  # independent directions that the latents have
    spectrum: tuple[float, ...]  # pooled singular values of the Jacobians, relative to the largest
    rank_gap: float  # the largest gap in that spectrum
    is_rank_ambiguous: bool  # whether it is too small, or has too near a rival
    zero_share: float  # points without a gradient
    nonfinite_share: float  # points with a gradient that is not finite
    low_rank_share: float  # points of lower rank
    undefined_share: float  # points without a tangent space
    norm_orders: float  # orders of magnitude between 5% and 95% quantiles of the gradient's norm
    tangent_kind: str
    tangent_rank: int
    local_rank: int | None  # dimension of the curved surface of the data, if ``auto`` saw one
    input_shares: tuple[float, ...]  # of the directions' energy in scaled coordinates
    scales: tuple[float, ...]  # the spread of each input
    constant: tuple[str, ...]  # inputs that do not vary
    redundant: tuple[Redundancy, ...]  # inputs that others determine
    duplicate_share: float  # points that occur before
    # Estimated noise of the directions, and the least that can be told at these points; None if
    # there are too few points, or too many inputs.
    noise_degrees: float | None
    noise_resolution_degrees: float | None
    findings: tuple[Finding, ...] = ()  # what deserves attention

    @property
    def noise_misalignment(self) -> float:
        """The misalignment of independent noise, which no formula explains; 0 where not known."""
        degrees, resolution = self.noise_degrees, self.noise_resolution_degrees
        if degrees is None or (resolution is not None and degrees < resolution):
            return 0.0
        return misalignment_of(degrees)

    def finding(self, code: str) -> Finding | None:
        """The finding of this code, or None."""
        return next((finding for finding in self.findings if finding.code == code), None)

    def __str__(self) -> str:
        kind = (
            f"{self.n_usable} of {self.n_points} points usable, {len(self.names)} inputs, "
            f"tangent {self.tangent_kind} of rank "
        )
        noise = "unknown" if self.noise_degrees is None else f"{self.noise_degrees:.2g} degrees"
        head = (
            f"{kind}{self.tangent_rank}, rank {self.rank} of {self.n_latents} latent(s), noise "
            f"{noise}"
        )
        return "\n".join(
            [head, *(f"[{finding.severity}] {shown(finding.message)}" for finding in self.findings)]
        )


def find(quality: Quality) -> tuple[Finding, ...]:
    """Every finding that the numbers support, the severest first."""
    parts = (_of_gradients, _of_ranks, _of_tangents, _of_inputs, _of_points)
    found = [finding for part in parts for finding in part(quality)]
    order = {"error": 0, "warning": 1, "info": 2}
    return tuple(sorted(found, key=lambda finding: order[finding.severity]))


def _of_gradients(quality: Quality) -> Iterator[Finding]:
    share = quality.zero_share
    if share >= DEAD_SHARE:
        message = (
            f"The gradient is zero at {_percent(share)} of the points: the neuron is probably "
            f"dead on this data. Choose another neuron, or inputs that reach it."
        )
        yield Finding("dead-neuron", "error", message, {"share": share})
    elif share >= NOTABLE_SHARE:
        message = (
            f"The gradient is zero at {_percent(share)} of the points, which do not count. If "
            f"the neuron is rectified, read the value before its activation."
        )
        yield Finding("zero-gradients", "warning", message, {"share": share})
    if quality.nonfinite_share > 0:
        message = (
            f"The gradient is nan or infinite at {_percent(quality.nonfinite_share)} of the "
            "points, which do not count. Look for square roots, norms or divisions at 0 in the "
            "network, or extract in double precision."
        )
        share = quality.nonfinite_share
        yield Finding("non-finite-gradients", "warning", message, {"share": share})
    if quality.norm_orders >= SATURATED_ORDERS:
        message = (
            f"The gradient's norm spans {quality.norm_orders:.1f} orders of magnitude between its "
            "5% and 95% quantiles: the neuron saturates, and small gradients lose their digits. "
            "Read the value before its sigmoid or tanh, in double precision."
        )
        yield Finding("saturated", "warning", message, {"orders": quality.norm_orders})


def _of_ranks(quality: Quality) -> Iterator[Finding]:
    rank, spectrum = quality.rank, list(quality.spectrum)
    if rank != quality.n_latents and quality.n_usable > 0:
        message = (
            f"{quality.n_latents} latents have {rank} independent direction(s): the singular "
            f"spectrum is {_numbers(quality.spectrum)}. Expect {rank} concept(s); if latents "
            "have different units, divide each by its spread first."
        )
        yield Finding("rank-below-latents", "info", message, {"rank": rank, "spectrum": spectrum})
    if quality.is_rank_ambiguous:
        message = (
            f"The rank {rank} is not clear: the largest gap of the singular spectrum "
            f"{_numbers(quality.spectrum)} is {quality.rank_gap:.1f} times. Try fewer latents, or "
            "train longer, and compare the answers."
        )
        data = {"gap": quality.rank_gap, "spectrum": spectrum}
        yield Finding("ambiguous-rank", "warning", message, data)
    share = quality.low_rank_share
    if share >= NOTABLE_SHARE:
        message = (
            f"At {_percent(share)} of the points the latents have fewer than {rank} independent "
            "directions; these points do not count. If the latents are rectified, read the values "
            "before their activation."
        )
        yield Finding("lower-rank-points", "warning", message, {"share": share})


def _of_tangents(quality: Quality) -> Iterator[Finding]:
    rank, n_inputs = quality.tangent_rank, len(quality.names)
    if rank <= quality.rank:
        message = (
            f"The data varies in {rank} direction(s) and the field has {quality.rank}: "
            "every function of the inputs fits, so that no concept can be read. Use inputs that "
            "vary in more directions, or fewer latents."
        )
        data = {"tangent_rank": rank, "rank": quality.rank}
        yield Finding("every-function-fits", "error", message, data)
    if rank != n_inputs:
        message = (
            f"The data varies in {rank} of {n_inputs} directions (tangent: "
            f"{quality.tangent_kind}). Concepts are compared inside these; expressions that differ "
            "only by what is constant on the data cannot be told apart."
        )
        yield Finding("tangent-rank", "info", message, {"rank": rank, "n_inputs": n_inputs})
    if quality.local_rank is not None:
        message = (
            f"The points seem to lie on a curved surface of dimension {quality.local_rank}, across "
            "which the network's gradient is arbitrary. Pass tangent='local', or state the "
            "constraint."
        )
        yield Finding("curved-data", "warning", message, {"local_rank": quality.local_rank})
    if quality.undefined_share > 0:
        message = (
            f"The constraints have no regular gradient at {_percent(quality.undefined_share)} of "
            "the points, which do not count. Write the constraint in another form, for example "
            "squared norms instead of norms."
        )
        share = quality.undefined_share
        yield Finding("undefined-tangent", "warning", message, {"share": share})


def _of_inputs(quality: Quality) -> Iterator[Finding]:
    limit = IRRELEVANT_SHARE / len(quality.names)
    weak = {
        name: share
        for name, share in zip(quality.names, quality.input_shares, strict=True)
        if share < limit and name not in quality.constant
    }
    if weak and quality.n_usable > 0:
        listed = _listed(f"{name} ({share:.1e})" for name, share in weak.items())
        message = (
            f"The neuron hardly depends on these inputs (share of the direction's energy): "
            f"{listed}. The concept should not need them; leave them out to search faster."
        )
        yield Finding("irrelevant-inputs", "info", message, {"shares": weak})
    if quality.constant:
        message = (
            f"These inputs do not vary: {_listed(quality.constant)}. Nothing can be learnt about "
            f"them; leave them out."
        )
        yield Finding("constant-inputs", "info", message, {"names": list(quality.constant)})
    if quality.redundant:
        parts = [
            f"{found.name} is {'an affine combination' if found.is_affine else 'a function'} of "
            f"{_listed(found.others)}"
            for found in quality.redundant
        ]
        data = {found.name: list(found.others) for found in quality.redundant}
        severity, advice = _redundancy_advice(quality)
        message = f"On the data {_listed(parts, between='; ')}. {advice}"
        yield Finding("redundant-inputs", severity, message, data)


def _redundancy_advice(quality: Quality) -> tuple[Severity, str]:
    is_affine = all(found.is_affine for found in quality.redundant)
    if quality.tangent_kind == "local" or (quality.tangent_kind == "linear" and is_affine):
        return "info", "The tangent space accounts for it; the same concept has several spellings."
    if quality.tangent_kind == "constraints":
        return (
            "info",
            "The same concept has several spellings; make sure that the stated constraints "
            "cover it.",
        )
    return (
        "warning",
        "Pass tangent='auto' or 'local', state the constraint, or leave these inputs out.",
    )


def _of_points(quality: Quality) -> Iterator[Finding]:
    if quality.duplicate_share >= DUPLICATE_SHARE:
        message = (
            f"{_percent(quality.duplicate_share)} of the points occur more than once. Copies on "
            "both sides of a split make errors look small; remove them."
        )
        yield Finding("duplicated-points", "warning", message, {"share": quality.duplicate_share})
    degrees, resolution = quality.noise_degrees, quality.noise_resolution_degrees
    if degrees is not None and resolution is not None and degrees >= max(NOISE_DEGREES, resolution):
        message = (
            f"Neighbouring directions disagree by about {degrees:.0f} degrees beyond their "
            "trend. Train longer, smooth the gradient if the network is rectified, or add points "
            "if the concept varies fast."
        )
        data = {"degrees": degrees, "resolution_degrees": resolution}
        yield Finding("noisy-directions", "warning", message, data)
    scales = {
        name: scale
        for name, scale in zip(quality.names, quality.scales, strict=True)
        if name not in quality.constant
    }
    if scales and max(scales.values()) > SCALE_RATIO * min(scales.values()):
        small, large = min(scales, key=scales.__getitem__), max(scales, key=scales.__getitem__)
        message = (
            f"Spreads of inputs differ by {scales[large] / scales[small]:.1e}: {small} has "
            f"{scales[small]:.2g}, {large} has {scales[large]:.2g}. Comparisons account for it, "
            "but constants of formulas become extreme; consider other units."
        )
        yield Finding("badly-scaled-inputs", "info", message, {"scales": scales})
    n_inputs = len(quality.names)
    needed = max(FEWEST_POINTS, POINTS_PER_INPUT * n_inputs)
    if quality.n_usable < needed:
        message = (
            f"{quality.n_usable} points are usable; {needed} or more are needed to tell a concept "
            f"from chance with {n_inputs} inputs. Add points."
        )
        data = {"n_usable": quality.n_usable, "needed": needed}
        yield Finding("too-few-points", "warning", message, data)
    if n_inputs > TOO_MANY_INPUTS:
        main = _main_inputs(quality)
        message = (
            f"There are {n_inputs} inputs; with more than {TOO_MANY_INPUTS} a search takes long, "
            "and noise cannot be estimated. "
        )
        message += (
            f"Within {NOISE_DEGREES:g} degrees, the neuron depends on only {len(main)} of them: "
            f"{_listed(main)}. Read these alone (wrt=[...], or pass only their columns)."
            if 0 < len(main) <= TOO_MANY_INPUTS
            else "Read the neuron in the few quantities that its inputs are made from "
            "(transform=...), or hold most inputs fixed (wrt=[...])."
        )
        yield Finding("many-inputs", "warning", message, {"n_inputs": n_inputs, "main": list(main)})


def _main_inputs(quality: Quality) -> tuple[str, ...]:
    """The fewest inputs without which directions turn by what counts as noise."""
    shares = np.array(quality.input_shares)
    order = np.argsort(-shares, kind="stable")
    rest = shares.sum() - np.cumsum(shares[order])
    allowed = misalignment_of(NOISE_DEGREES)
    count = 1 + int(np.argmax(rest <= allowed)) if shares.any() else 0
    return tuple(quality.names[column] for column in np.sort(order[:count]))


def _listed(parts: Iterable[str], *, between: str = ", ") -> str:
    """The first of many parts, and how many more there are."""
    every = tuple(parts)
    more = f" and {len(every) - _MOST_LISTED} more" if len(every) > _MOST_LISTED else ""
    return between.join(every[:_MOST_LISTED]) + more


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _numbers(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.2g}" for value in values[:_MOST_LISTED]) + (
        ", ..." if len(values) > _MOST_LISTED else ""
    )
