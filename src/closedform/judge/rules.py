"""Rules of choice: which contender is the concept, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from closedform.basics.keywords import suggestion
from closedform.errors import ChoiceError
from closedform.expressions.complexity import Costs, description_length, fitted_positions
from closedform.expressions.expression import Expression
from closedform.expressions.legality import charge
from closedform.expressions.units import Units
from closedform.field.alignment.misalignment import misalignment_of
from closedform.field.alignment.tolerances import PERFECT

MATERIAL_DEGREES = 0.1
"""Networks that were trained to a relative error of 0.1% have directions that are wrong by about
as much.
"""

TIE = 1.0
"""Nats by which evidence does not decide: odds of less than 3 to 1."""

UNIT_CHARGE = 2.0
"""What a constant that carries a unit costs: as much as a further input and what joins it."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A form that competes to be the concept."""

    expression: Expression  # fitted on both witnesses, at all points that the choice sees
    complexity: int
    score: float  # nats: what both witnesses leave over, and the length; lower is better
    cost: float  # the part of the score that is its length
    misalignment: float  # mean over regions, each judged with constants fitted without it
    left: float | None = None  # share of the latent's variance that phi leaves, in the same way
    errors: tuple[float, ...] = ()  # of the fitted constants, in the order of writing
    engine: str = ""  # which engine found it, or 'neighbour'


@dataclass(frozen=True, slots=True)
class Choice:
    """The contender that was chosen."""

    index: int  # which contender
    reason: str  # why, in words
    steepest_drop: int  # what the paper's rule would have chosen


@runtime_checkable
class Prior(Protocol):
    """What a user passes to prefer some formulas: an object with a penalty for each."""

    def penalty(self, formula: Expression) -> float:
        """What the formula costs in nats, in place of its length: the natural logarithm of how
        unlikely it is.
        """
        ...


@dataclass(frozen=True)
class Rule:
    """A rule of choice; as it stands, what both witnesses and a formula's length speak for."""

    name: str = "evidence"
    settles: ClassVar[float] = PERFECT
    """Where a formula is as exact as this, one that fails at a few points is not what it is."""

    @property
    def floor(self) -> float:
        """Squared errors below it count as this one."""
        return 0.0

    def cost(
        self, formula: Expression, price: float, costs: Costs | None, units: Units | None
    ) -> float:
        """Nats that a formula costs to describe: its length, and once more each constant that
        carries a unit.
        """
        carried = 0.0 if units is None else charge(formula.tree, units, formula.names)
        return price * (description_length(formula.tree, costs) + UNIT_CHARGE * carried)

    def pick(self, contenders: Sequence[Contender]) -> tuple[int, str]:
        """The lowest score, or within a nat of it what has fewer fitted numbers: such a number
        often describes nothing but a network's own error.
        """
        scores = [contender.score for contender in contenders]
        exact = [contender.misalignment <= self.settles for contender in contenders]
        if any(exact):
            scores = np.where(exact, scores, np.inf).tolist()
        first, *rest = np.argsort(scores, kind="stable").tolist()
        if not rest:
            return first, "It is the only candidate."
        if np.isinf(scores[rest[0]]):
            return first, f"Of {len(scores)} candidates it alone is exact at every point."
        ahead = scores[rest[0]] - scores[first]
        tied = [place for place in (first, *rest) if scores[place] <= scores[first] + TIE]
        trees = [contender.expression.tree for contender in contenders]
        chosen = min(tied, key=lambda place: len(fitted_positions(trees[place])))
        if chosen != first:
            return chosen, (
                f"Of {len(scores)} candidates the evidence speaks most for {len(tied)}, which it "
                "cannot tell apart; of these it has the fewest fitted numbers."
            )
        return first, (
            f"Of {len(scores)} candidates the evidence speaks most for it, its length paid for: by "
            f"{ahead:.2g} nats more than for the next."
        )


