"""Whether two formulas are one but for their constants, or one is a special case of the other."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from closedform.alignment.misalignment import point_misalignment, weighted_mean
from closedform.alignment.refit import refit
from closedform.alignment.tolerances import SAME
from closedform.arrays import FloatArray
from closedform.canonical.constants import free_constants
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import number_positions, with_numbers
from closedform.expressions.sums_and_products import signed_terms, sum_of
from closedform.expressions.tape import node_positions
from closedform.expressions.tree import Constant, Tree, Variable, apply, constant
from closedform.field.gradient_field import GradientField

NEAR_EXPONENT = 0.05
"""Share by which a network's error moves an exponent; wrong ones were off by 7% and more."""


def have_same_form(first: Expression, second: Expression, field: GradientField) -> bool:
    """Whether two formulas are one but for the values of constants, however they are written.

    They are if each, with its constants fitted to the other, is the other. One of them alone is not
    enough: x + 0.37*sin(3*y) can become x, and says something else.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    >>> field = cf.GradientField.from_arrays(points, points, names=["x", "v"])
    >>> first, second, third, nested = (
    ...     cf.parse(t, names=["x", "v"])
    ...     for t in ("x**2 + v/3", "3.01*x**2 + v", "x**3 + v/3", "x**2 + v/3 + 0.1*sin(3*v)")
    ... )
    >>> [have_same_form(first, other, field) for other in (second, third, nested)]
    [True, False, False]
    """
    if (
        _shape(first.tree) == _shape(second.tree)
        or mutual_misalignment(first, second, field) < SAME
    ):
        return True
    return contains(first, second, field) and contains(second, first, field)


def have_near_exponents(first: Expression, second: Expression) -> bool:
    """Whether two formulas differ in their numbers alone, and exponents by at most 5%: x**2.95 is
    x**3 with the network's error in it.

    Examples
    --------
    >>> import closedform as cf
    >>> first, near, far = (cf.parse(f"2*x**{power} + y") for power in ("3", "2.93", "2.5"))
    >>> have_near_exponents(first, near), have_near_exponents(first, far)
    (True, False)
    """
    tokens = first.tree.tokens, second.tree.tokens
    if len(tokens[0]) != len(tokens[1]):
        return False
    for place, (one, other) in enumerate(zip(*tokens, strict=True)):
        if not (isinstance(one, Constant) and isinstance(other, Constant)):
            if one != other:
                return False
            continue
        is_exponent = tokens[0][place + 1 : place + 2] == ("pow",)
        if is_exponent and abs(one.value - other.value) > NEAR_EXPONENT * abs(one.value):
            return False
    return True


def _shape(tree: Tree) -> object:
    """A tree with every constant part, 2*exp(1) too, as one hole; exponents stay."""
    hole = "a number"

    def node(name: str, *parts: object) -> object:
        if name == "pow":
            return (name, *parts)
        bare = [hole if isinstance(part, Fraction) else part for part in parts]
        return hole if all(part == hole for part in bare) else (name, *bare)

    return tree.fold(
        lambda token: (
            token.value
            if isinstance(token, Constant)
            else token
            if isinstance(token, Variable)
            else hole
        ),
        node,
    )


def contains(general: Expression, special: Expression, field: GradientField) -> bool:
    """Whether a formula, with its constants fitted or a term left out, becomes another."""
    target = field_of(special, field)
    places = free_positions(general.tree, general.names)
    if not (target.weights > 0).any():
        return False
    form = general.rename(field.names)
    # Where gradients vanish a fit may stick before what was added is gone.
    trees = [with_numbers(form.tree, [place], [0.0]) for place in places]
    terms = [apply("neg", term) if sign < 0 else term for sign, term in signed_terms(form.tree)]
    if len(terms) > 1:
        trees += [sum_of([*terms[:at], *terms[at + 1 :]]) for at in range(len(terms))]
    without = [Expression(tree, form.names) for tree in trees if not tree.is_constant]
    _, left = refit(
        [form, *without], target, iterations=60, positions=[places, *([()] * len(without))]
    )
    return bool(min(left) < SAME)


def with_all_constants(expression: Expression) -> tuple[Expression, tuple[int, ...]]:
    """A formula with a number before every term of its sum, and the positions of all numbers that
    fitting can move: that y stands for 1*y says nothing about the 1. One term without a number
    stays as it is, for a common factor says nothing either.

    Examples
    --------
    >>> import closedform as cf
    >>> written, places = with_all_constants(cf.parse("x - y + 2*z"))
    >>> print(written, len(places))
    x + (-1*y) + 2*z 2
    """
    terms = list(signed_terms(expression.tree))
    bare = [number for number, (_, term) in enumerate(terms) if not _has_number(term)]
    tree = expression.tree
    if len(bare) > 1:
        parts = [
            apply("mul", constant(sign), term)
            if number in bare[1:]
            else (apply("neg", term) if sign < 0 else term)
            for number, (sign, term) in enumerate(terms)
        ]
        tree = sum_of(parts)
    return Expression(tree, expression.names), free_positions(tree, expression.names)


def _has_number(term: Tree) -> bool:
    """Whether a term is a number, or is multiplied or divided by one other than 1."""
    numbers = [child.root for child in (term, *term.children) if isinstance(child.root, Constant)]
    return any(abs(number.value) != 1 for number in numbers)


def free_positions(tree: Tree, names: tuple[str, ...]) -> tuple[int, ...]:
    """Positions of all constants that a fit may move, plain ones too.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> free_positions(parse("x + 2*y**3").tree, ("x", "y"))
    (1,)
    """
    nodes = node_positions(tree)
    free = [each.position for each in free_constants(Expression(tree, names))]
    return tuple(place for place in number_positions(tree, free) if place in nodes)


def mutual_misalignment(first: Expression, second: Expression, field: GradientField) -> float:
    """Misalignment of two formulas' gradients to each other on the points of a field, inside the
    tangent space.

    Examples
    --------
    >>> import numpy as np, closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    >>> field = cf.GradientField.from_arrays(points, points, names=["x", "v"])
    >>> mutual_misalignment(
    ...     cf.parse("x*v", names=["x", "v"]), cf.parse("log(x) + log(v)", names=["x", "v"]), field
    ... ) < 1e-12
    True
    """
    return weighted_mean(points_apart(first, second, field), field.weights)


def points_apart(first: Expression, second: Expression, field: GradientField) -> FloatArray:
    """Misalignment of two formulas at each point; 1 where either has no gradient."""
    target = field_of(first, field)
    gradients = second.rename(field.names).gradient(field.points) * field.scale
    values = point_misalignment(gradients, target.frames, field.tangent.basis)
    return np.where((field.weights > 0) & (target.weights == 0), 1.0, values)


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
