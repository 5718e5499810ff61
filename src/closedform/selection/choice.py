"""Choice: which contender is the concept, and why.

The very best fit always beats the truth, because a trained network is biased and a richer formula fits its bias. So the rule
asks for more than significance: each further term or constant must lower the misalignment by a factor.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ChoiceError
from closedform.selection.contenders import FACTOR, Contender
from closedform.selection.regions import RegionalScores

PERFECT = 1e-10
"""Misalignments below this are rounding and count as this."""

NOISE_SHARE = 0.7
"""Share of the estimated independent noise that no formula can explain, and that is taken off before ratios are formed."""

N_RESAMPLES = 400
CONFIDENCE = 0.95

Rule = str | int
"""'factor' (the default), 'steepest_drop', 'accuracy', or a complexity."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The contender that was chosen.

    Attributes
    ----------
    index : int
        Which contender.
    reason : str
        Why, in words.
    rule : str or int
    floor : float
        The lowest regional misalignment of any contender.
    steepest_drop : int
        What the paper's rule would have chosen.
    better : tuple of int
        More complex contenders that are significantly better, though not by enough.
    """

    index: int
    reason: str
    rule: Rule
    floor: float
    steepest_drop: int
    better: tuple[int, ...] = ()


def check_rule(rule: Rule) -> None:
    """See whether there is such a rule, before the search that it is to choose from.

    Raises
    ------
    ChoiceError
        If there is not.
    """
    # A boolean is a number to Python, but not a complexity.
    is_complexity = isinstance(rule, int) and not isinstance(rule, bool) and rule > 0
    if not is_complexity and rule not in ("factor", "steepest_drop", "accuracy"):
        raise ChoiceError(f"There is no rule {rule!r}; use 'factor', 'steepest_drop', 'accuracy' or a complexity.")


def choose(
    contenders: Sequence[Contender],
    scores: RegionalScores,
    *,
    rule: Rule = "factor",
    noise: float = 0.0,
    factor: float = FACTOR,
    rng: np.random.Generator,
) -> Choice:
    """Choose one of the contenders.

    Parameters
    ----------
    contenders : sequence of Contender
        Simplest first, at least one.
    scores : RegionalScores
        In the same order.
    rule : {'factor', 'steepest_drop', 'accuracy'} or int
        'factor': the simplest that no more complex one beats by `factor` for each added term or constant, with a bootstrap
        interval over regions that excludes a tie. 'steepest_drop': the paper's. 'accuracy': the lowest misalignment. A number:
        the best of at most this complexity.
    noise : float
        Misalignment that independent noise of the directions causes (an estimate, 0 if unknown).
    factor : float
    rng : Generator
        For the bootstrap.

    Raises
    ------
    ChoiceError
        If the rule is unknown or no contender is simple enough.
    """
    means = scores.means()
    floor, drop = float(means.min()), steepest_drop(contenders, means)
    if rule == "factor":
        index, better, reason = _by_factor(contenders, scores, noise, factor, rng)
        return Choice(index, reason, rule, floor, drop, better)
    if rule == "steepest_drop":
        return Choice(drop, "The misalignment falls most steeply here for each unit of complexity.", rule, floor, drop)
    if rule == "accuracy":
        return Choice(int(means.argmin()), "It has the lowest misalignment of all.", rule, floor, drop)
    if isinstance(rule, int):
        allowed = [i for i, contender in enumerate(contenders) if contender.complexity <= rule]
        if not allowed:
            least = contenders[0].complexity
            raise ChoiceError(
                f"No candidate has a complexity of at most {rule}; the simplest has {least}. Ask for that or more."
            )
        index = min(allowed, key=lambda i: (means[i], contenders[i].order))
        return Choice(index, f"It is the best of complexity {rule} or less, as asked for.", rule, floor, drop)
    raise ChoiceError(f"There is no rule {rule!r}; use 'factor', 'steepest_drop', 'accuracy' or a complexity.")


def steepest_drop(contenders: Sequence[Contender], means: FloatArray) -> int:
    """The paper's rule: where the front's log misalignment falls most for each unit of complexity."""
    front: list[int] = []
    for i in sorted(range(len(contenders)), key=lambda i: (contenders[i].complexity, means[i])):
        if not front or (means[i] < means[front[-1]] and contenders[i].complexity > contenders[front[-1]].complexity):
            front.append(i)
    if len(front) < 2:
        return front[0]
    logs = np.log(np.maximum(means[front], PERFECT))
    slopes = -np.diff(logs) / np.diff([contenders[i].complexity for i in front])
    return front[int(slopes.argmax()) + 1]


def _by_factor(
    contenders: Sequence[Contender], scores: RegionalScores, noise: float, factor: float, rng: np.random.Generator
) -> tuple[int, tuple[int, ...], str]:
    means = explainable(scores.means(), noise)
    drawn = explainable(scores.resampled(rng, N_RESAMPLES), noise)
    low = (1 - CONFIDENCE) / 2
    nearest = ""
    for i, contender in enumerate(contenders):
        better, beaten = [], False
        largest = 1.0
        for j in range(i + 1, len(contenders)):
            ratio = means[i] / means[j]
            if ratio <= 1 or np.quantile(drawn[:, i] / drawn[:, j], low) <= 1:
                continue
            better.append(j)
            added = max(contenders[j].n_parts - contender.n_parts, 1)
            beaten = beaten or ratio >= factor**added
            largest = max(largest, ratio ** (1 / added))
        if not beaten:
            nearest = (
                f"the best of them by {largest:.2g} times for each added term or constant, and {factor:g} times are needed"
                if better
                else "none of them significantly"
            )
            others = len(contenders) - 1 - i
            reason = (
                f"It is the simplest that no more complex candidate of {others} beats clearly: {nearest}."
                if others
                else "It is the most complex candidate, and each simpler one is clearly worse."
            )
            return i, tuple(better), reason
    raise AssertionError("The last contender is never beaten.")


def explainable(misalignments: FloatArray, noise: float) -> FloatArray:
    """Misalignments less what is surely noise, never below a tenth of themselves."""
    return np.maximum(np.maximum(misalignments - NOISE_SHARE * noise, 0.1 * misalignments), PERFECT)
