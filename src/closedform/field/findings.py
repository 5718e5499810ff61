"""What the numbers about a field mean: one rule for each finding, in a plain sentence with what to
do.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closedform.field.angles import misalignment_of
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

if TYPE_CHECKING:
    from closedform.field.quality import Quality

Severity = Literal["info", "warning", "error"]

_MOST_LISTED = 8  # names and numbers in a sentence; a finding's data hold all


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a field that its user should know.

    Attributes
    ----------
    code : str
        A stable name, such as ``dead-neuron``.
    severity : {'info', 'warning', 'error'}
        Worth knowing; may spoil the answer; no answer can be trusted.
    message : str
        What was seen, and what to do.
    data : dict
        The numbers behind it, of plain Python types.
    """

    code: str
    severity: Severity
    message: str
    data: dict[str, Any] = field(default_factory=dict)


def find(quality: "Quality") -> tuple[Finding, ...]:
    """Every finding that the numbers support, the severest first."""
    found = [finding for rule in RULES if (finding := rule(quality)) is not None]
    order = {"error": 0, "warning": 1, "info": 2}
    return tuple(sorted(found, key=lambda finding: order[finding.severity]))


def _zero_gradients(quality: "Quality") -> Finding | None:
    share = quality.zero_share
    if share >= DEAD_SHARE:
        message = (
            f"The gradient is zero at {_percent(share)} of the points: the neuron is probably "
            f"dead on this data. "
        )
        return Finding(
            "dead-neuron",
            "error",
            message + "Choose another neuron, or inputs that reach it.",
            {"share": share},
        )
    if share >= NOTABLE_SHARE:
        message = (
            f"The gradient is zero at {_percent(share)} of the points, which do not count. If "
            f"the neuron is rectified, "
        )
        return Finding(
            "zero-gradients",
            "warning",
            message + "read the value before its activation.",
            {"share": share},
        )
    return None


def _nonfinite_gradients(quality: "Quality") -> Finding | None:
    if quality.nonfinite_share == 0:
        return None
    message = (
        f"The gradient is nan or infinite at {_percent(quality.nonfinite_share)} of the points, "
        "which do not count. Look for square roots, norms or divisions at 0 in the network, or "
        "extract in double precision."
    )
    return Finding("non-finite-gradients", "warning", message, {"share": quality.nonfinite_share})


def _saturated(quality: "Quality") -> Finding | None:
    if quality.norm_orders < SATURATED_ORDERS:
        return None
    message = (
        f"The gradient's norm spans {quality.norm_orders:.1f} orders of magnitude between its 5% "
        "and 95% quantiles: the neuron saturates, and small gradients lose their digits. Read the "
        "value before its sigmoid or tanh, in double precision."
    )
    return Finding("saturated", "warning", message, {"orders": quality.norm_orders})


def _rank(quality: "Quality") -> Finding | None:
    if quality.rank == quality.n_latents or quality.n_usable == 0:
        return None
    message = (
        f"{quality.n_latents} latents have {quality.rank} independent direction(s): the singular "
        f"spectrum is {_numbers(quality.spectrum)}. Expect {quality.rank} concept(s); if latents "
        "have different units, divide each by its spread first."
    )
    return Finding(
        "rank-below-latents",
        "info",
        message,
        {"rank": quality.rank, "spectrum": list(quality.spectrum)},
    )


def _ambiguous_rank(quality: "Quality") -> Finding | None:
    if not quality.is_rank_ambiguous:
        return None
    message = (
        f"The rank {quality.rank} is not clear: the largest gap of the singular spectrum "
        f"{_numbers(quality.spectrum)} is {quality.rank_gap:.1f} times. Try fewer latents, or "
        "train longer, and compare the answers."
    )
    return Finding(
        "ambiguous-rank",
        "warning",
        message,
        {"gap": quality.rank_gap, "spectrum": list(quality.spectrum)},
    )


def _low_rank_points(quality: "Quality") -> Finding | None:
    if quality.low_rank_share < NOTABLE_SHARE:
        return None
    message = (
        f"At {_percent(quality.low_rank_share)} of the points the latents have fewer than "
        f"{quality.rank} independent directions; these points do not count. If the latents are "
        "rectified, read the values before their activation."
    )
    return Finding("lower-rank-points", "warning", message, {"share": quality.low_rank_share})


def _every_function_fits(quality: "Quality") -> Finding | None:
    if quality.tangent_rank > quality.rank:
        return None
    message = (
        f"The data varies in {quality.tangent_rank} direction(s) and the field has {quality.rank}: "
        "every function of the inputs fits, so that no concept can be read. Use inputs that vary "
        "in more directions, or fewer latents."
    )
    return Finding(
        "every-function-fits",
        "error",
        message,
        {"tangent_rank": quality.tangent_rank, "rank": quality.rank},
    )


def _tangent_rank(quality: "Quality") -> Finding | None:
    n_inputs = len(quality.names)
    if quality.tangent_rank == n_inputs:
        return None
    message = (
        f"The data varies in {quality.tangent_rank} of {n_inputs} directions (tangent: "
        f"{quality.tangent_kind}). Concepts are compared inside these; expressions that differ "
        "only by what is constant on the data cannot be told apart."
    )
    return Finding(
        "tangent-rank", "info", message, {"rank": quality.tangent_rank, "n_inputs": n_inputs}
    )


def _curved(quality: "Quality") -> Finding | None:
    if quality.local_rank is None:
        return None
    message = (
        f"The points seem to lie on a curved surface of dimension {quality.local_rank}, across "
        "which the network's gradient is arbitrary. Pass tangent='local', or state the constraint."
    )
    return Finding("curved-data", "warning", message, {"local_rank": quality.local_rank})


