"""Whether a formula is the same as a concept that was read: on the data, and with constants that
may differ by their standard errors. A network's 0.0598 is the 0.06 of a textbook.
And what the field says about every constant: a 2 written for 2.01 has an error as 2.01 has.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import as_points
from closedform.canonical.constants import with_coefficients
from closedform.canonical.tolerances import COMPATIBLE
from closedform.errors import ConceptError, DomainError
from closedform.expressions.complexity import constant_values, fitted_positions
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Constant
from closedform.field.alignment.refit import refit
from closedform.field.alignment.tolerances import SAME
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable
from closedform.interpretation.abilities import ability
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.evidence import ConstantEstimate
from closedform.judge.evidence import weighing
from closedform.judge.fitting import Fitter
from closedform.judge.neighbours.same_form import REFIT_STEPS, field_of, free_positions, growth
from closedform.judge.regions import divide
from closedform.judge.stated_formula import as_formula
from closedform.judge.witnesses import Witnesses, typical
from closedform.searching.search_stage import MOST_HELD_OUT

if TYPE_CHECKING:
    from closedform.canonical.same_concept import Equivalence


def compare_within_errors(
    concept: Expression,
    formula: Expression,
    field: GradientField,
    *,
    fitted: GradientField | None = None,
    constants: Sequence[ConstantEstimate] = (),
) -> "Equivalence":
    """Compare a concept with a formula on the points of a field, whose directions do not matter.

    fitted: what the concept's constants are estimated on, those that are not written (the 1 of x +
        y) too.
    constants: estimates of the concept's constants, where there is no such field.
    """
    from closedform.canonical.same_concept import Equivalence, same_concept  # brings SymPy

    began = time.perf_counter()
    own, other = concept.rename(field.names), formula.rename(field.names)
    exact = same_concept(own, other, list(field.names), points=field.points[field.weights > 0])
    form = own if fitted is None else with_coefficients(own)
    places = number_places(form)
    if exact or not places:
        return exact
    target = field_of(other, field)
    (moved,), left = refit([form], target, iterations=REFIT_STEPS, positions=[places])
    if not (left[0] < SAME and _is_one_way(moved, target)):
        return exact
    # A fixed division into regions, so that the same question has the same answer.
    rng = np.random.default_rng(0)
    known = constants if fitted is None else estimate_constants(form, fitted, rng)
    if len(known) != len(places):
        return exact
    numbers = constant_values(moved.tree, places)
    away = [_errors_away(value, one) for value, one in zip(numbers, known, strict=True)]
    furthest = int(np.argmax(away))
    value, one = numbers[furthest], known[furthest]
    said = (
        f"{value:.4g} is {away[furthest]:.2g} standard errors from {one.fitted:.4g} +- "
        f"{one.error:.2g}"
    )
    is_near = away[furthest] <= COMPATIBLE
    reason = (
        f"The form is the same, and constants are within their errors ({said})."
        if is_near
        else f"The form is the same, but a constant is not: {said}; up to {COMPATIBLE:g} count as "
        f"the same."
    )
    return Equivalence(
        "within errors" if is_near else "different",
        dependent=is_near,
        misalignment=exact.misalignment,
        reason=reason,
        witness=None if is_near else exact.witness,
        seconds=time.perf_counter() - began,
    )


def _errors_away(value: float, one: ConstantEstimate) -> float:
    """How far a number is from an estimate, in its standard errors; rounding is no distance."""
    nearest = min(abs(value - one.fitted), abs(value - one.value))
    if nearest <= SAME * abs(value):
        return 0.0
    return abs(value - one.fitted) / one.error if one.error > 0 else np.inf


def _is_one_way(formula: Expression, target: GradientField) -> bool:
    """Whether a formula whose gradients are parallel to those of a field always grows with it, or
    always falls.
    """
    along = growth(formula, target.subset(np.flatnonzero(target.weights > 0)))
    return bool((along > 0).all() or (along < 0).all())


@ability("same_as")
def same_as(
    answer: Interpretation, formula: str | Expression, *, points: Any = None
) -> "Equivalence":
    """See `Interpretation.same_as`."""
    if not answer.formulas:
        raise ConceptError("The search found no formula, so that there is nothing to compare.")
    # An answer that was read here holds its field; a loaded one does not.
    held: GradientField | None = getattr(answer.origin, "field", None)
    if points is not None:
        array = as_points(points, len(answer.names))
        where = GradientField.from_arrays(
            array, np.ones_like(array), names=answer.names, tangent="none"
        )
    elif held is not None:
        rows = np.flatnonzero(held.weights > 0)[: affordable(MOST_HELD_OUT, len(answer.names))]
        where = held.subset(rows)
    else:
        raise DomainError(
            "The answer does not hold its data, since it was loaded or is part of another; pass "
            "some: answer.same_as(formula, points=inputs)."
        )
    other = as_formula(formula, where)
    fitted = held if held is not None and held.rank == 1 and len(answer.formulas) == 1 else None
    found = [
        compare_within_errors(
            concept, other, where, fitted=fitted, constants=_constants_of(answer, concept)
        )
        for concept in answer.formulas
    ]
    return next(filter(None, found), min(found, key=lambda one: one.misalignment))


def _constants_of(answer: Interpretation, concept: Expression) -> Sequence[ConstantEstimate]:
    """The estimates of a concept, its own or those of the part that it is."""
    return next(
        (
            each.constants
            for each in (answer, *answer.parts)
            if each.concept == concept and each.constants
        ),
        (),
    )


BIAS = 1.5
"""How many times larger errors of constants are than the jackknife says: regions share some of a
network's bias, and what all share does not scatter."""


def number_places(formula: Expression) -> list[int]:
    """Where the numbers of a formula stand that a fit may move; pi and log(2) are constants too,
    but none of these.
    """
    return [
        place
        for place in free_positions(formula.tree, formula.names)
        if isinstance(formula.tree.tokens[place], Constant)
    ]


def estimate_constants(
    concept: Expression, field: GradientField, rng: np.random.Generator
) -> tuple[ConstantEstimate, ...]:
    """All constants that a fit may move, fitted at once on both witnesses, with the jackknife over
    regions, into which the generator divides the points.
    """
    own = concept.rename(field.names)
    numbers = number_places(own)
    labels, witnesses = divide(field, rng), Witnesses.of(field)
    if not numbers or labels.max() < 1:
        return ()
    scales = typical(witnesses.hear(own.tree))
    counts = weighing(has_values=witnesses.has_values).most
    found = Fitter(witnesses, labels, scales, counts).fit(own, numbers)
    is_fitted = set(fitted_positions(own.tree))
    return tuple(
        ConstantEstimate(value, best, BIAS * error, position not in is_fitted)
        for position, value, best, error in zip(
            found.positions,
            constant_values(own.tree, found.positions),
            constant_values(found.expression.tree, found.positions),
            found.errors,
            strict=True,
        )
    )
