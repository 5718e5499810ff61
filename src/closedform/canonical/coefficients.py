"""A sum with a coefficient at every term but one: what can be compared between fits."""

from closedform.expressions.expression import Expression
from closedform.expressions.tree import Constant, Tree, apply, constant


def with_coefficients(expression: Expression) -> Expression:
    """The same concept with a number before every term of the outermost sum, but for one term,
    which has none.

    A concept has no scale, so one term is the unit: the first whose number is 1 or -1, else the
    first.

    Examples
    --------
    >>> import closedform as cf
    >>> print(with_coefficients(cf.parse("x**4/2 + v**2 - x**2")))
    v**2 + 0.5*x**4 + (-1*x**2)
    >>> print(with_coefficients(cf.parse("x*v")))
    x*v
    """
    terms = weighted_terms(expression.tree, 1.0)
    if len(terms) < 2:
        return expression
    unit = next((place for place, (number, _) in enumerate(terms) if abs(number) == 1), 0)
    scale, total = terms[unit]
    for place, (number, term) in enumerate(terms):
        if place != unit:
            total = apply("add", total, apply("mul", constant(number / scale), term))
    return Expression(total, expression.names)


def weighted_terms(tree: Tree, factor: float) -> list[tuple[float, Tree]]:
    """Terms of a sum with their numbers; terms without an input are left out, for they add
    nothing.
    """
    children = tree.children
    if tree.root == "add":
        return [*weighted_terms(children[0], factor), *weighted_terms(children[1], factor)]
    if tree.root == "sub":
        return [*weighted_terms(children[0], factor), *weighted_terms(children[1], -factor)]
    if tree.root == "neg":
        return weighted_terms(children[0], -factor)
    if tree.root == "mul":
        for number, other in (children, children[::-1]):
            if isinstance(number.root, Constant):
                return weighted_terms(other, factor * float(number.root.value))
    if tree.root == "div" and isinstance(children[1].root, Constant):
        return weighted_terms(children[0], factor / float(children[1].root.value))
    return [] if tree.is_constant else [(factor, tree)]
