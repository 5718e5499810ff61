"""A sum as a formula: the cheapest of a few ways to write it, by the paper's complexity."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import inf

from closedform.canonical.product_sums import (
    EULER,
    ONE,
    Atom,
    Factors,
    ProductSum,
    atom_order,
    collect,
    is_logarithm,
    is_simple,
    of_factors,
    split_constant,
)
from closedform.canonical.tolerances import MOST_GROUPED, MOST_GROUPINGS
from closedform.expressions.complexity import complexity
from closedform.expressions.sums_and_products import power_of, product_of
from closedform.expressions.tolerances import SMALL_INTEGER
from closedform.expressions.tree import Tree, apply, constant


@lru_cache(maxsize=20_000)
def spell(total: ProductSum) -> Tree:
    """Write a sum, with common factors taken out where that is cheaper."""
    best = _plainly(total)
    if 1 < len(total.parts) <= MOST_GROUPED:
        for form in _contents(total):
            if complexity(form) < complexity(best):
                best = form
        groupings = [(complexity(form), grouped) for form, grouped in _groupings(total)]
        cost, grouped = min(groupings, key=lambda entry: entry[0], default=(inf, total))
        if cost < complexity(best):
            best = spell(grouped)
    return best


def plain_cost(total: ProductSum) -> int:
    """The complexity of the terms one after the other, which is quicker to know than `spell`'s."""
    return complexity(_plainly(total))


def group(inside: ProductSum) -> Atom:
    """A sum in brackets."""
    return Atom(spell(inside), inside)


def _plainly(total: ProductSum) -> Tree:
    """The terms one after the other; one with a plus sign leads if there is any."""
    if not total.parts:
        return constant(0)
    parts = (
        sorted(total.parts, key=lambda part: part[1] < 0) if total.parts[0][1] < 0 else total.parts
    )
    (factors, coefficient), *others = parts
    result = _term(factors, abs(coefficient))
    result = _negated(result) if coefficient < 0 else result
    for factors, coefficient in others:
        term = _term(factors, abs(coefficient))
        result = apply("sub" if coefficient < 0 else "add", result, term)
    return result


def _negated(tree: Tree) -> Tree:
    """Minus a product, the sign at its first factor."""
    if tree.root in ("mul", "div"):
        left, right = tree.children
        return apply(str(tree.root), _negated(left), right)
    return apply("neg", tree)


def _contents(total: ProductSum) -> Iterable[Tree]:
    """The sum with a number taken out of all its terms."""
    for content in dict.fromkeys(abs(coefficient) for _, coefficient in total.parts):
        if content != 1:
            yield product_of([constant(content), _plainly(total.scaled(1 / content))])


def _groupings(total: ProductSum) -> Iterable[tuple[Tree, ProductSum]]:
    """The sum with a factor taken out of some of its terms, for the factors that save most; or with
    logarithms made one.
    """
    splits = [_split(total, divisor, coefficient) for divisor, coefficient in _divisors(total)]
    for split in sorted(splits, key=lambda split: -split.saving)[:MOST_GROUPINGS]:
        if split.saving > 0:
            sign = ONE if split.inner[0][1] > 0 else -ONE
            inside = Atom(_plainly(collect(split.inner).scaled(sign)))
            product = of_factors([*split.divisor, (inside, ONE)], sign * split.coefficient)
            grouped = collect([*split.rest, *product.parts])
            yield _plainly(grouped), grouped
    merged = _merged_logarithms(total)
    if merged is not None:
        yield _plainly(merged), merged


@dataclass(frozen=True, slots=True)
class _Split:
    """A sum as a divisor times some terms plus the rest, and about how much cheaper that is."""

    divisor: Factors
    coefficient: Fraction
    inner: list[tuple[Factors, Fraction]]
    rest: list[tuple[Factors, Fraction]]
    saving: int


def _split(total: ProductSum, divisor: Factors, coefficient: Fraction) -> _Split:
    inner: list[tuple[Factors, Fraction]] = []
    rest: list[tuple[Factors, Fraction]] = []
    for factors, number in total.parts:
        quotient = _divided(factors, divisor)
        if quotient is None or (coefficient != 1 and abs(number) != coefficient):
            rest.append((factors, number))
        else:
            inner.append((quotient, number / coefficient))
    each = (complexity(_term(divisor, ONE)) + 1 if divisor else 0) + (4 if coefficient != 1 else 0)
    ones = sum(4 for quotient, number in inner if not quotient and abs(number) == 1)
    return _Split(divisor, coefficient, inner, rest, (len(inner) - 1) * each - ones)


