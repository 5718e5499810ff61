"""Rules of choice: which contender is the concept, and why.

The very best fit always beats the truth, because a trained network is biased and a richer formula
fits its bias. So a rule asks for more than significance: whoever is further down its order must be
better by as much as the rule's penalty grows.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any, Protocol, runtime_checkable

import numpy as np

from closedform.alignment.tolerances import PERFECT
from closedform.arrays import FloatArray
from closedform.errors import ChoiceError
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import constant_values, fitted_positions
from closedform.expressions.linear_formulas import is_bent
from closedform.field.angles import misalignment_of
from closedform.keywords import suggestion
from closedform.searching.products import powers_spelled
from closedform.selection.contenders import Contender, Order
from closedform.selection.formula_size import count_parts
from closedform.selection.open_form import open_form
from closedform.selection.regions import RegionalScores
from closedform.selection.tolerances import (
    BIAS_FACTOR,
    CLEAR_STEP,
    CONFIDENCE,
    CONSTANT_FACTOR,
    FACTOR,
    LINEAR_DEGREES,
    LINEAR_NATS,
    MOST_ERRORS,
    N_RESAMPLES,
    NATS_PER_UNIT,
    NOISE_SHARE,
    SIGNIFICANT,
    STEPS_BEYOND,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The contender that was chosen.

    Attributes
    ----------
    index : int
        Which contender.
    reason : str
        Why, in words.
    rule : str
        The rule's name.
    floor : float
        The lowest regional misalignment of any contender.
    steepest_drop : int
        What the paper's rule would have chosen.
    better : tuple of int
        Contenders further down the rule's order that are significantly better, though not by
        enough.
    """

    index: int
    reason: str
    rule: str
    floor: float
    steepest_drop: int
    better: tuple[int, ...] = ()


@runtime_checkable
class Prior(Protocol):
    """What a user passes to prefer some formulas: an object with a penalty for each.

    The penalty is the natural logarithm of a factor. A formula is chosen over one of lower penalty
    only if its misalignment is lower by the factor between the two, significantly, and never by
    less than 2.
    """

    def penalty(self, formula: Expression) -> float:
        """How unlikely the formula is."""
        ...


@dataclass(frozen=True, slots=True)
class Scene:
    """What a rule chooses from.

    Attributes
    ----------
    contenders : sequence of Contender
        In the rule's order.
    scores : RegionalScores
        In the same order.
    noise : float
        Misalignment that independent noise of the directions causes (an estimate, 0 if unknown).
    rng : Generator
        For the bootstrap.
    systematic : ndarray, shape (n_contenders,)
        The share of each one's misalignment that neighbouring points have in common; None if it is
        not known.
    """

    contenders: Sequence[Contender]
    scores: RegionalScores
    noise: float
    rng: np.random.Generator
    systematic: FloatArray | None = None

    def of_constants(self, i: int, j: int, needed: float) -> float:
        """The log ratio that is needed, or less if j is i with more of its numbers fitted: plain
        numbers stand only within what the data say of them.
        """
        first, second = (powers_spelled(self.contenders[k].expression.tree) for k in (i, j))
        more = len(fitted_positions(second)) - len(fitted_positions(first))
        if more <= 0 or open_form(first) != open_form(second):
            return needed
        places, errors = fitted_positions(second), self.contenders[j].errors
        if len(first.tokens) == len(second.tokens) and len(errors) == len(places):
            plain = constant_values(first, places)
            moved = np.abs(np.subtract(plain, constant_values(second, places)[: len(plain)]))
            if len(plain) == len(places) and (moved > MOST_ERRORS * np.array(errors)).any():
                return SIGNIFICANT
        return float(np.log(CONSTANT_FACTOR) * more)

    def length(self, i: int, j: int) -> float:
        """The log ratio that pays for the longer description of j; noise pays nothing."""
        share = 0.0 if self.systematic is None else float(self.systematic[j])
        first, second = self.contenders[i], self.contenders[j]
        longer = second.complexity - first.complexity
        is_enough = self.scores.means()[i] <= misalignment_of(LINEAR_DEGREES)
        if is_enough and is_bent(first.expression.tree, second.expression.tree):
            return share * LINEAR_NATS * longer
        return share * min(NATS_PER_UNIT * longer, float(np.log(BIAS_FACTOR)))


