"""Sums taken apart into their terms, and products written: what every room does with trees."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import reduce

from closedform.expressions.tree import Constant, Tree, apply, arity, constant

_ONE = constant(1)


def signed_terms(tree: Tree) -> Iterator[tuple[int, Tree]]:
    """The terms of the outermost sum with their signs; the tree itself if it is not a sum."""
    pending = [(1, tree)]
    while pending:
        sign, part = pending.pop()
        if part.root in ("add", "sub"):
            left, right = part.children
            pending += [(-sign if part.root == "sub" else sign, right), (sign, left)]
        elif part.root == "neg":
            pending.append((-sign, part.children[0]))
        else:
            yield sign, part


def scaled_terms(tree: Tree) -> Iterator[tuple[Fraction, Tree]]:
    """The terms of the outermost sum with the numbers that multiply or divide them, through
    brackets. Terms without an input are left out.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> terms = scaled_terms(parse("2*(x - 3*sin(y) + 1)").tree)
    >>> [(int(number), term.size) for number, term in terms]
    [(2, 1), (-6, 2)]
    """
    for sign, term in signed_terms(tree):
        number, rest = _without_number(term)
        if rest is not term:
            yield from ((sign * number * inner, part) for inner, part in scaled_terms(rest))
        elif not term.is_constant:
            yield Fraction(sign), term


def _without_number(term: Tree) -> tuple[Fraction, Tree]:
    """The number that multiplies or divides a term, 1 if there is none, and the rest."""
    if term.root in ("mul", "div"):
        left, right = term.children
        if term.root == "mul" and isinstance(left.root, Constant):
            return left.root.value, right
        if isinstance(right.root, Constant) and (term.root == "mul" or right.root.value):
            return right.root.value if term.root == "mul" else 1 / right.root.value, left
    return Fraction(1), term


def peeled(tree: Tree) -> Tree:
    """What is left of a formula without functions of one quantity around it: they do not change the
    class.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> peeled(parse("exp(-3*x + 1)").tree) == parse("x").tree
    True
    """
    while arity(tree.root):
        parts = [part for part in tree.children if not part.is_constant]
        if len(parts) != 1:
            break
        tree = parts[0]
    return tree


def power_of(base: Tree, exponent: Fraction | int) -> Tree:
    """A power, as people write it: nothing for 1, a root for 1/2."""
    if exponent == 1:
        return base
    is_root = exponent == Fraction(1, 2)
    return apply("sqrt", base) if is_root else apply("pow", base, constant(exponent))


def sum_of(terms: Sequence[Tree]) -> Tree:
    """The sum of one or more terms, in their order; what is negated is subtracted."""
    total = terms[0]
    for term in terms[1:]:
        is_negated = term.root == "neg"
        total = apply("sub", total, term.children[0]) if is_negated else apply("add", total, term)
    return total


def product_of(factors: Iterable[Tree]) -> Tree:
    """The product of one or more factors, in their order."""
    return reduce(lambda left, right: apply("mul", left, right), factors)


def times(factor: Tree, other: Tree) -> Tree:
    """The product of two, as a fraction if the second is a reciprocal."""
    if other.root == "div" and other.children[0] == _ONE:
        return apply("div", factor, other.children[1])
    return apply("mul", factor, other)


def opposite(difference: Tree) -> Tree:
    """A difference the other way round: y - x for x - y."""
    return apply("sub", *reversed(difference.children))