def _divisors(total: ProductSum) -> list[tuple[Factors, Fraction]]:
    """What two terms have in common: factors, a coefficient, or both."""
    found: dict[tuple[Factors, Fraction], None] = {}
    for (first, a), (second, b) in combinations(total.parts, 2):
        powers = dict(second)
        shared = tuple(
            (atom, min(power, powers[atom], key=abs))
            for atom, power in first
            if power * powers.get(atom, 0) > 0
        )
        if shared:
            found.setdefault((shared, ONE))
        if abs(a) == abs(b) != 1:
            found.setdefault(((), abs(a)))
            if shared:
                found.setdefault((shared, abs(a)))
    return list(found)


def _divided(factors: Factors, divisor: Factors) -> Factors | None:
    powers = dict(factors)
    for atom, power in divisor:
        if powers.get(atom, Fraction(0)) * power <= 0 or abs(powers[atom]) < abs(power):
            return None
        powers[atom] -= power
    return tuple((atom, power) for atom, power in powers.items() if power)


def _merged_logarithms(total: ProductSum) -> ProductSum | None:
    """log(x) + 3*log(y) as log(x*y**3)."""
    logarithms = [(factors, c) for factors, c in total.parts if is_logarithm(factors)]
    if len(logarithms) < 2:
        return None
    lead = min((c for _, c in logarithms), key=lambda c: (abs(c), c < 0))
    powers = [(Atom(factors[0][0].tree.children[0]), c / lead) for factors, c in logarithms]
    if not all(is_simple(power) for _, power in powers):
        return None
    merged = Atom(
        apply("log", _term(tuple(sorted(powers, key=lambda p: atom_order(p[0].tree))), ONE))
    )
    rest = [part for part in total.parts if part not in logarithms]
    return collect([*rest, (((merged, ONE),), lead)])


def _term(factors: Factors, coefficient: Fraction) -> Tree:
    """A product with a positive coefficient, as a fraction."""
    constants, varying = split_constant(factors)
    exponential = next(((atom, power) for atom, power in varying if atom.is_exponential), None)
    is_euler = coefficient == 1 and len(constants) == 1 and constants[0][0] == EULER
    if exponential is not None and is_euler:
        atom, power = exponential
        assert atom.inside is not None
        argument = spell(atom.inside.scaled(power).plus(collect([((), constants[0][1])])))
        others = tuple(factor for factor in varying if factor != exponential)
        return _term((*others, (Atom(apply("exp", argument)), ONE)), ONE)
    leading = coefficient != 1 or bool(constants)
    above: list[Tree] = []
    below: list[Tree] = []
    for atom, power in varying:
        upright = power > 0 or (
            atom.is_exponential and not leading and all(p < 0 for _, p in varying)
        )
        (above if upright else below).append(_factor(atom, power if upright else -power))
    if (
        1 < coefficient.denominator <= SMALL_INTEGER
        and coefficient.numerator == 1
        and above
        and not constants
    ):
        below.insert(0, constant(coefficient.denominator))
    elif constants and coefficient == 1 and above and all(power < 0 for _, power in constants):
        below = [_constant([(atom, -power) for atom, power in constants], ONE), *below]
    elif leading or not above:
        above.insert(0, _constant(constants, coefficient))
    return apply("div", product_of(above), product_of(below)) if below else product_of(above)


def _constant(constants: Iterable[tuple[Atom, Fraction]], coefficient: Fraction) -> Tree:
    above: list[Tree] = []
    below: list[Tree] = []
    named = list(constants)
    if named and coefficient.denominator <= SMALL_INTEGER:
        below += [constant(coefficient.denominator)] if coefficient.denominator != 1 else []
        coefficient = Fraction(coefficient.numerator)
    if coefficient != 1:
        above.append(constant(coefficient))
    for atom, power in named:
        side = above if power > 0 or atom == EULER else below
        side.append(_factor(atom, power if atom == EULER else abs(power)))
    top = product_of(above) if above else constant(1)
    return apply("div", top, product_of(below)) if below else top


def _factor(atom: Atom, power: Fraction) -> Tree:
    if atom == EULER:
        return apply("exp", constant(power))
    if atom.is_exponential and atom.inside is not None:
        return apply("exp", spell(atom.inside.scaled(power)))
    return power_of(atom.tree, power)