@dataclass(frozen=True)
class Material(Rule):
    """The same where a small angle matters to nobody: below it the simpler formula wins."""

    name: str = "material"
    settles: ClassVar[float] = -1.0
    degrees: float = MATERIAL_DEGREES  # the angle between directions

    @property
    def floor(self) -> float:
        """The misalignment of that angle."""
        return misalignment_of(self.degrees)


@dataclass(frozen=True)
class ByPrior(Rule):
    """The evidence with a user's penalty in place of the length."""

    prior: Any = None
    name: str = "prior"
    settles: ClassVar[float] = -1.0

    def cost(
        self, formula: Expression, price: float, costs: Costs | None, units: Units | None
    ) -> float:
        """The user's."""
        return float(self.prior.penalty(formula))


@dataclass(frozen=True)
class SteepestDrop(Rule):
    """The paper's rule."""

    name: str = "steepest_drop"

    def pick(self, contenders: Sequence[Contender]) -> tuple[int, str]:
        """Where the front's log misalignment falls most for each unit of complexity."""
        said = "The misalignment falls most steeply here for each unit of complexity."
        return steepest_drop(contenders), said


@dataclass(frozen=True)
class MostAccurate(Rule):
    """The lowest misalignment, whatever the complexity."""

    name: str = "accuracy"

    def pick(self, contenders: Sequence[Contender]) -> tuple[int, str]:
        """The lowest misalignment."""
        means = [contender.misalignment for contender in contenders]
        return int(np.argmin(means)), "It has the lowest misalignment of all."


@dataclass(frozen=True)
class AtMost(Rule):
    """The best of at most some complexity."""

    name: str = ""
    complexity: int = 0

    def pick(self, contenders: Sequence[Contender]) -> tuple[int, str]:
        """The lowest misalignment among those that are simple enough."""
        allowed = [i for i, c in enumerate(contenders) if c.complexity <= self.complexity]
        if not allowed:
            least = min(contender.complexity for contender in contenders)
            raise ChoiceError(
                f"No candidate has a complexity of at most {self.complexity}; the simplest "
                f"has {least}. Ask for that or more."
            )
        index = min(allowed, key=lambda i: (contenders[i].misalignment, contenders[i].score))
        return index, f"It is the best of complexity {self.complexity} or less, as asked for."


RuleLike = str | int | Rule | Prior
"""What a public function takes as `rule`."""

_RULES: dict[str, Rule] = {rule.name: rule for rule in (Rule(), SteepestDrop(), MostAccurate())}


def as_rule(rule: RuleLike) -> Rule:
    """A rule from its name, from a complexity, or from a prior.

    Examples
    --------
    >>> as_rule("accuracy").name, as_rule(12).name, as_rule("complexity 12").complexity
    ('accuracy', 'complexity 12', 12)
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and rule in _RULES:
        return _RULES[rule]
    words = rule.split() if isinstance(rule, str) else []
    if len(words) == 2 and words[0] == "complexity" and words[1].isdigit():
        rule = int(words[1])
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


def choose(rule: Rule, contenders: Sequence[Contender]) -> Choice:
    """Let a rule choose."""
    index, reason = rule.pick(contenders)
    return Choice(index, reason, steepest_drop(contenders))


def front_of(contenders: Sequence[Contender]) -> list[int]:
    """Places of those that are better aligned than everything simpler, simplest first."""
    front: list[int] = []
    order = sorted(
        range(len(contenders)), key=lambda i: (contenders[i].complexity, contenders[i].misalignment)
    )
    for i in order:
        if not front or (
            contenders[i].misalignment < contenders[front[-1]].misalignment
            and contenders[i].complexity > contenders[front[-1]].complexity
        ):
            front.append(i)
    return front


def steepest_drop(contenders: Sequence[Contender]) -> int:
    """The paper's rule: where the front's log misalignment falls most for each unit of
    complexity.
    """
    front = front_of(contenders)
    if len(front) < 2:
        return front[0]
    logs = np.log([max(contenders[i].misalignment, PERFECT) for i in front])
    slopes = -np.diff(logs) / np.diff([contenders[i].complexity for i in front])
    return front[int(slopes.argmax()) + 1]
