"""Rounds: a reading with a long budget is a short one first, and goes on only where that does not
settle it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.verdict import STATUSES
from closedform.searching.budget import Budget
from closedform.units.legality import Legality

FIRST_ROUND = 10.0
"""Seconds of the first round: the budget at which the reliability of `verified` is measured
(docs/verdict.md).
"""


def read_in_rounds(
    field: GradientField,
    limits: Budget,
    read: Callable[[Budget, Sequence[Expression]], Interpretation],
) -> Interpretation:
    """Read for `FIRST_ROUND` seconds, and for the rest of the budget if nothing is verified then.

    Parameters
    ----------
    field : GradientField
        What is read.
    limits : Budget
        Of all rounds; one of less than two rounds, or of evaluations alone, is used at once.
    read : callable
        From a budget and formulas to start from to an answer.
    """
    if limits.seconds is None or limits.seconds < 2 * FIRST_ROUND:
        return read(limits, ())
    clock = limits.start()
    first = read(replace(limits, seconds=FIRST_ROUND), ())
    if first.verdict.status == "verified" or first.provenance.status == "interrupted":
        return first
    clock.evaluations = first.provenance.evaluations
    return better_of(first, read(clock.remaining(), formulas_of(first, field)))


def better_of(first: Interpretation, second: Interpretation) -> Interpretation:
    """The second answer, or the first where that has the better verdict; seconds and evaluations
    count both.
    """
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
