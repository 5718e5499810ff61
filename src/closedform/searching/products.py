"""Products as lists of bases with exponents, and back."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from closedform.expressions.evaluate import evaluate
from closedform.expressions.operators import OPERATORS
from closedform.expressions.sums_and_products import power_of, product_of, signed_terms
from closedform.expressions.tree import Constant, Tree, apply, constant


def factor_powers(tree: Tree, power: Fraction = Fraction(1)) -> Iterator[tuple[Tree, Fraction]]:
    """Bases and exponents of a product."""
    if tree.root == "mul":
        for child in tree.children:
            yield from factor_powers(child, power)
    elif tree.root == "div":
        yield from factor_powers(tree.children[0], power)
        yield from factor_powers(tree.children[1], -power)
    elif tree.root == "neg":
        yield from factor_powers(tree.children[0], power)
    elif tree.root == "pow" and isinstance(tree.children[1].root, Constant):
        yield from factor_powers(tree.children[0], power * tree.children[1].root.value)
    elif tree.children and (fixed := OPERATORS[str(tree.root)].power) is not None:
        yield from factor_powers(tree.children[0], power * fixed)
    elif not tree.is_constant:
        yield tree, power


def product_of_powers(factors: Sequence[tuple[Tree, Fraction]]) -> Tree:
    """A quotient of products of powers, without powers of 1."""
    above, below = [], []
    for base, exponent in factors:
        if exponent:
            (above if exponent > 0 else below).append(power_of(base, abs(exponent)))
    tree = product_of(above) if above else constant(1)
    return apply("div", tree, product_of(below)) if below else tree


def collected_powers(tree: Tree) -> dict[Tree, Fraction]:
    """The exponent of each base of a product."""
    powers: dict[Tree, Fraction] = {}
    for base, exponent in factor_powers(tree):
        powers[base] = powers.get(base, Fraction(0)) + exponent
    return powers


def constant_factor(tree: Tree) -> float:
    """The constant factor of a product."""
    if tree.root == "mul":
        return constant_factor(tree.children[0]) * constant_factor(tree.children[1])
    if tree.root == "div":
        return constant_factor(tree.children[0]) / constant_factor(tree.children[1])
    if tree.root == "neg":
        return -constant_factor(tree.children[0])
    return float(evaluate(tree, np.zeros((1, 1)))[0]) if tree.is_constant else 1.0


def powers_distributed(tree: Tree) -> Tree:
    """The tree with powers of products written as products of powers; constant factors are left
    out, as a fit finds them again.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> powers_distributed(parse("x + (y**9/z)**(1/3)").tree) == parse("x + y**3/z**(1/3)").tree
    True
    """

    def node(name: str, *parts: Tree) -> Tree:
        whole = apply(name, *parts)
        is_power = name == "pow" and parts[0].root in ("mul", "div", "pow")
        return product_of_powers(list(factor_powers(whole))) if is_power else whole

    return tree.fold(lambda token: Tree((token,)), node)


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
