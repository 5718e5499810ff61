"""Orientation: of the formulas that a field's unsigned directions cannot tell apart, the one that
rises and falls with the latent.

Misalignment ignores signs, so g, g**2 and 1/g fit alike. Where g changes its sign inside the data
they are not maps of each other, and only one of them is the concept.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import evaluate
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import signed_terms
from closedform.expressions.tree import Constant, Tree, apply, constant
from closedform.field.gradient_field import GradientField
from closedform.searching.products import (
    collected_powers,
    constant_factor,
    factor_powers,
    inverse,
    product_of_powers,
)
from closedform.searching.tolerances import DEFINED, FEWER_REVERSED, NEAREST_TO_ZERO, REVERSED


def oriented(expression: Expression, field: GradientField) -> Expression:
    """The formula, or its square, its root or its inverse, if only that one rises with the latent.

    Parameters
    ----------
    expression : Expression
    field : GradientField
        Of one latent; a field of several has no signs, and the formula is returned as it is.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 2)) + [0, 2]
    >>> truth = cf.parse("x*sqrt(y)", names=["x", "y"])
    >>> field = cf.GradientField.from_arrays(points, truth.gradient(points), names=["x", "y"])
    >>> print(oriented(cf.parse("x**2*y", names=["x", "y"]), field))
    x*sqrt(y)
    """
    if field.rank > 1:
        return expression
    usable = field.weights > 0
    points = field.points[usable]
    if field.tangent.kind == "none":
        share = _reversed_share(expression, field)
        if share > REVERSED:
            variants = [
                Expression(tree, expression.names) for tree in _other_powers(expression.tree)
            ]
            shares = [_reversed_share(variant, field) for variant in variants]
            best = int(np.argmin(shares))
            if shares[best] < FEWER_REVERSED * share:
                expression = variants[best]
    if has_pole(expression.tree, points, field.scale):
        return Expression(inverse(expression.tree), expression.names)
    return expression


def has_pole(tree: Tree, points: FloatArray, scale: FloatArray) -> bool:
    """Whether a formula changes its sign inside the data through a pole, not through zero.

    Near a zero and near a pole alike, a value is small against its slope. Near a zero it is also
    small against the other values, and near a pole it is large.
    """
    with np.errstate(all="ignore"):
        values = evaluate(tree, points)
        if not np.isfinite(values).all() or (values > 0).all() or (values < 0).all():
            return False
        names = tuple(f"x{column}" for column in range(points.shape[1]))
        slopes = Expression(tree, names).gradient(points) * scale
        distances = np.abs(values) / np.linalg.norm(slopes, axis=1)
    nearest = np.argsort(distances)[: max(int(NEAREST_TO_ZERO * len(values)), 3)]
    return bool(np.median(np.abs(values[nearest])) > np.median(np.abs(values)))


def _other_powers(tree: Tree) -> list[Tree]:
    """The square, the square root and its root; the roots of a product are those of its factors."""
    factors = list(factor_powers(tree))
    if tree.root in ("add", "sub"):
        factors = list(common_factors(tree))
    factors = [_with_half_angle(base, exponent) for base, exponent in factors]
    return [
        product_of_powers([(base, exponent * power) for base, exponent in factors])
        for power in (Fraction(2), Fraction(1, 2), Fraction(1, 4))
    ]


def _with_half_angle(base: Tree, exponent: Fraction) -> tuple[Tree, Fraction]:
    """A factor 1 + cos(u) or 1 - cos(u) as the square of a wave of u/2, which changes its sign."""
    waves = [part for part in base.children if part.root == "cos"]
    numbers = [part.root.value for part in base.children if isinstance(part.root, Constant)]
    if base.root not in ("add", "sub") or len(waves) != 1 or len(numbers) != 1:
        return base, exponent
    sign = -1 if base.root == "sub" else 1
    if abs(numbers[0]) != 1:
        return base, exponent
    wave = "cos" if sign * numbers[0] > 0 else "sin"
    half = apply("mul", constant(Fraction(1, 2)), waves[0].children[0])
    return apply(wave, half), 2 * exponent


def common_factors(tree: Tree) -> Iterator[tuple[Tree, Fraction]]:
    """A sum as a product: what all summands have in common, and the sum of what is left."""
    summands = list(signed_terms(tree))
    powers = [collected_powers(summand) for _, summand in summands]
    common = {
        base: min((each.get(base, Fraction(0)) for each in powers), key=abs)
        for base in powers[0]
        if all(each.get(base, 0) * powers[0][base] > 0 for each in powers)
    }
    if not common:
        yield tree, Fraction(1)
        return
    yield from common.items()
    total: Tree | None = None
    for (sign, summand), each in zip(summands, powers, strict=True):
        left = product_of_powers(
            [(base, power - common.get(base, 0)) for base, power in each.items()]
        )
        number = constant_factor(summand)
        if number != 1:
            is_one = left == constant(1)
            left = constant(number) if is_one else apply("mul", constant(number), left)
        if total is None:
            total = left if sign > 0 else apply("neg", left)
        else:
            total = apply("add" if sign > 0 else "sub", total, left)
    assert total is not None
    yield total, Fraction(1)


def _reversed_share(expression: Expression, field: GradientField) -> float:
    """Share of the field, counted by squared cosines, where the formula falls with the latent while
    it rises elsewhere.
    """
    usable = field.weights > 0
    with np.errstate(all="ignore"):
        slopes = expression.gradient(field.points[usable]) * field.scale
        slopes /= np.linalg.norm(slopes, axis=1, keepdims=True)
        cosines = (slopes * field.frames[usable, :, 0]).sum(axis=1)
    is_known = np.isfinite(cosines)
    if not is_known.mean() > DEFINED:
        return 0.5
    cosines = np.where(is_known, cosines, 0.0)
    squares = np.sign(cosines) * cosines**2 * field.weights[usable]
    total = np.abs(squares).sum()
    return float((1 - abs(squares.sum()) / total) / 2) if total > 0 else 0.5
