"""Short searches of halves of the data with other seeds: what else would have been found?"""

from dataclasses import dataclass, replace

import numpy as np

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.progress import Named, Progress
from closedform.searching.budget import Budget
from closedform.searching.engine import Engine
from closedform.searching.search_stage import search
from closedform.searching.space import SearchSpace
from closedform.selection.rules import Rule
from closedform.selection.select_stage import Selection

FEWEST_IN_HALF = 40
"""With fewer points a search has too little to go by."""

SHARES_OF_REST = (0.2, 0.3)
"""Of the seconds that are left, for the first half and then for the second; the rest is for
comparing.
"""

COMPARING = 4.0
"""Seconds that two rounds of comparing take at most. With fewer left no half is searched: a rival
that cannot take the concept's place is of little use.
"""


@dataclass(frozen=True, slots=True)
class SecondSearch:
    """How halves are searched."""

    engine: Engine
    space: SearchSpace
    rule: Rule
    budget: Budget
    progress: Progress


def search_again(
    selection: Selection, field: GradientField, how: SecondSearch, rng: np.random.Generator
) -> list[Expression]:
    """All that the fronts of two searches hold; nothing if the first was interrupted or has too few
    points, or if hardly any time is left.

    Parameters
    ----------
    selection : Selection
        The first search and its choice.
    field : GradientField
        The whole.
    how : SecondSearch
    rng : Generator

    Raises
    ------
    KeyboardInterrupt
        If somebody stops one of them.
    """
    first = selection.result
    n_halves = len(SHARES_OF_REST)
    if first.status == "interrupted" or len(first.seen) < n_halves * FEWEST_IN_HALF:
        return []
    clock, found = how.budget.start(), []
    parts = np.array_split(rng.permutation(np.asarray(first.seen)), n_halves)
    for number, (part, share) in enumerate(zip(parts, SHARES_OF_REST, strict=True), start=1):
        left = clock.remaining().seconds
        if left is not None and left < COMPARING:
            break
        budget = replace(
            how.budget.share(1 / n_halves), seconds=None if left is None else share * left
        )
        (child,) = rng.spawn(1)
        result = search(
            field,
            space=how.space,
            engine=how.engine,
            budget=budget,
            rng=child,
            progress=Named(how.progress, f"half {number} of the data"),
            points=part,
        )
        if result.status == "interrupted":
            raise KeyboardInterrupt  # it was meant for the whole call, not for this half
        found += [candidate.expression for candidate in result.front]
    return found
