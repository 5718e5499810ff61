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
from closedform.canonical.peel import Sample
from closedform.canonical.proposals import without_idle_functions
from closedform.expressions.complexity import constant_values, fitted_positions, with_numbers
from closedform.expressions.expression import Expression
from closedform.expressions.legality import carried_constants
from closedform.expressions.sums_and_products import signed_terms, sum_of
from closedform.expressions.tree import Constant, Tree, apply, constant, subtrees
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.misalignment import weighted_mean
from closedform.field.alignment.tolerances import SAME
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable
from closedform.judge.confidence import Judged
from closedform.judge.neighbours.same_form import (
    N_COMPARED,
    NEAR_WHOLE,
    field_of,
    formula_shape,
    free_positions,
    growth,
    moved_onto,
)
from closedform.judge.pool import LONGEST_TIDY
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
    """Contenders, the answer first, as they are written, and those that are told as rivals,
    heaviest first.

    may_go_on: when it says no, only the forms that hold the known weight are told, as they were
        found.
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
        one = (_upright if is_hurried else _plainest)(contenders[place], field)
        weight = float((1 - judged.unknown) * judged.weights[place])
        said = [written[at].expression for at in (0, *(each.place for each in told))]
        alike = (n for n, known in enumerate(said) if is_same_form(one.expression, known, few))
        twin = next(alike, None)
        # The first is the answer.
        if twin is None:
            written[place] = one
            told.append(Told(place, weight, place in listed))
        elif twin:
            told[twin - 1] = replace(told[twin - 1], weight=told[twin - 1].weight + weight)
    return tuple(written), told


def is_same_form(first: Expression, second: Expression, field: GradientField) -> bool:
    """Whether two formulas are one form: without their numbers, or once the numbers of one of them
    move a little.
    """
    if formula_shape(first.tree) == formula_shape(second.tree):
        return True
    return _becomes(first, second, field) or _becomes(second, first, field)


def _becomes(formula: Expression, other: Expression, field: GradientField) -> bool:
    """Whether a formula is another once its numbers move by no more than a network's error moves
    them.
    """
    own, target = formula.rename(field.names), field_of(other, field)
    if not weighted_mean(field_misalignment(own, target), target.weights) < NEARBY:
        return False
    places = free_positions(own.tree, own.names)
    moved = moved_onto(own, target, places)
    if moved is None:
        return False
    before, after = (np.array(constant_values(one.tree, places)) for one in (own, moved))
    return bool((np.abs(after - before) <= NEAR_WHOLE * np.abs(before)).all())


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
    close = [[isclose(abs(value), abs(number), rel_tol=SAME) for number in old] for value in new]
    origin = [row.index(True) if any(row) else None for row in close]
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


def right_way_up(formula: Expression, field: GradientField) -> Expression:
    """A sum led by a positive term, and of a quotient and its reciprocal the one that grows with
    the latent, where signs are known.

    An energy is not written -x**2 - v**2, and a rate not as its inverse. Which way a sum grows does
    not matter: the Boltzmann weight of an energy falls with it.
    """
    own = formula.rename(field.names)
    tree = _positive_first(own.tree)
    if tree.root == "div" and not tree.children[0].is_constant and _falls(own, field):
        # Without the number that each begins with: a concept has no scale.
        above, below = (
            part.children[1]
            if part.root == "mul" and isinstance(part.children[0].root, Constant)
            else part
            for part in tree.children
        )
        turned = apply("div", below, above)
        # Where it changes its sign, the inverse is another concept.
        if Sample(own.tree, field.points[field.weights > 0]).is_same(turned):
            tree = turned
    return formula if tree == own.tree else Expression(tree, field.names).rename(formula.names)


def _positive_first(tree: Tree) -> Tree:
    """The same concept with a positive term first: all signs turned if none is positive, else the
    positive terms before the others.
    """
    terms = [_split(sign, term) for sign, term in signed_terms(tree)]
    if terms[0][0] > 0:
        return tree
    if all(sign < 0 for sign, _ in terms):
        return sum_of([term for _, term in terms])
    ordered = sorted(terms, key=lambda pair: pair[0] < 0)
    return sum_of([term if sign > 0 else apply("neg", term) for sign, term in ordered])


def _split(sign: int, term: Tree) -> tuple[int, Tree]:
    """A product with the signs of its factors taken out."""
    if isinstance(term.root, Constant) and term.root.value < 0:
        return -sign, constant(-term.root.value)
    if term.root == "neg":
        return _split(-sign, term.children[0])
    if term.root in ("mul", "div"):
        (first, left), (second, right) = (_split(1, part) for part in term.children)
        return sign * first * second, apply(str(term.root), left, right)
    return sign, term


def _falls(formula: Expression, field: GradientField) -> bool:
    """Whether a formula falls where the latent grows; not where signs are not known."""
    if not field.is_signed or field.rank > 1:
        return False
    with np.errstate(all="ignore"):
        signs = field.weights * np.sign(growth(formula, field))
    return bool(np.nan_to_num(signs).sum() < 0)
