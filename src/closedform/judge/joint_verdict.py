"""Several concepts together: do they span what the latents span, and do they determine the
latents?
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.alignment.misalignment import chance_level, trimmed_mean
from closedform.field.gradient_field import GradientField
from closedform.field.tolerances import SINGLE_PRECISION
from closedform.interpretation.answer_data import JointEvidence
from closedform.interpretation.verdict import CheckResult, Verdict
from closedform.judge.neighbours.same_form import unit_gradients
from closedform.judge.thresholds import Thresholds
from closedform.searching.search_stage import MOST_HELD_OUT

EXPLAINED = 0.95
"""Least share of the latents' variance that the concepts must explain."""


def measure_together(
    concepts: Sequence[Expression], seen: GradientField, held: GradientField
) -> JointEvidence:
    """Compare the span of the concepts' gradients with that of the latents both ways, and predict
    the latents; fitted on the points that were seen, and judged on those that were held out.
    """
    outside = missing = 1.0
    if concepts:
        spans, usable = _spans(concepts, held)
        weights = np.where(usable, held.weights, 0.0)
        overlap = (np.swapaxes(held.frames, 1, 2) @ spans) ** 2
        total = overlap.sum(axis=(1, 2))
        outside, missing = (
            trimmed_mean(np.clip(1 - total / n, 0, 1), weights) for n in (len(concepts), held.rank)
        )
    r2, explained = _regression(concepts, seen, held)
    return JointEvidence(
        rank=held.rank,
        read=len(concepts),
        spectrum=held.quality.spectrum,
        is_rank_ambiguous=held.quality.is_rank_ambiguous,
        outside=outside,
        missing=missing,
        chance=chance_level(held.rank, held.tangent.rank),
        r2=r2,
        explained=explained,
    )


def judge_together(
    joint: JointEvidence, parts: Sequence[Verdict], thresholds: Thresholds | None = None
) -> Verdict:
    """The verdict on all concepts at once; that on each of them is its own."""
    lines = Thresholds() if thresholds is None else thresholds
    checks = (
        replace(_rank(joint), name="rank"), replace(_parts(parts), name="parts"),
        replace(_span(joint, lines), name="span"), replace(_explained(joint), name="regression"),
    )  # fmt: skip
    count = min((part.n_points for part in parts if part.n_points is not None), default=None)
    if joint.read == 0:
        said = f"No closed form was found that the latents follow here ({joint.sentence})."
        return Verdict("none", said, checks, count)
    failed = [check.name for check in checks if check.passed is False]
    if not failed:
        text = (
            f"Together the latents are an invertible function of these {joint.read} formulas "
            f"({joint.sentence})."
        )
        return Verdict("verified", text, checks, count)
    others = tuple(formula for part in parts for formula in part.alternatives)
    if failed == ["parts"] and all(part.status in ("verified", "ambiguous") for part in parts):
        text = (
            f"Together these {joint.read} formulas fit the latents as well as anything found "
            f"({joint.sentence}). For some of them others fit as well; the truth may be another."
        )
        return Verdict("ambiguous", text, checks, count, others)
    why = " and ".join(_FAILURES[name] for name in failed)
    said = f"The latents follow these formulas in part ({joint.sentence}): {why}."
    return Verdict("approximate", said, checks, count)


_FAILURES = {
    "rank": "the latents hold more than was read",
    "parts": "not every formula is verified by itself",
    "span": "directions of formulas and latents differ",
    "regression": "the formulas do not determine the latents",
}


def _rank(joint: JointEvidence) -> CheckResult:
    values = ", ".join(f"{value:.2g}" for value in joint.spectrum)
    text = (
        f"The latents' Jacobians have rank {joint.rank} (singular values {values}); {joint.read} "
        f"concepts were read."
    )
    if joint.is_rank_ambiguous:
        text += " The spectrum has no clear gap, so the rank is uncertain."
    return CheckResult.made(joint.read == joint.rank, text)


