"""The truth about a field: what was measured, and what it means."""

from dataclasses import dataclass, replace

import numpy as np

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

    Attributes
    ----------
    names : tuple of str
        The inputs.
    n_points, n_usable : int
        Points, and those of them that count (weight above 0).
    n_latents, rank : int
        Latents, and the independent directions that they have.
    spectrum : tuple of float
        Pooled singular values of the Jacobians, relative to the largest.
    rank_gap : float
        The largest gap in that spectrum.
    is_rank_ambiguous : bool
        Whether the gap is too small, or has too near a rival, to trust the rank.
    zero_share, nonfinite_share, low_rank_share, undefined_share : float
        Points without a gradient, with one that is not finite, of lower rank, and without a tangent
        space.
    norm_orders : float
        Orders of magnitude between the 5% and 95% quantiles of the gradient's norm.
    tangent_kind : str
    tangent_rank : int
    local_rank : int or None
        Dimension of the curved surface on which the data lies, if ``auto`` saw one.
    input_shares : tuple of float
        Each input's share of the directions' energy in scaled coordinates.
    scales : tuple of float
        The spread of each input.
    constant : tuple of str
        Inputs that do not vary.
    redundant : tuple of Redundancy
        Inputs that others determine.
    duplicate_share : float
        Points that occur before.
    noise_degrees, noise_resolution_degrees : float or None
        Estimated noise of the directions, and the least that can be told at these points; None if
        there are too few points, or too many inputs.
    findings : tuple of Finding
        What deserves attention.
    """

    names: tuple[str, ...]
    n_points: int
    n_usable: int
    n_latents: int
    rank: int
    spectrum: tuple[float, ...]
    rank_gap: float
    is_rank_ambiguous: bool
    zero_share: float
    nonfinite_share: float
    low_rank_share: float
    undefined_share: float
    norm_orders: float
    tangent_kind: str
    tangent_rank: int
    local_rank: int | None
    input_shares: tuple[float, ...]
    scales: tuple[float, ...]
    constant: tuple[str, ...]
    redundant: tuple[Redundancy, ...]
    duplicate_share: float
    noise_degrees: float | None
    noise_resolution_degrees: float | None
    findings: tuple[Finding, ...] = ()

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

    points (n_points, n_inputs)
    scale (n_inputs,)
    rows: the field's directions in tangent coordinates, with their spectrum and norms.
    weights (n_points,): the field's weights; 0 where a point does not count.
    """
    usable, sample = weights > 0, looked_at(len(points))
    some = points[sample]
    distinct = np.unique(some / scale, axis=0, return_index=True)[1]
    n_distinct = len(distinct) if len(some) == len(points) else count_distinct(points)
    chosen = np.sort(sample[distinct[usable[sample[distinct]]]])
    noise = (
        directional_noise(points[chosen] / scale, rows.frames[chosen], tangent.subset(chosen))
        if len(chosen)
        else None
    )
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
        noise_degrees=None if noise is None else noise.degrees,
        noise_resolution_degrees=None if noise is None else noise.resolution_degrees,
    )
    return replace(quality, findings=(*category_findings(points, names), *find(quality)))


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
