"""What is judged: a formula that a rule has chosen, or one that the user states, and what it is
compared with.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Stability
from closedform.interpretation.verdict import CheckResult
from closedform.searching.search_stage import MOST_HELD_OUT, search
from closedform.selection.contenders import Contender
from closedform.selection.select_stage import Selection, select
from closedform.verification.halves import SecondSearch, search_halves
from closedform.verification.phi import even_forms


@dataclass(frozen=True, slots=True)
class Case:
    """A concept, the points that judge it, and what it is compared with.

    Attributes
    ----------
    concept : Expression
    complexity : int
    rows : ndarray of int
        The points that judge it: those that search and choice have not seen; for a stated formula
        all.
    judged : GradientField
        The field there.
    n_points : int
        Different usable points in all.
    stability : Stability or CheckResult
    others : tuple of Contender or CheckResult
        What it is compared with, or why nothing was looked for.
    chosen : Contender
        The concept as the rule saw it.
    drop : Contender or None
        What the paper's rule chooses.
    choice : str
        Why the rule chose it; empty for a stated formula.
    """

    concept: Expression
    complexity: int
    rows: NDArray[np.int64]
    judged: GradientField
    n_points: int
    stability: Stability | CheckResult
    others: tuple[Contender, ...] | CheckResult
    chosen: Contender
    drop: Contender | None
    choice: str


def chosen_case(
    selection: Selection,
    field: GradientField,
    given: tuple[Contender, ...] | CheckResult | None,
    how: SecondSearch,
    rng: np.random.Generator,
) -> Case:
    """What a rule chose, judged on points that the search has not seen."""
    assert selection.choice is not None
    chosen, costs = selection.contenders[selection.choice.index], selection.result.costs
    seen = np.asarray(selection.result.seen)
    usable = np.flatnonzero(field.weights > 0)
    rows = np.sort(rng.permutation(np.setdiff1d(usable, seen))[:MOST_HELD_OUT])
    judged = field.subset(rows)
    concept = even_forms(chosen.expression, field.subset(seen))
    searched = given is None
    stability = (
        search_halves(selection, concept, field, judged, how, rng)
        if searched
        else CheckResult.not_made(
            "Halves of the data were not searched, as asked.", is_required=False
        )
    )
    others = _shown(selection, chosen) if not isinstance(given, tuple) else given
    return Case(
        concept=concept,
        complexity=concept.complexity(costs),
        rows=rows,
        judged=judged,
        n_points=count_points(field),
        stability=stability,
        others=others,
        chosen=chosen,
        drop=selection.contenders[selection.choice.steepest_drop],
        choice=selection.choice.reason,
    )


def stated_case(
    formula: Expression,
    field: GradientField,
    given: tuple[Contender, ...] | CheckResult | None,
    how: SecondSearch,
    rng: np.random.Generator,
) -> Case:
    """A formula of the user's, judged on all points, against what a search finds or what is
    given.
    """
    others = given
    if others is None:
        result = search(
            field,
            space=how.space,
            engine=how.engine,
            budget=how.budget,
            rng=rng,
            progress=how.progress,
        )
        others = select(result, field, rule=how.rule, rng=rng).contenders
    usable = np.flatnonzero(field.weights > 0)
    own = Contender(formula, formula.complexity(how.space.costs), 0, 1.0, engine="stated")
    return Case(
        concept=formula,
        complexity=own.complexity,
        rows=usable,
        judged=field.subset(usable),
        n_points=count_points(field),
        stability=CheckResult.not_made(
            "The formula was stated, not found by a search.", is_required=False
        ),
        others=others,
        chosen=own,
        drop=None,
        choice="",
    )


def _shown(selection: Selection, chosen: Contender) -> tuple[Contender, ...]:
    """The contenders that the answer shows beside the chosen one: each better than all before, and
    the paper's choice.
    """
    assert selection.choice is not None
    drop = selection.contenders[selection.choice.steepest_drop]
    best, shown = np.inf, []
    for contender in sorted(selection.contenders, key=lambda c: (c.complexity, c.regional)):
        if contender is not chosen and (contender.regional < best or contender is drop):
            shown.append(contender)
        best = min(best, contender.regional)
    return tuple(shown)


def count_points(field: GradientField) -> int:
    """How many different points of a field count."""
    return len(np.unique(field.points[field.weights > 0], axis=0))
