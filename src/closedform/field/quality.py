"""The truth about a field: what was measured, and what it means."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.errors import shown
from closedform.field.alignment.misalignment import misalignment_of
from closedform.field.findings import Finding, find
from closedform.field.neighborhoods import count_distinct, looked_at
from closedform.field.noise import directional_noise
from closedform.field.rank import RowSpaces
from closedform.field.redundancy import (
    Redundancy,
    category_findings,
    constant_inputs,
    redundant_inputs,
)
from closedform.field.tangent_space import TangentSpace


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


def assess(
    points: FloatArray,
    names: tuple[str, ...],
    scale: FloatArray,
    tangent: TangentSpace,
    rows: RowSpaces,
    weights: FloatArray,
) -> Quality:
    """Measure a field and say what it means.

    Noise, redundant inputs and the spans of norms are estimated on at most `MOST_LOOKED_AT` points;
    shares, ranks, energies and repeated points are those of all.
    """
    usable, sample = weights > 0, looked_at(len(points))
    some = points[sample]
    distinct = np.unique(some / scale, axis=0, return_index=True)[1]
    n_distinct = len(distinct) if len(some) == len(points) else count_distinct(points)
    chosen = np.sort(sample[distinct[usable[sample[distinct]]]])
    degrees, resolution = measured_noise(chosen, points, scale, rows.frames, tangent)
    norms = rows.norms[sample][(rows.is_finite & ~rows.is_zero)[sample]]
    quality = Quality(
        names=names,
        n_points=len(points),
        n_usable=int(usable.sum()),
        n_latents=rows.n_latents,
        rank=rows.cut.rank,
        spectrum=tuple(rows.spectrum.tolist()),
        rank_gap=rows.cut.gap,
        is_rank_ambiguous=rows.cut.is_ambiguous,
        zero_share=float(rows.is_zero.mean()),
        nonfinite_share=float((~rows.is_finite).mean()),
        low_rank_share=float(rows.is_low.mean()),
        undefined_share=0.0 if tangent.is_defined is None else float((~tangent.is_defined).mean()),
        norm_orders=_orders(norms),
        tangent_kind=tangent.kind,
        tangent_rank=tangent.rank,
        local_rank=tangent.local_rank,
        input_shares=_shares(tangent.ambient(rows.frames), weights),
        scales=tuple(scale.tolist()),
        constant=tuple(names[column] for column in constant_inputs(points)),
        redundant=redundant_inputs(some, scale, names),
        duplicate_share=1.0 - n_distinct / len(points),
        noise_degrees=degrees,
        noise_resolution_degrees=resolution,
    )
    return replace(quality, findings=(*category_findings(points, names), *find(quality)))


def measured_noise(
    chosen: NDArray[np.intp],
    points: FloatArray,
    scale: FloatArray,
    frames: FloatArray,
    tangent: TangentSpace,
) -> tuple[float | None, float | None]:
    """The noise of directions at some points in degrees, and the least that can be told there."""
    noise = (
        directional_noise(points[chosen] / scale, frames[chosen], tangent.subset(chosen))
        if len(chosen)
        else None
    )
    return (None, None) if noise is None else (noise.degrees, noise.resolution_degrees)


def _shares(vectors: FloatArray, weights: FloatArray) -> tuple[float, ...]:
    """Each input's share of the energy of directions (n_points, n_inputs, rank)."""
    if not weights.any():
        return (0.0,) * vectors.shape[1]
    energies = np.einsum("n,ndk,ndk->d", weights, vectors, vectors)
    return tuple((energies / (weights.sum() * vectors.shape[2])).tolist())


def _orders(norms: FloatArray) -> float:
    if len(norms) == 0:
        return 0.0
    low, high = np.quantile(norms, [0.05, 0.95])
    return float(np.log10(high / low))