def _parts(parts: Sequence[Verdict]) -> CheckResult:
    count = sum(part.status == "verified" for part in parts)
    text = f"{count} of {len(parts)} concepts are verified, each modulo the others."
    return CheckResult.made(count == len(parts) and count > 0, text)


def _span(joint: JointEvidence, lines: Thresholds) -> CheckResult:
    allowed = lines.span * joint.chance
    text = (
        f"A share of {joint.outside:.2g} of the concepts' directions lies outside those of the "
        f"latents, and no concept explains a share of {joint.missing:.2g} of the latents' "
        f"directions; at most {allowed:.2g} is allowed, and chance leaves {joint.chance:.2g}."
    )
    return CheckResult.made(max(joint.outside, joint.missing) <= allowed, text)


def _explained(joint: JointEvidence) -> CheckResult:
    if joint.explained is None:
        return CheckResult.not_made(
            "Without the latents' values no regression on the concepts can be made.",
            is_required=False,
        )
    each = ", ".join(f"{100 * value:.1f}%" for value in joint.r2)
    text = (
        f"A smooth function of the concepts explains {100 * joint.explained:.1f}% of the "
        f"latents' variance on held-out points "
        f"(each: {each}); {100 * EXPLAINED:g}% are needed."
    )
    return CheckResult.made(joint.explained >= EXPLAINED, text)


def _spans(concepts: Sequence[Expression], field: GradientField) -> tuple[FloatArray, np.ndarray]:
    """Orthonormal bases of the concepts' gradients in tangent coordinates, and where they are
    independent.
    """
    units = np.stack([unit_gradients(concept, field) for concept in concepts], axis=2)
    finite = np.asarray(np.isfinite(units).all(axis=(1, 2)))
    bases, sizes, _ = np.linalg.svd(
        np.where(finite[:, None, None], units, 0.0), full_matrices=False
    )
    return bases, finite & (sizes[:, -1] > SINGLE_PRECISION)


def _regression(
    concepts: Sequence[Expression], seen: GradientField, held: GradientField
) -> tuple[tuple[float, ...], float | None]:
    """Predict every latent from the concepts: R^2 of each, and of all together."""
    if not concepts or seen.latents is None or held.latents is None:
        return (), None
    from sklearn.kernel_ridge import KernelRidge  # loads slowly
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import QuantileTransformer

    fitted, judged = (_table(concepts, field) for field in (seen, held))
    if fitted is None or judged is None:
        return (), None
    # Quantiles, for a latent may be any function of a concept: only the order of its values is
    # known.
    quantiles = QuantileTransformer(n_quantiles=min(300, len(fitted[0])))
    regression = KernelRidge(kernel="rbf", gamma=10.0).set_params(alpha=1e-3)
    model = make_pipeline(quantiles, regression)
    centre = fitted[1].mean(axis=0)
    model.fit(fitted[0], fitted[1] - centre)
    left = ((judged[1] - centre - model.predict(judged[0])) ** 2).mean(axis=0)
    whole = judged[1].var(axis=0)
    each = 1 - left / np.maximum(whole, np.finfo(float).tiny)
    return tuple(each.tolist()), float(1 - left.sum() / max(whole.sum(), np.finfo(float).tiny))


def _table(
    concepts: Sequence[Expression], field: GradientField
) -> tuple[FloatArray, FloatArray] | None:
    """Values of the concepts and of the latents at some points where all are finite."""
    assert field.latents is not None
    rows = np.flatnonzero(field.weights > 0)[:MOST_HELD_OUT]
    values = np.column_stack(
        [concept.rename(field.names)(field.points[rows]) for concept in concepts]
    )
    finite = np.isfinite(values).all(axis=1) & np.isfinite(field.latents[rows]).all(axis=1)
    return (values[finite], field.latents[rows][finite]) if finite.sum() >= 20 else None
