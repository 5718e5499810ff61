"""Where the verdict's lines are drawn. docs/verdict.md has the runs behind them."""

from dataclasses import dataclass

from closedform.keywords import checked_constructor, required_kind
from closedform.verification.phi import MONOTONE

FAMILIES, MOST_ADDED, MOST_MADE = 12, 6, 600
"""Rivals that are made: functions for each part, terms that are added, and forms in all. The best
few of each kind decide, and a first look at a hundred forms takes about a tenth of a second.
"""


@checked_constructor
@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the verdict draws its lines.

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
    points : int
        Fewest points from which anything is verified: with fewer, the intervals over regions mean
        nothing.
    rounding : float
        Misalignment up to which a fit is exact: an angle of 1e-6, which single precision leaves.
    network_error : tuple of float
        Least misalignment that a trained network's own error has, and the largest, relative to
        chance, that is put down to it. A difference that neighbours share and that is smaller or
        larger belongs to the formula.
    significance : float
        Standard errors from which a difference counts; many rivals are compared, so 3.5 where two
        formulas alone would need 2.
    price : tuple of float
        What a unit of description is worth, as the logarithm of a factor of the misalignment, to a
        shorter rival, and what it costs a longer one. A network's bias lets each further unit of a
        stand-in gain 5 to 12%; a part of the truth gains far more.
    economy : float
        Natural logarithms of the misalignment, from chance down, that each unit of the description
        beyond naming the inputs must buy where a network's error is in the field. Stand-ins for
        smooth functions without a closed form buy 0.2 to 0.4, true formulas 0.45 and more. Two
        thirds of it are enough where noise ends the gain, and without fitted numbers.
    curved : float
        Largest share of what a linear formula leaves unexplained that squares and products may
        explain. Of networks trained on linear targets they explain up to 0.11, of nearly linear
        ones 0.7 and more.
    alike : float
        Two formulas are not told apart while the misalignments of both, their prices added, are
        within this factor: a network's bias makes such differences. For a longer form that contains
        the concept, six tenths of it are enough.
    """

    verified: float = 0.02
    approximate: float = 0.1
    rank_correlation: float = MONOTONE
    advantage: float = 5.0
    points: int = 100
    rounding: float = 1e-12
    network_error: tuple[float, float] = (1e-7, 1e-2)
    significance: float = 3.5
    price: tuple[float, float] = (0.06, 0.09)
    economy: float = 0.45
    curved: float = 0.4
    alike: float = 1.4


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
