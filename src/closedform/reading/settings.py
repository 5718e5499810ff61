"""What a reading is asked to do, checked before any work begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from closedform.basics.live_progress import ProgressLike, choose_progress
from closedform.basics.progress import Progress
from closedform.field.gradient_field import GradientField
from closedform.judge.checks import Check, all_checks
from closedform.judge.rules import Rule, RuleLike, as_rule
from closedform.judge.thresholds import Thresholds, as_thresholds
from closedform.searching.budget import LEAST, Budget, Clock
from closedform.searching.engine import Engine
from closedform.searching.registry import get_engine
from closedform.searching.space import SearchSpace, as_space

SEARCH_SHARE, JUDGING_SHARE = 0.6, 0.1
"""Of the budget, for the search at most, and kept for the verdict; the choice has the rest."""

VERDICT_SECONDS = 1.0
"""What a verdict takes: kept of a short budget too, up to a third of it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What search, select and verify are called with."""

    engine: Engine
    space: SearchSpace
    rule: Rule
    checks: Sequence[Check]  # in addition to the built-in ones
    thresholds: Thresholds
    progress: Progress

    @classmethod
    def checked(
        cls,
        engine: str | Engine,
        space: SearchSpace | None,
        rule: RuleLike,
        checks: Sequence[Check] | None,
        thresholds: Thresholds | None,
        progress: ProgressLike,
    ) -> "Settings":
        """From what a user passes; each wrong value is refused with a hint."""
        all_checks(checks)
        return cls(
            get_engine(engine),
            as_space(space),
            as_rule(rule),
            tuple(checks or ()),
            as_thresholds(thresholds),
            choose_progress(progress),
        )


def choice_budget(limits: Budget, clock: Clock) -> Budget:
    """What the choice may use: all that is left but for the verdict's share."""
    left = clock.remaining().seconds
    if left is None or limits.seconds is None:
        return limits.share(1 - SEARCH_SHARE - JUDGING_SHARE)
    kept = max(JUDGING_SHARE * limits.seconds, min(VERDICT_SECONDS, limits.seconds / 3))
    # A search that took longer than its share leaves a sliver: the choice then chooses at once.
    seconds = max(left - kept, LEAST)
    return replace(limits.share(1 - SEARCH_SHARE), seconds=seconds)


def rest_of(limits: Budget, clock: Clock) -> Budget:
    """What the verdict may use: evaluations that the search leaves, and the seconds left now."""
    return replace(limits.share(1 - SEARCH_SHARE), seconds=clock.remaining().seconds)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Origin:
    """The field, and what was asked of it.

    It is left behind when an answer is saved or sent to another process: a field can be large.
    """

    field: GradientField
    asked: Mapping[str, Any]  # engine, space, rule, checks, thresholds and progress

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()
