"""Which inputs enter through which combination, told of the answer."""

from dataclasses import replace

from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.judge.neighbours.same_form import contains
from closedform.searching.decomposition import Decomposition


def structure_of(
    concept: Expression, found: Decomposition | None, field: GradientField
) -> Decomposition | None:
    """What the search saw of the field's structure, without a whole formula that is not the answer.

    The search by structure goes on until one formula is left. If another was chosen, the
    combinations that this one was made of are still those of the field; the formula is a rival.
    None if nothing but single inputs remains.
    """
    if found is None or len(found.combinations) != 1:
        return found
    (whole,) = found.combinations
    # With other numbers it may be the answer, whose own are plain or fitted to more points.
    if contains(parse(whole.formula, names=list(field.names)), concept.rename(field.names), field):
        return found
    if not any(part.parts for part in whole.parts):
        return None
    return replace(found, combinations=whole.parts)
