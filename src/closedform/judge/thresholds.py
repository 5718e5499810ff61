"""Where the verdict's lines are drawn."""

from dataclasses import dataclass

from closedform.basics.keywords import checked_constructor, required_kind


@checked_constructor
@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the verdict draws its lines.

    Attributes
    ----------
    confidence : float
        Least confidence of `verified`.
    approximate : float
        Largest upper bound of the mean misalignment, relative to chance, of anything but `none`.
    span : float
        For several latents: the largest upper bound, relative to chance, of the share of a
        concept's directions outside those of the latents.
    points : int
        Fewest points from which anything is verified: with fewer, intervals over regions mean
        nothing.
    rounding : float
        Misalignment up to which a fit is exact: an angle of 1e-6, which single precision leaves.
    """

    confidence: float = 0.95
    approximate: float = 0.1
    span: float = 0.02
    points: int = 100
    rounding: float = 1e-12


def as_thresholds(thresholds: Thresholds | None) -> Thresholds:
    """The lines themselves, or the usual ones."""
    lines = Thresholds() if thresholds is None else thresholds
    required_kind(lines, Thresholds, "thresholds", "pass closedform.Thresholds(...)")
    return lines
