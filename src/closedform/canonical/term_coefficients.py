"""A sum with a coefficient at every term but one: what can be compared between fits."""

from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import scaled_terms
from closedform.expressions.tree import apply, constant


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
    terms = list(scaled_terms(expression.tree))
    if len(terms) < 2:
        return expression
    unit = next((place for place, (number, _) in enumerate(terms) if abs(number) == 1), 0)
    scale, total = terms[unit]
    for place, (number, term) in enumerate(terms):
        if place != unit:
            total = apply("add", total, apply("mul", constant(float(number / scale)), term))
    return Expression(total, expression.names)
