"""Whether two formulas are one but for their constants, or one is a special case of the other."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.constants import free_constants
from closedform.expressions.complexity import number_positions, with_numbers
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import signed_terms, sum_of
from closedform.expressions.tree import Tree, apply
from closedform.field.alignment.refit import refit
from closedform.field.alignment.tolerances import SAME
from closedform.field.gradient_field import GradientField
from closedform.searching.products import factor_powers

NEAR_WHOLE = 0.05
"""Share by which a network's error moves an exponent; wrong ones were off by 7% and more."""


def formula_shape(tree: Tree) -> object:
    """What a formula is without its numbers; whole exponents belong to it, and those that are a
    network's error away from one.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> formula_shape(parse("3*x + sqrt(y)").tree) == formula_shape(parse("x + 0.2*y**0.43").tree)
    True
    >>> formula_shape(parse("x**2 + y").tree) == formula_shape(parse("x + y").tree)
    False
    >>> formula_shape(parse("x**2.93 + y").tree) == formula_shape(parse("x**3 + y").tree)
    True
    """
    summands = [part for _, part in signed_terms(tree) if not part.is_constant]
    return frozenset(Counter(_product_shape(part) for part in summands).items())


def _product_shape(tree: Tree) -> object:
    return frozenset(
        (
            base.root if base.size == 1 else (base.root, *map(formula_shape, base.children)),
            _whole(exponent),
        )
        for base, exponent in factor_powers(tree)
    )


def _whole(exponent: Fraction) -> int | None:
    near = round(exponent)
    return near if abs(exponent - near) <= NEAR_WHOLE * abs(near) else None


N_COMPARED, REFIT_STEPS = 200, 60
"""Points at which formulas are compared with each other, and steps of the fit that makes one of the
other: where it can, it has by then."""


def contains(general: Expression, special: Expression, field: GradientField) -> bool:
    """Whether a formula, with its constants fitted or a term left out, becomes another."""
    target = field_of(special, field)
    form = general.rename(field.names)
    places = free_positions(form.tree, form.names)
    # Where gradients vanish a fit may stick before what was added is gone.
    trees = [with_numbers(form.tree, [place], [0.0]) for place in places]
    terms = [apply("neg", term) if sign < 0 else term for sign, term in signed_terms(form.tree)]
    if len(terms) > 1:
        trees += [sum_of([*terms[:at], *terms[at + 1 :]]) for at in range(len(terms))]
    without = [Expression(tree, form.names) for tree in trees if not tree.is_constant]
    return moved_onto(form, target, places) is not None or any(
        moved_onto(each, target, ()) is not None for each in without
    )


def moved_onto(
    formula: Expression, target: GradientField, places: Sequence[int]
) -> Expression | None:
    """The formula with the numbers at some places moved to where it points as a field of another
    formula does; None if it cannot.
    """
    if not (target.weights > 0).any():
        return None
    (moved,), (left,) = refit([formula], target, iterations=REFIT_STEPS, positions=[places])
    return moved if left < SAME else None


def free_positions(tree: Tree, names: tuple[str, ...]) -> tuple[int, ...]:
    """Positions of all constants that a fit may move, plain ones too: the 2 of x + 2*y**3."""
    free = [each.position for each in free_constants(Expression(tree, names))]
    return tuple(number_positions(tree, free))


def field_of(expression: Expression, field: GradientField) -> GradientField:
    """The directions of a formula at the points of a field; weight 0 where it has none."""
    gradients = expression.rename(field.names).gradient(field.points)
    with np.errstate(all="ignore"):
        reference = field.project(gradients)
        lengths = np.linalg.norm(reference, axis=1)
        # Shorter ones lose digits when they are squared, and are no unit vectors afterwards.
        usable = np.isfinite(lengths) & (lengths > np.sqrt(np.finfo(float).tiny))
        frames = np.where(
            usable[:, None], reference / np.where(usable, lengths, 1.0)[:, None], 0.0
        )[:, :, None]
    weights = np.where(usable, field.weights, 0.0)
    return replace(field, frames=frames, directions=field.directions[:, :, :1], weights=weights)


def group_by_form(formulas: Sequence[Expression], field: GradientField) -> list[int]:
    """Number formulas by form: those that differ in their constants or their spelling alone get one
    number.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    >>> field = cf.GradientField.from_arrays(points, points, names=["x", "y"])
    >>> texts = ("x*y**2", "x**2 + y", "log(x) + 2*log(y)", "x**2 + 1.1*y", "x**2.02 + y")
    >>> group_by_form([cf.parse(text, names=["x", "y"]) for text in texts], field)
    [0, 1, 0, 1, 1]
    """
    few = field.subset(np.flatnonzero(field.weights > 0)[:N_COMPARED])
    units = [unit_gradients(formula, few) for formula in formulas]
    shapes = [formula_shape(formula.tree) for formula in formulas]
    groups: list[int] = []
    for place, shape in enumerate(shapes):
        same = (
            groups[earlier]
            for earlier in range(place)
            if _are_parallel(units[place], units[earlier]) or shape == shapes[earlier]
        )
        groups.append(next(same, max(groups, default=-1) + 1))
    return groups


def _are_parallel(first: FloatArray, second: FloatArray) -> bool:
    apart = 1 - np.einsum("nd,nd->n", first, second) ** 2
    # Without a gradient in both, as of x**2 and x**4 at 0, which whole numbers reach, they do not
    # differ.
    apart[np.isnan(first).any(axis=1) & np.isnan(second).any(axis=1)] = 0.0
    return float(np.nan_to_num(apart, nan=1.0).mean()) < SAME


def growth(formula: Expression, field: GradientField) -> FloatArray:
    """How fast a formula grows along the first of the field's directions, at each point."""
    with np.errstate(all="ignore"):
        slopes = field.project(formula.gradient(field.points))
        return np.einsum("nd,nd->n", field.frames[:, :, 0], slopes)


def unit_gradients(formula: Expression, field: GradientField) -> FloatArray:
    """Unit gradients of a formula in the field's tangent space; not finite where it has none."""
    with np.errstate(all="ignore"):
        gradients = field.project(formula.rename(field.names).gradient(field.points))
        return gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
