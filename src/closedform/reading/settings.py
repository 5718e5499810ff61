"""What a reading is asked to do, checked before any work begins, and how it spends its budget: a
long one is a short round first, and goes on where that does not settle it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedform.basics.keywords import KeywordError
from closedform.basics.progress import Progress, ProgressLike, choose_progress
from closedform.errors import DomainError
from closedform.expressions.expression import Expression
from closedform.expressions.legality import Legality
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.answer_data import SeedAgreement
from closedform.interpretation.verdict import STATUSES
from closedform.judge.checks import Check, all_checks
from closedform.judge.rules import Rule, RuleLike, as_rule
from closedform.judge.select_stage import Selection
from closedform.judge.thresholds import Thresholds, as_thresholds
from closedform.judge.verify_stage import verify
from closedform.searching.budget import LEAST, Budget, Clock
from closedform.searching.engine import Engine, get_engine
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

    def judge(
        self,
        selection: Selection,
        field: GradientField,
        checks: Sequence[Check],
        budget: Budget,
        rng: np.random.Generator,
        hypothesis: Expression | None = None,
    ) -> Interpretation:
        """The verdict on a choice, with these settings."""
        return verify(
            selection, field, checks=checks, thresholds=self.thresholds, budget=budget, rng=rng,
            engine=self.engine, space=self.space, rule=self.rule, hypothesis=hypothesis,
            progress=self.progress,
        )  # fmt: skip


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


FIRST_ROUND = 10.0
"""Seconds of the first round: the budget at which the reliability of `verified` is measured
(docs/verdict.md)."""


def read_in_rounds(
    field: GradientField,
    limits: Budget,
    read: Callable[[Budget, Sequence[Expression]], Interpretation],
) -> Interpretation:
    """Read for `FIRST_ROUND` seconds, and for the rest if nothing is verified then."""
    if limits.seconds is None or limits.seconds < 2 * FIRST_ROUND:
        return read(limits, ())
    clock = limits.start()
    first = read(replace(limits, seconds=FIRST_ROUND), ())
    if first.verdict.status == "verified" or first.provenance.status == "interrupted":
        return first
    clock.evaluations = first.provenance.evaluations
    return better_of(first, read(clock.remaining(), formulas_of(first, field)))


def better_of(first: Interpretation, second: Interpretation) -> Interpretation:
    """The second answer, or the first if its verdict is better; seconds and evaluations add up."""
    order = STATUSES.index
    kept = first if order(first.verdict.status) < order(second.verdict.status) else second
    both = first.provenance, second.provenance
    told = replace(
        kept.provenance,
        seconds=sum(one.seconds for one in both),
        evaluations=sum(one.evaluations for one in both),
        seed=second.provenance.seed,
    )
    return replace(kept, provenance=told, origin=second.origin)


def formulas_of(answer: Interpretation, field: GradientField) -> list[Expression]:
    """What was found, as far as the field's units allow it."""
    parts = answer.parts or (answer,)
    found = dict.fromkeys(entry.expression for part in parts for entry in part.front)
    if field.units is None:
        return list(found)
    legality = Legality(field.units, may_carry=not field.units.pure_numbers)
    return [one for one in found if legality.allows(one.tree, one.names)]


def check_seeds(seeds: int) -> None:
    """Refuse what is not a positive whole number."""
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise KeywordError(f"seeds is {seeds!r:.60}; pass the number of seeds to try, 1 or more.")


def read_with_seeds(
    field: GradientField, count: int, first: int, read: Callable[[int], Interpretation]
) -> Interpretation:
    """The best answer of the formula that most seeds, from `first` on, lead to."""
    answers = [read(first + place) for place in range(count)]
    groups: list[list[Interpretation]] = []
    for answer in answers:
        home = next((group for group in groups if _same(group[0], answer, field)), [])
        groups += [] if home else [home]
        home.append(answer)
    largest = max(groups, key=len)
    best = min(largest, key=lambda one: STATUSES.index(one.verdict.status))
    formulas = tuple("" if one.concept is None else str(one.concept) for one in answers)
    return replace(best, seeds=SeedAgreement(count, len(largest), formulas))


def _same(one: Interpretation, other: Interpretation, field: GradientField) -> bool:
    """Whether two answers hold the same concepts, or neither is one."""
    if "none" in (one.verdict.status, other.verdict.status):
        return one.verdict.status == other.verdict.status
    if one.concepts == other.concepts:
        return True
    if len(one.concepts) != len(other.concepts) or len(one.concepts) != 1:
        return False
    from closedform.canonical.same_concept import same_concept  # brings SymPy

    (first,), (second,) = one.concepts, other.concepts
    try:
        found = same_concept(first, second, list(field.names), points=field.points)
    except DomainError:
        return False
    return found.status != "different"