class Rule(ABC):
    """A rule of choice."""

    name: str = ""

    def order(self, contender: Contender) -> Order:
        """Who comes first: the simplest, unless the rule has another idea."""
        return contender.order

    def penalty(self, formula: Expression) -> float:
        """How much better a formula must be, as the logarithm of a factor, than one of penalty
        0.
        """
        return np.log(FACTOR) * count_parts(formula.tree)

    def prospects(
        self, contenders: Sequence[Contender], misalignments: Sequence[float]
    ) -> list[bool]:
        """Which of them, in order, may still become the choice: all, unless the rule knows
        better.
        """
        return [True] * len(contenders)

    @abstractmethod
    def pick(self, scene: Scene) -> tuple[int, str, tuple[int, ...]]:
        """Which contender, why, and which others are significantly better though not by enough."""


@dataclass(frozen=True)
class ByFactor(Rule):
    """The first in order that no later one beats by the difference of their penalties, with an
    interval that excludes a tie.
    """

    name: str = "factor"

    def prospects(
        self, contenders: Sequence[Contender], misalignments: Sequence[float]
    ) -> list[bool]:
        """The clear steps up to the first that none beats, and a few more; the rest only stand by
        to beat others.
        """
        penalties = [self.penalty(contender.expression) for contender in contenders]
        logs = np.log(np.maximum(misalignments, PERFECT))
        best = np.minimum.accumulate([np.inf, *logs])[:-1]
        is_step = logs <= best + np.log(CLEAR_STEP)
        unbeaten = next(
            i
            for i in range(len(contenders))
            if not any(
                logs[i] - logs[j] >= self._needed(penalties, i, j)
                for j in range(i + 1, len(contenders))
            )
        )
        further = (
            np.cumsum(is_step[unbeaten + 1 :]) if unbeaten + 1 < len(contenders) else np.empty(0)
        )
        within = np.concatenate([np.ones(unbeaten + 1), further <= STEPS_BEYOND]).astype(bool)
        return (within & (is_step | (np.arange(len(contenders)) == unbeaten))).tolist()

    def pick(self, scene: Scene) -> tuple[int, str, tuple[int, ...]]:
        """Go through the contenders in order; the first that is not beaten is the choice."""
        means = explainable(scene.scores.means(), scene.noise, scene.systematic)
        drawn = explainable(
            scene.scores.resampled(scene.rng, N_RESAMPLES), scene.noise, scene.systematic
        )
        penalties = [self.penalty(contender.expression) for contender in scene.contenders]
        low = (1 - CONFIDENCE) / 2
        for i in range(len(scene.contenders)):
            better, shares = [], [0.0]
            for j in range(i + 1, len(scene.contenders)):
                gain = float(np.log(means[i] / means[j]))
                if gain <= 0 or np.quantile(drawn[:, i] / drawn[:, j], low) <= 1:
                    continue
                better.append(j)
                needed = max(self._needed(penalties, i, j), scene.length(i, j))
                shares.append(gain / scene.of_constants(i, j, needed))
            if max(shares) < 1:
                return i, self._reason(max(shares), len(scene.contenders) - 1 - i), tuple(better)
        raise AssertionError("The last contender is never beaten.")

    def _needed(self, penalties: Sequence[float], i: int, j: int) -> float:
        """The log ratio by which j, later in order, must be better than i."""
        return max(penalties[j] - penalties[i], np.log(FACTOR))

    def _reason(self, share: float, others: int) -> str:
        if not others:
            return "It is the most complex candidate, and each simpler one is clearly worse."
        # Rounded down: what is not enough must not look as if it were.
        reached = floor(100 * FACTOR**share) / 100
        nearest = (
            f"the best of them gains a factor of {reached:g} for each added term or constant, "
            f"and {FACTOR:g} is needed"
            if share
            else "none of them is significantly better"
        )
        return (
            f"It is the simplest candidate that none of the {others} more complex ones clearly "
            f"beats: {nearest}."
        )


@dataclass(frozen=True)
class ByPrior(ByFactor):
    """The same with a user's penalty, which decides about the order too."""

    prior: Any = None
    name: str = "prior"

    def order(self, contender: Contender) -> Order:
        """The likeliest first; among equals the simplest."""
        return (self.penalty(contender.expression), *contender.order)

    def penalty(self, formula: Expression) -> float:
        """The user's."""
        return float(self.prior.penalty(formula))

    def _reason(self, share: float, others: int) -> str:
        return (
            f"None of the {others} candidates that the prior finds less likely is better by as "
            f"much as the prior asks for."
        )


