"""Moves from a sum to others of the same concept: without an outer function, turned over, as a
logarithm or a product, with roots changed; and the data, on which they are confirmed.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.algebra import Algebra
from closedform.canonical.product_sums import (
    ONE,
    Atom,
    Factors,
    ProductSum,
    collect,
    is_logarithm,
    is_simple,
    of_atom,
    of_factors,
    plain,
)
from closedform.canonical.tolerances import MOST_EXPANDED, MOST_ROOT_TERMS
from closedform.expressions.evaluate import evaluate, values_and_gradient
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.alignment.misalignment import point_misalignment
from closedform.field.alignment.tolerances import ROUNDING, SAME


class Sample:
    """Points, and one formula to which others are compared.

    Points at which the formula is not finite or its gradient vanishes do not count.

    points (n_points, n_inputs)
    """

    def __init__(self, tree: Tree, points: FloatArray) -> None:
        scale = points.std(axis=0) if len(points) else np.ones(points.shape[1])
        self.scale = np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)
        values, slopes = values_and_gradient(tree, points)
        with np.errstate(all="ignore"):
            slopes *= self.scale
            norms = np.linalg.norm(slopes, axis=1)
        usable = np.isfinite(values) & np.isfinite(norms) & (norms > 1e-150) & (norms < 1e150)
        self.points, self.values = points[usable], values[usable]
        self.directions = slopes[usable] / norms[usable, None]
        self._ranges: dict[Tree, tuple[float, float] | None] = {}

    def range_of(self, tree: Tree) -> tuple[float, float] | None:
        """Lowest and highest value; None if it is not finite everywhere."""
        if tree not in self._ranges:
            values = evaluate(tree, self.points)
            finite = len(values) > 0 and bool(np.isfinite(values).all())
            self._ranges[tree] = (float(values.min()), float(values.max())) if finite else None
        return self._ranges[tree]

    def sign_of(self, tree: Tree) -> int:
        """1 or -1 if the values keep this sign, else 0."""
        bounds = self.range_of(tree)
        return 0 if bounds is None else int(bounds[0] > 0) - int(bounds[1] < 0)

    def is_invertible(self, outer: Tree, inner: Tree) -> bool:
        """Whether a function of one input is strictly monotone on the range of another formula."""
        bounds = self.range_of(inner)
        if bounds is None or bounds[0] == bounds[1]:
            return False
        # An odd number, so that the middle of a symmetric range is met.
        steps = np.diff(evaluate(outer, np.linspace(*bounds, 257)[:, None]))
        return bool(
            np.isfinite(steps).all() and ((steps >= 0).all() or (steps <= 0).all()) and steps.any()
        )

    def is_same(self, tree: Tree) -> bool:
        """Whether a formula is the same concept: gradients parallel, values in one order."""
        if len(self.points) < 2:
            return False
        values, slopes = values_and_gradient(tree, self.points)
        with np.errstate(all="ignore"):
            slopes *= self.scale
        if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
            return False
        if not point_misalignment(slopes, self.directions[:, :, None]).mean() < ROUNDING:
            return False
        with np.errstate(all="ignore"):
            along = np.einsum("nd,nd->n", slopes, self.directions)
        sign = 1.0 if along[0] > 0 else -1.0
        return bool((sign * along > 0).all() and _in_order(self.values, sign * values))


def power_function(exponent: float) -> Tree:
    """The power as a function of one input."""
    return apply("pow", variable(0), constant(exponent))


def _in_order(first: FloatArray, second: FloatArray) -> bool:
    """Whether the second never falls where the first rises, up to rounding."""
    order = np.lexsort((second, first))
    a, b = first[order], second[order]
    highest = np.maximum.accumulate(b)
    fallen = np.flatnonzero(b < highest - SAME * np.abs(highest))
    if not len(fallen):
        return True
    places = np.maximum.accumulate(np.where(b == highest, np.arange(len(b)), 0))[fallen]
    return bool((a[fallen] - a[places] <= SAME * np.abs(a[places])).all())


_X = variable(0)


def moves(total: ProductSum, algebra: Algebra, sample: Sample) -> Iterator[ProductSum]:
    """Sums that are the same concept as this one, or may be: the data must confirm each."""
    expanded = algebra.expanded(total)
    if expanded != total and len(expanded.parts) <= max(MOST_EXPANDED, len(total.parts)):
        yield expanded
    yield into_roots(total, algebra)
    if total.single is not None:
        yield from _of_product(total.single[0], algebra, sample)
    else:
        together = _together(total, algebra)
        if together is not None:
            yield together
        yield from _without_logarithms(total, algebra)
        square = squared(expanded, algebra)
        if square is not None:
            yield square


def _of_product(factors: Factors, algebra: Algebra, sample: Sample) -> Iterator[ProductSum]:
    if len(factors) == 1:
        atom, power = factors[0]
        yield from _inside(atom, power, algebra, sample)
    else:
        shared = _shared_power([power for _, power in factors])
        roots = [1 / power for atom, power in factors if atom.is_group]
        usual = (1 / shared, -1 / shared, 2 / shared, -2 / shared, -ONE)
        for exponent in dict.fromkeys((*usual, *roots)):
            if exponent != 1:
                yield of_factors((atom, power * exponent) for atom, power in factors)
        turned = algebra.expanded(of_factors((atom, -power) for atom, power in factors))
        if len(turned.parts) <= MOST_EXPANDED:
            yield turned
        yield from _remainders(factors, algebra)
        yield from conjugates(factors, algebra)
        if any(atom.is_exponential or atom.tree.root == "pow" for atom, _ in factors) and all(
            sample.sign_of(atom.tree) > 0 for atom, _ in factors
        ):
            logarithm = ProductSum(())
            for atom, power in factors:
                logarithm = logarithm.plus(_logarithm(atom, algebra).scaled(power))
            yield logarithm


def _inside(atom: Atom, power: Fraction, algebra: Algebra, sample: Sample) -> Iterator[ProductSum]:
    """Without the outermost function, if it can be inverted on the range of what is inside."""
    if atom.is_exponential and atom.inside is not None:
        yield atom.inside
        return
    if power != 1:
        is_map = sample.is_invertible(power_function(float(power)), atom.tree)
        plain_powers = [ONE] if is_map else [Fraction(2), -ONE]
        yield from (of_factors([(atom, each)]) for each in plain_powers if each != power)
        if atom.is_group and atom.inside is not None:
            yield from (algebra.power(atom.inside, each) for each in plain_powers)
        return
    name = atom.tree.root
    if name == "pow":
        yield _logarithm(atom, algebra)
    elif isinstance(name, str) and len(atom.tree.children) == 1:
        argument = atom.tree.children[0]
        if sample.is_invertible(apply(name, _X), argument):
            yield algebra.normal(argument)
        elif name == "abs":
            yield algebra.power(algebra.normal(argument), Fraction(2))


def _logarithm(atom: Atom, algebra: Algebra) -> ProductSum:
    if atom.tree.root == "pow":
        base, exponent = atom.tree.children
        if base.is_constant:
            return algebra.multiply(algebra.normal(exponent), algebra.normal(apply("log", base)))
        return algebra.multiply(algebra.normal(exponent), algebra.logarithm(algebra.normal(base)))
    return algebra.logarithm(of_atom(atom))


def _remainders(factors: Factors, algebra: Algebra) -> Iterator[ProductSum]:
    """A/B as (A - c*B)/B, and turned over: N/(a*N + b*D) becomes N/D."""
    above = _multiplied((atom, power) for atom, power in factors if power > 0)
    below = _multiplied((atom, -power) for atom, power in factors if power < 0)
    if above is None or below is None:
        return
    for numerator, denominator in ((above, below), (below, above)):
        rows = dict(numerator.parts)
        for ratio in dict.fromkeys(rows[f] / c for f, c in denominator.parts if f in rows):
            rest = numerator.plus(denominator.scaled(-ratio))
            if 0 < len(rest.parts) < len(numerator.parts):
                yield algebra.multiply(rest, algebra.power(denominator, -ONE))
                yield algebra.multiply(denominator, algebra.power(rest, -ONE))


def _multiplied(factors: Iterator[tuple[Atom, Fraction]]) -> ProductSum | None:
    """One bracket, or a product without brackets."""
    found = list(factors)
    if len(found) == 1 and found[0][1] == 1 and found[0][0].is_group:
        return found[0][0].inside
    return of_factors(found) if found and not any(atom.is_group for atom, _ in found) else None


def _together(total: ProductSum, algebra: Algebra) -> ProductSum | None:
    """The sum as one fraction, with what all terms share outside."""
    found = (atom for factors, _ in total.parts for atom, _ in factors)
    atoms = dict.fromkeys(
        atom for atom in found if not atom.is_exponential and not atom.is_constant
    )
    shared: list[tuple[Atom, Fraction]] = []
    for atom in atoms:
        least = min(dict(factors).get(atom, Fraction(0)) for factors, _ in total.parts)
        if least:
            shared.append((atom, least))
    if not shared:
        return None
    inverse = of_factors((atom, -power) for atom, power in shared)
    inner = algebra.distributed(total, inverse)
    return algebra.multiply(of_factors(shared), algebra.expanded(inner))


def _without_logarithms(total: ProductSum, algebra: Algebra) -> Iterator[ProductSum]:
    """exp of a sum of logarithms and other terms, scaled so that a logarithm disappears."""
    for scale in dict.fromkeys(c for factors, c in total.parts if is_logarithm(factors)):
        yield algebra.exponential(total.scaled(1 / scale))


def _shared_power(powers: list[Fraction]) -> Fraction:
    """The largest number of which all powers are integer multiples, 1 if they are not simple."""
    if not all(is_simple(power) for power in powers):
        return abs(powers[0])
    denominator = lcm(*(power.denominator for power in powers))
    return Fraction(gcd(*(int(power * denominator) for power in powers)), denominator)


def squared(total: ProductSum, algebra: Algebra) -> ProductSum | None:
    """The sum as the square of another, if it is one up to an additive constant and its sign.

    The root is found term by term, from the highest on, as in the division of polynomials.
    """
    atoms = list(dict.fromkeys(atom for factors, _ in total.parts for atom, _ in factors))
    if len(total.parts) < 2 or any(
        p.denominator != 1 or p < 0 or a.is_constant for f, _ in total.parts for a, p in f
    ):
        return None

    def highest(part: tuple[Factors, Fraction]) -> list[Fraction]:
        powers = dict(part[0])
        return [powers.get(atom, Fraction(0)) for atom in atoms]

    factors, coefficient = max(total.parts, key=highest)
    if any(power % 2 for _, power in factors):
        return None
    target = total if coefficient > 0 else total.scaled(Fraction(-1))
    number = plain(float(abs(coefficient)) ** 0.5)
    lead = of_factors(((atom, power / 2) for atom, power in factors), number)
    root = lead
    for _ in range(MOST_ROOT_TERMS):
        rest = target.plus(algebra.distributed(root, root).scaled(Fraction(-1)))
        if rest.number is not None:
            return algebra.power(root, Fraction(2)) if len(root.parts) > 1 else None
        following = _quotient(max(rest.parts, key=highest), lead)
        if following is None:
            return None
        root = root.plus(following)
    return None


def _quotient(part: tuple[Factors, Fraction], lead: ProductSum) -> ProductSum | None:
    """A term divided by twice the leading one, if the division leaves no negative power."""
    (divisor, number), *_ = lead.parts
    powers: dict[Atom, Fraction] = dict(part[0])
    for atom, power in divisor:
        powers[atom] = powers.get(atom, Fraction(0)) - power
    if any(power < 0 for power in powers.values()):
        return None
    return collect(of_factors(powers.items(), part[1] / (2 * number)).parts)


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
