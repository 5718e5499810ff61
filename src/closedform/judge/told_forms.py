"""Which forms an answer tells, and how they are written: after they are judged, and without a
change to what they say.

One form is told once. A search finds it in several spellings, x1**2/x2 and x1/x2**0.5025, and each
was judged by itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import copysign, isclose

import numpy as np

from closedform.canonical.form import canonical_form
from closedform.canonical.idle_functions import without_idle_functions
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import constant_values, fitted_positions, with_numbers
from closedform.expressions.tree import Tree, apply, constant, subtrees
from closedform.expressions.units.legality import carried_constants
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.refit import refit
from closedform.field.alignment.tolerances import SAME
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable
from closedform.judge.confidence import Judged
from closedform.judge.neighbours.formula_shape import NEAR_WHOLE, formula_shape
from closedform.judge.neighbours.same_form import N_COMPARED, REFIT_STEPS, field_of, free_positions
from closedform.judge.pool import LONGEST_TIDY
from closedform.judge.right_way_up import right_way_up
from closedform.judge.rules import Contender
from closedform.searching.products import (
    common_factors,
    constant_factor,
    factor_powers,
    product_of_powers,
)

MOST_TOLD = 10
"""Rivals that an answer keeps."""

AS_GIVEN = ("stated", "given", "hypothesis")
"""Sources of formulas that are the user's own words."""

NEARBY = 0.05
"""Misalignment from which two formulas are surely two forms, 13 degrees: numbers that move by a
twentieth do not turn a gradient as far."""


@dataclass(frozen=True, slots=True)
class Told:
    """A rival that is told."""

    place: int  # among the contenders
    weight: float  # its share of the confidence, with that of its other spellings
    is_alternative: bool  # whether it belongs to the forms that hold 95% of the known weight


def told_forms(
    contenders: Sequence[Contender],
    judged: Judged,
    field: GradientField,
    may_go_on: Callable[[], bool] = lambda: True,
) -> tuple[tuple[Contender, ...], list[Told]]:
    """Contenders as they are written, and those that are told as rivals, heaviest first.

    Parameters
    ----------
    contenders : sequence of Contender
        The answer first.
    judged : Judged
        Their weights.
    field : GradientField
        Points that judge.
    may_go_on : callable
        When it says no, only the forms that hold the known weight are told, as they were found.
    """
    written = [_upright(one, field) for one in contenders]
    written[0] = _plainest(contenders[0], field, keep_functions=True)
    listed = judged.listed()
    count = affordable(N_COMPARED, len(field.names))
    few = field.subset(np.flatnonzero(field.weights > 0)[:count])
    told: list[Told] = []
    forms = {judged.groups[0]}
    for place in (*listed, *np.argsort(-judged.weights, kind="stable").tolist()):
        if judged.groups[place] in forms or len(told) >= MOST_TOLD:
            continue
        is_hurried = not may_go_on()
        if is_hurried and place not in listed:
            break
        forms.add(judged.groups[place])
        one = (
            _upright(contenders[place], field)
            if is_hurried
            else _plainest(contenders[place], field)
        )
        weight = float((1 - judged.unknown) * judged.weights[place])
        if is_same_form(one.expression, written[0].expression, few):
            continue
        twin = next(
            (
                number
                for number, known in enumerate(told)
                if is_same_form(one.expression, written[known.place].expression, few)
            ),
            None,
        )
        if twin is not None:
            told[twin] = replace(told[twin], weight=told[twin].weight + weight)
            continue
        written[place] = one
        told.append(Told(place, weight, place in listed))
    return tuple(written), told


def is_same_form(first: Expression, second: Expression, field: GradientField) -> bool:
    """Whether two formulas are one form: without their numbers, or once the numbers of one of them
    move a little.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (100, 2))
    >>> field = cf.GradientField.from_arrays(points, points, names=["x", "y"])
    >>> one, two, three = (
    ...     cf.parse(text, names=["x", "y"]) for text in ("x**2/y", "x/y**0.5025", "x/y**0.6")
    ... )
    >>> is_same_form(one, two, field), is_same_form(one, three, field)
    (True, False)
    """
    if formula_shape(first.tree) == formula_shape(second.tree):
        return True
    return _becomes(first, second, field) or _becomes(second, first, field)


