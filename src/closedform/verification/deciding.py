"""From a case to the concept and its set: compare, take what is better, and compare again."""

from dataclasses import dataclass, replace

import numpy as np

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Clock
from closedform.searching.space import SearchSpace
from closedform.selection.select_stage import Selection
from closedform.verification.alternatives import Contested, compare_all, without_refuted
from closedform.verification.case import Case, adopted
from closedform.verification.description import description_length
from closedform.verification.queries import Query, refuted
from closedform.verification.thresholds import Thresholds

ROUNDS = 3
"""Comparisons in all: a rival that takes the concept's place has rivals of its own, and two such
changes have been enough."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a decision is made with.

    Attributes
    ----------
    field : GradientField
        The whole.
    selection : Selection or None
        None for a stated formula.
    space : SearchSpace
    lines : Thresholds
    query : callable or None
        The network's gradients at points of one's choice.
    hypothesis : Expression or None
    floor : float
        Misalignments below it count as this one: the rule's, if it has one.
    """

    field: GradientField
    selection: Selection | None
    space: SearchSpace
    lines: Thresholds
    query: Query | None = None
    hypothesis: Expression | None = None
    floor: float = 0.0

    @property
    def is_network(self) -> bool:
        """Whether a network's own error may be in the field: it is at hand, or its values are."""
        return self.query is not None or self.field.latents is not None


def decide(
    case: Case, about: Circumstances, clock: Clock, rng: np.random.Generator
) -> tuple[Case, Contested]:
    """Compare the concept with its rivals; the best that is clearly better takes its place, while
    there is time to compare that one with its own.
    """
    before = clock.seconds
    outcome = _compared(case, about, clock, rng)
    took = clock.seconds - before
    for _ in range(ROUNDS - 1):
        better = _better(case, outcome, about)
        left = clock.remaining().seconds
        if better is None or about.selection is None or (left is not None and left < took):
            break
        case = adopted(
            case, better, about.selection, about.field,
            "It is a rival that fits clearly better than what the rule chose first.", rng,
        )  # fmt: skip
        outcome = _compared(case, about, clock, rng)
    if outcome.loosened is not None and not case.is_stated:
        case = replace(
            case,
            concept=outcome.loosened,
            complexity=outcome.loosened.complexity(about.space.costs),
        )
    if about.query is not None and outcome.alternatives:
        forms = [rival.expression for rival in outcome.alternatives]
        outcome = without_refuted(
            outcome, refuted(about.query, case.concept, forms, about.field, rng)
        )
    return case, outcome


def _compared(
    case: Case, about: Circumstances, clock: Clock, rng: np.random.Generator
) -> Contested:
    known = case.known if isinstance(case.known, tuple) else ()
    if about.hypothesis is not None:
        known = (*known, (about.hypothesis, "hypothesis"))
    return compare_all(
        case.concept, known, about.field, about.space, about.lines, rng,
        is_network=about.is_network, is_fixed=case.is_stated,
        make=case.makes_rivals, floor=about.floor,
        budget=clock.remaining(),
    )  # fmt: skip


def _better(case: Case, outcome: Contested, about: Circumstances) -> Expression | None:
    """The best of the rivals in the user's space that are clearly better, their price paid, or that
    are shorter and not clearly worse.
    """
    if case.is_stated:
        return None
    space, names = about.space, about.field.names
    own = description_length(case.concept.tree, space.costs)
    for rival in outcome.rivals:
        # Its price is paid: the rest is a matter of significance.
        is_shorter = description_length(rival.expression.tree, space.costs) < own
        line = about.lines.significance if is_shorter else -about.lines.significance
        is_better = rival.difference < 0 and rival.z < line
        is_allowed = rival.complexity <= space.max_complexity
        if is_better and is_allowed and space.allows(rival.expression.tree, names):
            return rival.expression
    return None
