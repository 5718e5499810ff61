"""Where the verdict's lines are drawn."""

from dataclasses import dataclass

from closedform.keywords import checked_constructor, required_kind
from closedform.verification.phi import MONOTONE


@checked_constructor
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
        How many times better than anything of half its complexity, or than chance, a concept must
        be.
    gain : float
        How many times better than the next simpler formula a concept must be, unless it fits
        excellently.
    excellent : float
        A fit is excellent if the upper bound of its trimmed misalignment, relative to chance, is no
        larger.
    points : int
        Fewest points from which anything is verified: with fewer, the intervals over regions mean
        nothing.
    """

    verified: float = 0.02
    approximate: float = 0.1
    rank_correlation: float = MONOTONE
    advantage: float = 5.0
    gain: float = 5.0
    excellent: float = 0.005
    points: int = 100


def as_thresholds(thresholds: Thresholds | None) -> Thresholds:
    """The lines themselves, or the usual ones.

    Raises
    ------
    KeywordError
        If it is something else.
    """
    lines = Thresholds() if thresholds is None else thresholds
    required_kind(lines, Thresholds, "thresholds", "pass closedform.Thresholds(...)")
    return lines