def _becomes(formula: Expression, other: Expression, field: GradientField) -> bool:
    """Whether a formula is another once its numbers move by no more than a network's error moves
    them.
    """
    own, target = formula.rename(field.names), field_of(other, field)
    if not (target.weights > 0).any():
        return False
    apart = np.average(field_misalignment(own, target), weights=target.weights)
    if not apart < NEARBY:
        return False
    places = free_positions(own.tree, own.names)
    (moved,), left = refit([own], target, iterations=REFIT_STEPS, positions=[places])
    before, after = (np.array(constant_values(one.tree, places)) for one in (own, moved))
    return bool(left[0] < SAME) and bool(
        (np.abs(after - before) <= NEAR_WHOLE * np.abs(before)).all()
    )


def _factored(tree: Tree) -> Tree:
    """The tree with what all terms of a bracket share taken out of it: x*z**2*(x + 1) for
    x*z*(x*z + z), which has fewer nodes and is harder to read.
    """

    def node(name: str, *operands: Tree) -> Tree:
        whole = apply(name, *operands)
        if name not in ("mul", "div"):
            return whole
        powers: dict[Tree, Fraction] = {}
        for base, exponent in factor_powers(whole):
            is_bracket = base.root in ("add", "sub") and exponent.denominator == 1
            for part, inner in common_factors(base) if is_bracket else [(base, Fraction(1))]:
                powers[part] = powers.get(part, Fraction(0)) + inner * exponent
        if all(part in subtrees(whole) for part in powers):
            return whole
        number = constant_factor(whole)
        product = product_of_powers(list(powers.items()))
        return product if number == 1 else apply("mul", constant(number), product)

    return tree.fold(lambda token: Tree((token,)), node)


def _upright(one: Contender, field: GradientField) -> Contender:
    """A contender the right way up, unless it is as the user gave it."""
    if one.engine in AS_GIVEN:
        return one
    return _rewritten(one, right_way_up(one.expression, field))


def _plainest(one: Contender, field: GradientField, *, keep_functions: bool = False) -> Contender:
    """A contender in its canonical form, without functions that do nothing on the data."""
    formula = one.expression
    if one.engine in AS_GIVEN or formula.tree.size > LONGEST_TIDY:
        return _upright(one, field)
    points = field.points[field.weights > 0]
    own = formula.rename(field.names)
    plain = canonical_form(own if keep_functions else without_idle_functions(own, points), points)
    if not keep_functions:
        plain = Expression(_factored(plain.tree), plain.names)
    if field.units is not None and carried_constants(plain.tree, field.units, plain.names) is None:
        plain = own
    return _rewritten(one, right_way_up(plain, field))


def _rewritten(one: Contender, formula: Expression) -> Contender:
    """The contender with another spelling of its formula. A number keeps its digits and its error,
    unless another scale has changed it: then errors are not known.
    """
    trees = one.expression.tree, formula.tree
    places = [fitted_positions(tree) for tree in trees]
    old, new = (constant_values(tree, at) for tree, at in zip(trees, places, strict=True))
    # Canonical forms round the last digit.
    origin = [
        next((at for at, known in enumerate(old) if _is_equal(value, known)), None) for value in new
    ]
    kept = [
        value if at is None else copysign(old[at], value)
        for value, at in zip(new, origin, strict=True)
    ]
    tree = with_numbers(formula.tree, places[1], kept)
    if tree == one.expression.tree:
        return one
    errors = tuple(one.errors[at] for at in origin if at is not None and at < len(one.errors))
    return replace(
        one,
        expression=Expression(tree, formula.names),
        errors=errors if len(errors) == len(new) else (),
        complexity=min(one.complexity, formula.complexity()),
    )


def _is_equal(first: float, second: float) -> bool:
    """Whether numbers are the same but for rounding and sign."""
    return isclose(abs(first), abs(second), rel_tol=SAME)
