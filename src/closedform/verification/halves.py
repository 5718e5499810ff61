"""Search halves of the data again with other seeds: does the same form come out?"""

from dataclasses import dataclass, replace

import numpy as np

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import N_HALVES, Stability
from closedform.interpretation.verdict import CheckResult
from closedform.progress import Named, Progress
from closedform.searching.budget import Budget
from closedform.searching.engine import Engine
from closedform.searching.search_stage import search
from closedform.searching.space import SearchSpace
from closedform.selection.rules import Rule
from closedform.selection.select_stage import Selection, select
from closedform.verification.phi import even_forms
from closedform.verification.stability import compare_halves

FEWEST_IN_HALF = 40
"""With fewer points a search has too little to go by."""

SHARES_OF_REST = (0.42, 0.8)
"""Of the seconds that are left, for the first half and then for the second; the rest is for
measuring.
"""


@dataclass(frozen=True, slots=True)
class SecondSearch:
    """How halves are searched."""

    engine: Engine
    space: SearchSpace
    rule: Rule
    budget: Budget
    progress: Progress


def search_halves(
    selection: Selection,
    concept: Expression,
    field: GradientField,
    judged: GradientField,
    how: SecondSearch,
    rng: np.random.Generator,
) -> Stability | CheckResult:
    """Search both halves of the points that the first search saw, and compare what is chosen with
    the concept.

    What the first search found stands for choice as well: a half that only fails to find the
    concept says nothing against it, one that prefers another formula does.

    Parameters
    ----------
    selection : Selection
        The first search and its choice.
    concept : Expression
    field : GradientField
        The whole.
    judged : GradientField
        Points at which formulas are compared.
    how : SecondSearch
    rng : Generator

    Returns
    -------
    Stability or CheckResult
        The latter says why halves were not searched.
    """
    first = selection.result
    if first.status == "interrupted":
        return CheckResult.not_made(
            "The search was interrupted before halves of the data were searched."
        )
    if len(first.seen) < N_HALVES * FEWEST_IN_HALF:
        return CheckResult.not_made(
            f"Halves of {len(first.seen)} points are too few to be searched."
        )
    clock, seen, found = how.budget.start(), field.subset(np.asarray(first.seen)), []
    parts = np.array_split(rng.permutation(np.asarray(first.seen)), N_HALVES)
    for number, (part, share) in enumerate(zip(parts, SHARES_OF_REST, strict=True), start=1):
        left = clock.remaining().seconds
        budget = replace(
            how.budget.share(1 / N_HALVES), seconds=None if left is None else share * left
        )
        (child,) = rng.spawn(1)
        progress = Named(how.progress, f"half {number} of the data")
        result = search(
            field,
            space=how.space,
            engine=how.engine,
            budget=budget,
            rng=child,
            progress=progress,
            points=part,
        )
        both = replace(result, front=result.front.merge(first.front))
        chosen = select(both, field, rule=how.rule, rng=child).chosen
        if chosen is not None:
            found.append(even_forms(chosen.expression, seen))
    return compare_halves(concept, found, judged)
