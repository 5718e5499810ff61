"""Moves for roots of sums: a factor goes into a root, and a root changes its side of a quotient."""

from collections.abc import Iterator
from fractions import Fraction

from closedform.canonical.algebra import Algebra
from closedform.canonical.plain_numbers import ONE
from closedform.canonical.product_sums import Factors, ProductSum, of_factors


def into_roots(total: ProductSum, algebra: Algebra) -> ProductSum:
    """Multiply factors into the roots in which they are divided by: x*sqrt(y/x**2 + 1) becomes
    sqrt(x**2 + y), right where x is positive.
    """
    result = ProductSum(())
    for factors, coefficient in total.parts:
        result = result.plus(_into_root(factors, algebra).scaled(coefficient))
    return result


def _into_root(factors: Factors, algebra: Algebra) -> ProductSum:
    for root, power in factors:
        if not root.is_group or root.inside is None or power.denominator == 1:
            continue
        rest, inside = {atom: p for atom, p in factors if atom != root}, root.inside
        for atom, outside in list(rest.items()):
            least = min(dict(part).get(atom, Fraction(0)) for part, _ in inside.parts)
            if atom.is_constant or least >= 0 or outside / power <= 0:
                continue
            moved = min(outside / power, -least)
            inside = algebra.distributed(inside, of_factors([(atom, moved)]))
            rest[atom] = outside - moved * power
        if inside != root.inside:
            return algebra.multiply(
                of_factors((atom, p) for atom, p in rest.items() if p), algebra.power(inside, power)
            )
    return of_factors(factors)


def conjugates(factors: Factors, algebra: Algebra) -> Iterator[ProductSum]:
    """A bracket A + sqrt(B) as (B - A**2)/(sqrt(B) - A)."""
    for bracket, power in factors:
        if not bracket.is_group or bracket.inside is None or power.denominator != 1:
            continue
        parts = [ProductSum((part,)) for part in bracket.inside.parts]
        if len(parts) != 2:
            continue
        first, second = parts
        squares = [algebra.expanded(algebra.power(part, Fraction(2))) for part in parts]
        difference = squares[0].plus(squares[1].scaled(-ONE))
        if len(difference.parts) > 1:
            continue
        turned = algebra.power(first.plus(second.scaled(-ONE)), -power)
        rest = of_factors((atom, p) for atom, p in factors if atom != bracket)
        yield algebra.multiply(algebra.multiply(rest, turned), algebra.power(difference, power))
