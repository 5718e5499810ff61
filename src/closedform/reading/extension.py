"""Going on with an answer: the search starts from what it had found."""

from dataclasses import replace
from typing import Any

from closedform.errors import ClosedformError
from closedform.field.gradient_field import GradientField
from closedform.interpretation.abilities import ability
from closedform.interpretation.answer import Interpretation
from closedform.reading.one_field import interpret_field
from closedform.reading.rounds import better_of, formulas_of
from closedform.reading.settings import Origin
from closedform.searching.budget import Budget
from closedform.searching.space import as_space


class ExtensionError(ClosedformError, ValueError):
    """An answer that cannot be continued."""


@ability("extend")
def extend(
    answer: Interpretation, budget: float | Budget, *, field: GradientField | None = None
) -> Interpretation:
    """Go on where the search of an answer ended, with its formulas as starting points.

    Parameters
    ----------
    answer : Interpretation
    budget : float or Budget
        For the further search and its verdict.
    field : GradientField, optional
        What was read; needed for an answer that comes from a file.

    Returns
    -------
    Interpretation
        The new answer, or the old one where that has the better verdict; seconds and evaluations
        count both.

    Raises
    ------
    ExtensionError
        If the field is not at hand.
    """
    origin = answer.origin if isinstance(answer.origin, Origin) else None
    if origin is None and field is None:
        raise ExtensionError(
            "The answer does not hold its field, since it was loaded or is part of another; pass "
            "it: answer.extend(30, field=closedform.load_field(...))."
        )
    searched = field if field is not None else origin.field if origin else None
    assert searched is not None
    known: dict[str, Any] = {} if origin is None else dict(origin.asked)
    space = known.pop("space", None)
    start = [*(space.guesses if space is not None else ()), *formulas_of(answer, searched)]
    found = interpret_field(
        searched,
        budget=budget,
        rng=answer.provenance.seed + 1,
        space=replace(as_space(space), guesses=tuple(start)),
        title=answer.provenance.title,
        command=answer.provenance.command,
        **known,
    )
    return better_of(answer, found)