@dataclass(frozen=True)
class SteepestDrop(Rule):
    """The paper's rule."""

    name: str = "steepest_drop"

    def pick(self, scene: Scene) -> tuple[int, str, tuple[int, ...]]:
        """Where the front's log misalignment falls most for each unit of complexity."""
        index = steepest_drop(scene.contenders, scene.scores.means())
        return index, "The misalignment falls most steeply here for each unit of complexity.", ()


@dataclass(frozen=True)
class MostAccurate(Rule):
    """The lowest misalignment, whatever the complexity."""

    name: str = "accuracy"

    def pick(self, scene: Scene) -> tuple[int, str, tuple[int, ...]]:
        """The lowest regional misalignment."""
        return int(scene.scores.means().argmin()), "It has the lowest misalignment of all.", ()


@dataclass(frozen=True)
class AtMost(Rule):
    """The best of at most some complexity."""

    name: str = ""
    complexity: int = 0

    def pick(self, scene: Scene) -> tuple[int, str, tuple[int, ...]]:
        """The lowest regional misalignment among those that are simple enough."""
        means = scene.scores.means()
        allowed = [
            i
            for i, contender in enumerate(scene.contenders)
            if contender.complexity <= self.complexity
        ]
        if not allowed:
            least = min(contender.complexity for contender in scene.contenders)
            raise ChoiceError(
                f"No candidate has a complexity of at most {self.complexity}; the simplest "
                f"has {least}. Ask for that or more."
            )
        index = min(allowed, key=lambda i: (means[i], scene.contenders[i].order))
        return index, f"It is the best of complexity {self.complexity} or less, as asked for.", ()


RuleLike = str | int | Rule | Prior
"""What a public function takes as `rule`."""

_RULES: dict[str, Rule] = {rule.name: rule for rule in (ByFactor(), SteepestDrop(), MostAccurate())}


def as_rule(rule: RuleLike) -> Rule:
    """A rule from its name, from a complexity, or from a prior.

    Raises
    ------
    ChoiceError
        If there is no such rule.

    Examples
    --------
    >>> as_rule("accuracy").name, as_rule(12).name
    ('accuracy', 'complexity 12')
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and rule in _RULES:
        return _RULES[rule]
    if isinstance(rule, int | np.integer) and not isinstance(rule, bool) and rule > 0:
        return AtMost(name=f"complexity {int(rule)}", complexity=int(rule))
    if isinstance(rule, Prior) and not isinstance(rule, type):
        return ByPrior(prior=rule, name=getattr(rule, "name", type(rule).__name__))
    hint = suggestion(rule, _RULES) if isinstance(rule, str) else ""
    raise ChoiceError(
        f"There is no rule {rule!r:.60}{hint or '.'} Use {', '.join(map(repr, _RULES))}, a "
        f"complexity, or an object with "
        "penalty(formula)."
    )


def choose(rule: Rule, scene: Scene) -> Choice:
    """Let a rule choose.

    Raises
    ------
    ChoiceError
        If no contender meets the rule.
    """
    index, reason, better = rule.pick(scene)
    means = scene.scores.means()
    return Choice(
        index, reason, rule.name, float(means.min()), steepest_drop(scene.contenders, means), better
    )


def steepest_drop(contenders: Sequence[Contender], means: FloatArray) -> int:
    """The paper's rule: where the front's log misalignment falls most for each unit of
    complexity.
    """
    front: list[int] = []
    for i in sorted(range(len(contenders)), key=lambda i: (contenders[i].complexity, means[i])):
        if not front or (
            means[i] < means[front[-1]]
            and contenders[i].complexity > contenders[front[-1]].complexity
        ):
            front.append(i)
    if len(front) < 2:
        return front[0]
    logs = np.log(np.maximum(means[front], PERFECT))
    slopes = -np.diff(logs) / np.diff([contenders[i].complexity for i in front])
    return front[int(slopes.argmax()) + 1]


def explainable(
    misalignments: FloatArray, noise: float, systematic: FloatArray | None = None
) -> FloatArray:
    """Misalignments without what is surely noise: less the estimate, and no more than neighbouring
    points share; never below a tenth of themselves.
    """
    less = misalignments - NOISE_SHARE * noise
    if systematic is not None:
        less = np.minimum(less, misalignments * systematic)
    return np.maximum(np.maximum(less, 0.1 * misalignments), PERFECT)
