"""Functions of sums other than powers, exponentials and logarithms, by the operator table."""

from collections.abc import Iterable
from fractions import Fraction
from math import isfinite, pi

from closedform.canonical.plain_numbers import ONE, is_short, is_simple, plain
from closedform.canonical.product_sums import (
    Atom,
    ProductSum,
    atom_order,
    of_atom,
    of_factors,
    of_number,
    split_constant,
)
from closedform.canonical.sum_spelling import spell
from closedform.canonical.tolerances import EQUAL, LONGEST_CONSTANT
from closedform.expressions.evaluate import number_of
from closedform.expressions.operators import OPERATORS, Operator
from closedform.expressions.tree import Constant, apply


def of_one(name: str, argument: ProductSum) -> ProductSum:
    """A function of one argument with its sign, its scale and quarter turns taken out, as far as
    the function lets them.
    """
    sign = ONE
    if name in ("sin", "cos", "tan"):
        name, sign, argument = _turned(name, argument)
    operator = OPERATORS[name]
    if argument.parts[0][1] < 0 and operator.parity is not None:
        sign, argument = (-sign if operator.parity == "odd" else sign), argument.scaled(-ONE)
    factor, (argument,) = _scaled_alike(operator, argument)
    return of_factors([(Atom(apply(name, spell(argument))), ONE)], sign * factor)


def of_two(name: str, first: ProductSum, second: ProductSum) -> ProductSum:
    """A function of two arguments, in one order if symmetric, without their common scale."""
    operator = OPERATORS[name]
    factor, (first, second) = _scaled_alike(operator, first, second)
    trees = [spell(first), spell(second)]
    if operator.is_symmetric:
        trees.sort(key=atom_order)
        if trees[0] == trees[1] and operator.homogeneous == 1:
            return first.scaled(factor)
    return of_factors([(Atom(apply(name, *trees)), ONE)], factor)


def _scaled_alike(
    operator: Operator, *arguments: ProductSum
) -> tuple[Fraction, tuple[ProductSum, ...]]:
    """The factor of a homogeneous function, and its arguments divided by the first size."""
    if operator.homogeneous is None:
        return ONE, arguments
    # The order of the arguments may still change, so the scale must not depend on it.
    sizes = [abs(argument.parts[0][1]) for argument in arguments if argument.parts]
    size = max(sizes, default=ONE) if operator.is_symmetric else next(iter(sizes), ONE)
    return size**operator.homogeneous, tuple(argument.scaled(1 / size) for argument in arguments)


def _turned(name: str, argument: ProductSum) -> tuple[str, Fraction, ProductSum]:
    """sin(x + pi/2) as cos(x), and the like."""
    shift = sum(float(c) * constant_value(f) for f, c in argument.parts if not split_constant(f)[1])
    quarters = round(shift / (pi / 2))
    step = 2 if name == "tan" else 1
    if not quarters or quarters % step or abs(shift - quarters * pi / 2) > EQUAL * abs(shift):
        return name, ONE, argument
    rest = ProductSum(tuple(part for part in argument.parts if split_constant(part[0])[1]))
    if name == "tan":
        return name, ONE, rest
    turn = (quarters + (name == "cos")) % 4
    return ("sin", "cos")[turn % 2], (-ONE if turn >= 2 else ONE), rest


def constant_value(factors: Iterable[tuple[Atom, Fraction]]) -> float:
    """The value of a product of constant atoms."""
    result = 1.0
    for atom, power in factors:
        result *= number_of(atom.tree) ** float(power)
    return result


def is_constant_sum(total: ProductSum) -> bool:
    """Whether no input occurs."""
    return not any(split_constant(factors)[1] for factors, _ in total.parts)


def constant_function(name: str, *arguments: ProductSum) -> ProductSum:
    """A function of constants: a simple number, else a constant of its own, or decimals if long."""
    tree = apply(name, *(spell(argument) for argument in arguments))
    level = number_of(tree)
    if not isfinite(level):
        raise ArithmeticError("not a finite number")
    decimals = plain(level)
    if (
        is_simple(decimals)
        or tree.size > LONGEST_CONSTANT
        or not all(is_short(token.value) for token in tree.tokens if isinstance(token, Constant))
    ):
        return of_number(decimals)
    return of_atom(Atom(tree))
