"""A formula that the user states: whether the field can say anything about it, and whether it is a
concept that was read. Constants may differ by their standard errors: 0.0598 is a textbook's 0.06.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import as_points
from closedform.canonical.constants import with_coefficients
from closedform.canonical.tolerances import COMPATIBLE
from closedform.errors import ConceptError, DomainError, ExpressionError
from closedform.expressions.complexity import constant_values
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.alignment.tolerances import SAME
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable
from closedform.interpretation.answer import Interpretation, ability
from closedform.interpretation.evidence import ConstantEstimate
from closedform.judge.fitting import estimate_constants, number_places
from closedform.judge.neighbours.same_form import field_of, growth, moved_onto
from closedform.searching.search_stage import MOST_HELD_OUT, require_possible

if TYPE_CHECKING:
    from closedform.canonical.same_concept import Equivalence


def as_formula(
    formula: str | Expression, field: GradientField, what: str = "formula"
) -> Expression:
    """Read a formula over the field's inputs, and see whether the field can say anything about it.

    what: what it is to the user, for messages; a hypothesis must be possible in the inputs' units.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    >>> field = GradientField.from_arrays(points, points, names=["x", "v"])
    >>> print(as_formula("x**2 + v**2", field))
    x**2 + v**2
    >>> as_formula("x/0", field)
    Traceback (most recent call last):
    closedform.errors.ExpressionError: The formula x/0 is not finite at any of the 20 usable points.
    Check the formula and the range of the inputs.
    """
    if not isinstance(formula, str | Expression):
        raise ExpressionError(
            f"The {what} is a {type(formula).__name__}; pass text or an Expression."
        )
    names = list(field.names)
    read = parse(formula, names=names) if isinstance(formula, str) else formula.rename(names)
    if what == "hypothesis":
        require_possible(read, field, what)
    points = field.points[field.weights > 0]
    if not len(points):
        return read
    with np.errstate(all="ignore"):
        gradients = read.gradient(points)
        finite = np.isfinite(read(points)) & np.isfinite(gradients).all(axis=1)
    if not finite.any():
        raise ExpressionError(
            f"The {what} {formula} is not finite at any of the {len(points)} usable points. "
            "Check the formula and the range of the inputs."
        )
    if not gradients[finite].any():
        raise ExpressionError(
            f"The {what} {formula} does not vary at any of the points. State a formula that does."
        )
    return read


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
    from closedform.canonical.same_concept import Equivalence, same_concept

    began = time.perf_counter()
    own, other = concept.rename(field.names), formula.rename(field.names)
    exact = same_concept(own, other, list(field.names), points=field.points[field.weights > 0])
    form = own if fitted is None else with_coefficients(own)
    places = number_places(form)
    if exact or not places:
        return exact
    target = field_of(other, field)
    moved = moved_onto(form, target, places)
    if moved is None or not _is_one_way(moved, target):
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
    own = (each.constants for each in (answer, *answer.parts) if each.concept == concept)
    return next(filter(None, own), ())
