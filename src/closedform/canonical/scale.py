"""The factor, the sign and the additive constant of a sum, which its concept leaves free, and the
order of its inputs, which does not depend on that of the columns.
"""

from fractions import Fraction
from math import log

from closedform.canonical.algebra import Algebra
from closedform.canonical.plain_numbers import ONE, awkwardness, is_simple
from closedform.canonical.product_sums import Factors, ProductSum, of_factors, split_constant
from closedform.expressions.exact_numbers import decimal
from closedform.expressions.expression import Expression
from closedform.expressions.parse import sort_names


def scaled(total: ProductSum, algebra: Algebra) -> ProductSum:
    """The sum without its constant, the first term positive, and with as few numbers as possible.

    Between scalings with as many numbers, measured ones are decimals near 1. If all are plain,
    functions rather than powers have the coefficient 1, then coefficients are integers, then small,
    then the first is 1. An empty sum is a constant.
    """
    varying = ProductSum(tuple(part for part in total.parts if split_constant(part[0])[1]))
    if not varying.parts:
        return varying
    divisors = dict.fromkeys(
        (split_constant(factors)[0], abs(number)) for factors, number in varying.parts
    )
    options = [_divided(varying, constants, number, algebra) for constants, number in divisors]
    best = min(enumerate(options), key=lambda option: (*_plainness(option[1]), option[0]))[1]
    return best if best.parts[0][1] > 0 else best.scaled(-ONE)


def _divided(
    total: ProductSum, constants: Factors, number: Fraction, algebra: Algebra
) -> ProductSum:
    if not constants:
        return total if number == 1 else total.scaled(1 / number)
    return algebra.distributed(
        total, of_factors([(atom, -power) for atom, power in constants], 1 / number)
    )


def _plainness(total: ProductSum) -> tuple[float, ...]:
    """What is compared between scalings, the first difference deciding."""
    written = [
        (factors, number)
        for factors, number in total.parts
        if abs(number) != 1 or split_constant(factors)[0]
    ]
    # A number over a bracket needs no multiplication sign, so it costs one less than a number
    # before a product.
    cost = sum(4 if any(power > 0 for _, power in factors) else 3 for factors, _ in written)
    measured = sum(not is_simple(number) for _, number in written)
    inverted = sum(power < 0 for factors, _ in written for _, power in split_constant(factors)[0])
    if measured:
        # The other rules are about plain numbers; measured ones should be decimals near 1, so that
        # no small term leads.
        endless = sum(decimal(number) is None for _, number in written)
        return (
            cost,
            measured,
            inverted,
            endless,
            round(sum(abs(log(abs(number))) for _, number in written), 6),
        )
    functions = sum(
        any(not atom.is_input for atom, _ in split_constant(factors)[1]) for factors, _ in written
    )
    return (
        cost,
        measured,
        inverted,
        functions,
        sum(awkwardness(abs(number)) for _, number in written),
    )


def in_name_order(expression: Expression) -> tuple[Expression, list[int]]:
    """The formula with its inputs in the order of their names, and where each one's column was.

    Examples
    --------
    >>> import closedform as cf
    >>> ordered, columns = in_name_order(cf.parse("x - v", names=["x", "v"]))
    >>> ordered.names, columns
    (('v', 'x'), [1, 0])
    """
    names = sort_names(expression.names)
    return expression.rename(names), [expression.names.index(name) for name in names]
