"""What is judged: a formula that a rule has chosen, or one that the user states, and what it is
compared with.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import count_distinct
from closedform.interpretation.verdict import CheckResult
from closedform.searching.front import Candidate, Front
from closedform.searching.search_stage import MOST_HELD_OUT, search
from closedform.selection.contenders import Contender
from closedform.selection.select_stage import Selection, select
from closedform.verification.alternatives import Known
from closedform.verification.further_searches import SecondSearch, search_again
from closedform.verification.phi import even_forms

MOST_KNOWN = 60
"""Formulas of searches that are compared: the best of them; the others are far off."""


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
    known : tuple of (Expression, str), or CheckResult
        Other formulas, with where they come from, or why nothing was looked for.
    shown : tuple of Contender
        Formulas that stand on the front beside the concept.
    chosen : Contender
        The concept as the rule saw it.
    drop : Contender or None
        What the paper's rule chooses.
    choice : str
        Why the rule chose it; empty for a stated formula.
    makes_rivals : bool
        Whether rivals are made in addition to those that are known; not if the user named them.
    """

    concept: Expression
    complexity: int
    rows: NDArray[np.int64]
    judged: GradientField
    n_points: int
    known: tuple[Known, ...] | CheckResult
    shown: tuple[Contender, ...]
    chosen: Contender
    drop: Contender | None
    choice: str
    makes_rivals: bool

    @property
    def is_stated(self) -> bool:
        """Whether the user stated the formula."""
        return not self.choice


def chosen_case(
    selection: Selection,
    field: GradientField,
    given: tuple[Contender, ...] | CheckResult | None,
    how: SecondSearch,
    exact: float,
    rng: np.random.Generator,
) -> Case:
    """What a rule chose, judged on points that the search has not seen.

    `exact` is the misalignment up to which nothing more is searched for.
    """
    assert selection.choice is not None
    chosen, costs = selection.contenders[selection.choice.index], selection.result.costs
    seen = np.asarray(selection.result.seen)
    is_new = field.weights > 0
    is_new[seen] = False
    rows = np.sort(rng.permutation(np.flatnonzero(is_new))[:MOST_HELD_OUT])
    concept = even_forms(chosen.expression, field.subset(seen))
    shown = _shown(selection, chosen) if not isinstance(given, tuple) else given
    known: tuple[Known, ...] | CheckResult
    if isinstance(given, CheckResult):
        known = given
    elif selection.result.status == "interrupted":
        known = CheckResult.not_made(
            "The search was interrupted before other formulas were looked for."
        )
    elif given is not None:
        known = tuple((contender.expression, "given") for contender in given)
    else:
        again = [] if chosen.regional <= exact else search_again(selection, field, how, rng)
        first = [contender.expression for contender in selection.contenders]
        known = (
            *((formula, "search") for formula in first[-MOST_KNOWN:]),
            *((formula, "another search") for formula in again[-MOST_KNOWN:]),
        )
    return Case(
        concept=concept,
        complexity=concept.complexity(costs),
        rows=rows,
        judged=field.subset(rows),
        n_points=count_points(field),
        known=known,
        shown=shown,
        chosen=chosen,
        drop=selection.contenders[selection.choice.steepest_drop],
        choice=selection.choice.reason,
        makes_rivals=given is None,
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
    shown: tuple[Contender, ...] = given if isinstance(given, tuple) else ()
    source = "given"
    if given is None:
        result = search(
            field,
            space=how.space,
            engine=how.engine,
            budget=how.budget.share(0.6),
            rng=rng,
            progress=how.progress,
        )
        if result.status == "interrupted":
            raise KeyboardInterrupt  # it was meant for the whole call
        shown, source = select(result, field, rule=how.rule, rng=rng).contenders, "search"
    usable = np.flatnonzero(field.weights > 0)
    own = Contender(formula, formula.complexity(how.space.costs), 0, 1.0, engine="stated")
    return Case(
        concept=formula,
        complexity=own.complexity,
        rows=usable,
        judged=field.subset(usable),
        n_points=count_points(field),
        known=given
        if isinstance(given, CheckResult)
        else tuple((contender.expression, source) for contender in shown),
        shown=shown,
        chosen=own,
        drop=None,
        choice="",
        makes_rivals=given is None,
    )


def adopted(
    case: Case,
    formula: Expression,
    selection: Selection,
    field: GradientField,
    reason: str,
    rng: np.random.Generator,
) -> Case:
    """The case with another formula as its concept, in canonical form and with its constants
    snapped by the rule of choice; what it was stays as one that it is compared with.
    """  # fmt: skip
    result, costs = selection.result, selection.result.costs
    alone = Front.of([Candidate(formula, 0.5, formula.complexity(costs), "rival")])
    chosen = select(replace(result, front=alone), field, rng=rng).chosen
    if chosen is None:
        return case
    concept = even_forms(chosen.expression, field.subset(np.asarray(result.seen)))
    known = case.known if isinstance(case.known, tuple) else ()
    return replace(
        case,
        concept=concept,
        complexity=concept.complexity(costs),
        known=(*known, (case.concept, "search")),
        shown=(*(one for one in case.shown if one.expression != concept), case.chosen),
        chosen=chosen,
        choice=reason,
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
    return count_distinct(field.points[field.weights > 0])