def _undefined_tangent(quality: "Quality") -> Finding | None:
    if quality.undefined_share == 0:
        return None
    message = (
        f"The constraints have no regular gradient at {_percent(quality.undefined_share)} of "
        f"the points, which do not count. "
        "Write the constraint in another form, for example squared norms instead of norms."
    )
    return Finding("undefined-tangent", "warning", message, {"share": quality.undefined_share})


def _irrelevant_inputs(quality: "Quality") -> Finding | None:
    limit = IRRELEVANT_SHARE / len(quality.names)
    shares = dict(zip(quality.names, quality.input_shares, strict=True))
    weak = {
        name: share
        for name, share in shares.items()
        if share < limit and name not in quality.constant
    }
    if not weak or quality.n_usable == 0:
        return None
    listed = _listed(f"{name} ({share:.1e})" for name, share in weak.items())
    message = (
        f"The neuron hardly depends on these inputs (share of the direction's energy): {listed}. "
        "The concept should not need them; leave them out to search faster."
    )
    return Finding("irrelevant-inputs", "info", message, {"shares": weak})


def _constant_inputs(quality: "Quality") -> Finding | None:
    if not quality.constant:
        return None
    message = (
        f"These inputs do not vary: {_listed(quality.constant)}. Nothing can be learnt about "
        f"them; leave them out."
    )
    return Finding("constant-inputs", "info", message, {"names": list(quality.constant)})


def _redundant_inputs(quality: "Quality") -> Finding | None:
    if not quality.redundant:
        return None
    parts = [
        f"{found.name} is {'an affine combination' if found.is_affine else 'a function'} of "
        f"{_listed(found.others)}"
        for found in quality.redundant
    ]
    data = {found.name: list(found.others) for found in quality.redundant}
    severity, advice = _redundancy_advice(quality)
    message = f"On the data {_listed(parts, between='; ')}. {advice}"
    return Finding("redundant-inputs", severity, message, data)


def _redundancy_advice(quality: "Quality") -> tuple[Severity, str]:
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


def _duplicated_points(quality: "Quality") -> Finding | None:
    if quality.duplicate_share < DUPLICATE_SHARE:
        return None
    message = (
        f"{_percent(quality.duplicate_share)} of the points occur more than once. Copies on both "
        "sides of a split make errors look small; remove them."
    )
    return Finding("duplicated-points", "warning", message, {"share": quality.duplicate_share})


def _noise(quality: "Quality") -> Finding | None:
    degrees, resolution = quality.noise_degrees, quality.noise_resolution_degrees
    if degrees is None or resolution is None or degrees < max(NOISE_DEGREES, resolution):
        return None
    message = (
        f"Neighbouring directions disagree by about {degrees:.0f} degrees beyond their "
        f"trend. Train longer, smooth the "
        "gradient if the network is rectified, or add points if the concept varies fast."
    )
    return Finding(
        "noisy-directions",
        "warning",
        message,
        {"degrees": degrees, "resolution_degrees": resolution},
    )


def _badly_scaled(quality: "Quality") -> Finding | None:
    scales = {
        name: scale
        for name, scale in zip(quality.names, quality.scales, strict=True)
        if name not in quality.constant
    }
    if not scales or max(scales.values()) <= SCALE_RATIO * min(scales.values()):
        return None
    small, large = min(scales, key=scales.__getitem__), max(scales, key=scales.__getitem__)
    message = (
        f"Spreads of inputs differ by {scales[large] / scales[small]:.1e}: {small} has "
        f"{scales[small]:.2g}, {large} has {scales[large]:.2g}. Comparisons account for it, but "
        "constants of formulas become extreme; consider other units."
    )
    return Finding("badly-scaled-inputs", "info", message, {"scales": scales})


def _few_points(quality: "Quality") -> Finding | None:
    needed = max(FEWEST_POINTS, POINTS_PER_INPUT * len(quality.names))
    if quality.n_usable >= needed:
        return None
    message = (
        f"{quality.n_usable} points are usable; {needed} or more are needed to tell a concept from "
        f"chance with {len(quality.names)} inputs. Add points."
    )
    return Finding(
        "too-few-points", "warning", message, {"n_usable": quality.n_usable, "needed": needed}
    )


def _many_inputs(quality: "Quality") -> Finding | None:
    n_inputs = len(quality.names)
    if n_inputs <= TOO_MANY_INPUTS:
        return None
    main = _main_inputs(quality)
    message = (
        f"There are {n_inputs} inputs; with more than {TOO_MANY_INPUTS} a search takes long, and "
        "noise cannot be estimated. "
    )
    if 0 < len(main) <= TOO_MANY_INPUTS:
        message += (
            f"Within {NOISE_DEGREES:g} degrees, the neuron depends on only {len(main)} of them: "
            f"{_listed(main)}. Read these alone (wrt=[...], or pass only their columns)."
        )
    else:
        message += (
            "Read the neuron in the few quantities that its inputs are made from (transform=...), "
            "or hold most inputs fixed (wrt=[...])."
        )
    return Finding("many-inputs", "warning", message, {"n_inputs": n_inputs, "main": list(main)})


def _main_inputs(quality: "Quality") -> tuple[str, ...]:
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


RULES: tuple[Callable[["Quality"], Finding | None], ...] = (
    _zero_gradients,
    _nonfinite_gradients,
    _saturated,
    _rank,
    _ambiguous_rank,
    _low_rank_points,
    _every_function_fits,
    _tangent_rank,
    _curved,
    _undefined_tangent,
    _irrelevant_inputs,
    _constant_inputs,
    _redundant_inputs,
    _duplicated_points,
    _noise,
    _badly_scaled,
    _few_points,
    _many_inputs,
)
"""Every rule: a function from the numbers to a finding or None."""
