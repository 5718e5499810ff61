"""Going on with an answer: the search starts from what it had found."""

from dataclasses import replace
from typing import Any

from closedform.errors import ClosedformError
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.abilities import ability
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.verdict import STATUSES
from closedform.reading.one_field import interpret_field
from closedform.reading.origin import Origin
from closedform.searching.budget import Budget
from closedform.searching.space import as_space
from closedform.units.legality import Legality


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
    start = [*(space.guesses if space is not None else ()), *_formulas(answer, searched)]
    found = interpret_field(
        searched,
        budget=budget,
        rng=answer.provenance.seed + 1,
        space=replace(as_space(space), guesses=tuple(start)),
        title=answer.provenance.title,
        command=answer.provenance.command,
        **known,
    )
    order = STATUSES.index
    kept = answer if order(answer.verdict.status) < order(found.verdict.status) else found
    both = answer.provenance, found.provenance
    told = replace(
        kept.provenance,
        seconds=sum(one.seconds for one in both),
        evaluations=sum(one.evaluations for one in both),
        seed=found.provenance.seed,
    )
    return replace(kept, provenance=told, origin=found.origin)


def _formulas(answer: Interpretation, field: GradientField) -> list[Expression]:
    """What was found, as far as the field's units allow it."""
    parts = answer.parts or (answer,)
    found = dict.fromkeys(entry.expression for part in parts for entry in part.front)
    if field.units is None:
        return list(found)
    legality = Legality(field.units, may_carry=not field.units.pure_numbers)
    return [one for one in found if legality.allows(one.tree, one.names)]
