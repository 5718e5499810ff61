"""Sums with some of their terms left out, for the caller to judge: terms that hardly matter, and
terms that other concepts make needless. And formulas without functions that
do nothing on the data: the sine of something tiny is that thing itself.
"""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, as_points
from closedform.canonical.algebra import Algebra
from closedform.canonical.form import formula_of_terms, in_name_order, scaled, sum_of_terms
from closedform.canonical.product_sums import ProductSum, of_factors
from closedform.canonical.sum_spelling import spell
from closedform.canonical.tolerances import IDLE, MOST_DIVIDED
from closedform.expressions.evaluate import evaluate, gradient
from closedform.expressions.expression import Expression
from closedform.expressions.operators import OPERATORS
from closedform.expressions.tree import Tree, apply


def without_small_terms(expression: Expression, points: ArrayLike) -> list[Expression]:
    """The formula without one of the terms of its outermost sum, the term of least slope first.

    If it is a product, a term is left out of one of its brackets.

    Scaled like canonical forms. Nothing is judged: that is the caller's.
    """
    array = as_points(points, len(expression.names))
    total, algebra = sum_of_terms(expression), Algebra()
    if total is None:
        return []
    _, columns = in_name_order(expression)
    found: dict[Expression, float] = {}
    for share, variant in _variants(scaled(total, algebra), algebra, array[:, columns]):
        form = formula_of_terms(variant, expression)
        if form is not None:
            found.setdefault(form, share)
    return sorted(found, key=lambda form: found[form])


def _variants(
    total: ProductSum, algebra: Algebra, points: FloatArray
) -> list[tuple[float, ProductSum]]:
    if len(total.parts) > 1:
        shares = slope_shares(total, points)
        return [(share, _without(total, place)) for place, share in enumerate(shares)]
    found: list[tuple[float, ProductSum]] = []
    for factors, _ in total.parts:
        for place, (atom, power) in enumerate(factors):
            if atom.is_group and atom.inside is not None and len(atom.inside.parts) > 1:
                rest = of_factors(factors[:place] + factors[place + 1 :])
                for left_out, share in enumerate(slope_shares(atom.inside, points)):
                    try:
                        shorter = algebra.power(_without(atom.inside, left_out), power)
                    except ArithmeticError:  # without the term it is the root of a negative number
                        continue
                    found.append((share, algebra.multiply(rest, shorter)))
    return found


def _without(total: ProductSum, place: int) -> ProductSum:
    return ProductSum(total.parts[:place] + total.parts[place + 1 :])


def slope_shares(total: ProductSum, points: FloatArray) -> list[float]:
    """The mean share of each term in the sizes of all gradients; a number is never small."""
    scale = points.std(axis=0) if len(points) else np.ones(points.shape[1])
    terms = [spell(ProductSum((part,))) for part in total.parts]
    with np.errstate(all="ignore"):
        sizes = np.stack([np.linalg.norm(gradient(t, points) * scale, axis=1) for t in terms])
        shares = sizes / sizes.sum(axis=0)
    return [
        float(np.mean(row[np.isfinite(row)])) if np.isfinite(row).any() else 1.0 for row in shares
    ]


def partial_sums(expression: Expression) -> list[Expression]:
    """The formula with some of the terms of its expanded outermost sum, shortest first, without
    itself.

    Scaled like canonical forms.

    Examples
    --------
    >>> import closedform as cf
    >>> [str(part) for part in partial_sums(cf.parse("a*b + 2*(a + c)"))]
    ['a', 'a*b', 'c', 'a*(b + 2)', 'a + c', 'a*b + 2*c']
    """
    total = sum_of_terms(expression)
    if total is None:
        return []
    count = len(total.parts)
    sizes = range(1 if count <= MOST_DIVIDED else count - 2, count)
    selections = (ProductSum(parts) for size in sizes for parts in combinations(total.parts, size))
    forms = dict.fromkeys(formula_of_terms(selection, expression) for selection in selections)
    return [form for form in forms if form and not form.tree.is_constant]


def without_idle_functions(expression: Expression, points: FloatArray) -> Expression:
    """The formula with the arguments of odd functions in their place, where these are so small over
    the data that the function equals its argument.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    >>> print(without_idle_functions(cf.parse("tanh(0.02*x) + sin(y)"), points))
    0.02*x + sin(y)
    """

    def node(name: str, *operands: Tree) -> Tree:
        whole = apply(name, *operands)
        if OPERATORS[name].parity != "odd" or whole.is_constant:
            return whole
        with np.errstate(all="ignore"):
            argument, value = evaluate(operands[0], points), evaluate(whole, points)
            left = np.abs(value - argument).max(initial=0.0)
        return operands[0] if left <= IDLE * np.abs(argument).max(initial=0.0) else whole

    return Expression(expression.tree.fold(lambda token: Tree((token,)), node), expression.names)
