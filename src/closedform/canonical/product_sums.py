"""Sums of products, the normal form in which formulas are rewritten, and the numbers in them.

A sum is coefficients times products of powers of atoms; an atom is an input, a function of a sum, a
sum in brackets, or an irrational constant. Like terms have met, and terms and factors stand in one
order, so equal sums are equal objects. Numbers print well: simple fractions, or decimals of at most
15 digits.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Any

from closedform.canonical.tolerances import EQUAL, LARGEST_EXACT_POWER, MAX_TERMS, SHORT
from closedform.expressions.tolerances import LARGEST_DENOMINATOR, SMALL_INTEGER
from closedform.expressions.tree import Constant, Token, Tree, Variable, apply, constant


@dataclass(frozen=True, slots=True)
class Atom:
    """What powers are taken of."""

    tree: Tree  # how it is written; atoms that are written alike are equal
    # The sum in the brackets, or the argument of an exponential.
    inside: "ProductSum | None" = field(default=None, compare=False)

    @property
    def is_constant(self) -> bool:
        """Whether it is a constant but not a fraction, such as pi, exp(1), sqrt(2) or sin(0.3)."""
        return self.tree.is_constant

    @property
    def is_input(self) -> bool:
        """Whether it is an input."""
        return isinstance(self.tree.root, Variable)

    @property
    def is_exponential(self) -> bool:
        """Whether it is an exponential; products of those are one."""
        return self.tree.root == "exp" and not self.is_constant

    @property
    def is_group(self) -> bool:
        """Whether it is a sum or product in brackets."""
        return self.inside is not None and self.tree.root != "exp"


Factors = tuple[tuple[Atom, Fraction], ...]
"""A product of powers of atoms, without coefficient."""


@dataclass(frozen=True, slots=True)
class ProductSum:
    """Products with their coefficients, in order. Make one with `collect`."""

    parts: tuple[tuple[Factors, Fraction], ...]

    @property
    def number(self) -> Fraction | None:
        """Its value, if it is a number."""
        if not self.parts:
            return Fraction(0)
        return self.parts[0][1] if len(self.parts) == 1 and not self.parts[0][0] else None

    @property
    def single(self) -> tuple[Factors, Fraction] | None:
        """Its only part, if it has one only."""
        return self.parts[0] if len(self.parts) == 1 else None

    def scaled(self, factor: Fraction) -> "ProductSum":
        """The sum times a number."""
        if factor == 1:
            return self
        return (
            ProductSum(
                tuple((factors, plain(factor * coefficient)) for factors, coefficient in self.parts)
            )
            if factor
            else ProductSum(())
        )

    def plus(self, other: "ProductSum") -> "ProductSum":
        """The sum of both."""
        return collect([*self.parts, *other.parts])


def collect(parts: Iterable[tuple[Factors, Fraction]]) -> ProductSum:
    """Add like terms and put them in order."""
    totals: dict[Factors, Fraction] = {}
    for factors, coefficient in parts:
        old = totals.get(factors)
        total = coefficient if old is None else old + coefficient
        if old is not None and abs(total) <= EQUAL * max(abs(old), abs(coefficient)):
            total = Fraction(0)
        totals[factors] = total
    if len(totals) > MAX_TERMS:
        raise ArithmeticError("too many terms")
    kept = [(factors, plain(total)) for factors, total in totals.items() if total]
    if len(kept) > 1:
        kept.sort(key=lambda part: term_order(part[0]))
    return ProductSum(tuple(kept))


def of_number(value: Fraction | float) -> ProductSum:
    """A number as a sum."""
    return ProductSum((((), plain(value)),) if value else ())


def of_factors(
    factors: Iterable[tuple[Atom, Fraction]], coefficient: Fraction = Fraction(1)
) -> ProductSum:
    """One product as a sum; the atoms must differ and not combine."""
    kept = sorted(
        ((atom, plain(power)) for atom, power in factors if power),
        key=lambda factor: atom_order(factor[0].tree),
    )
    return ProductSum(((tuple(kept), plain(coefficient)),) if coefficient else ())


def of_atom(atom: Atom) -> ProductSum:
    """One atom as a sum."""
    return of_factors([(atom, Fraction(1))])


EULER = Atom(apply("exp", constant(1)))
"""The number e."""


def split_constant(factors: Factors) -> tuple[Factors, Factors]:
    """The constant atoms of a product, and the others."""
    return (
        tuple(factor for factor in factors if factor[0].is_constant),
        tuple(factor for factor in factors if not factor[0].is_constant),
    )


def is_logarithm(factors: Factors) -> bool:
    """Whether a product is one logarithm and nothing else."""
    return len(factors) == 1 and factors[0][0].tree.root == "log" and factors[0][1] == 1


@lru_cache(maxsize=20_000)
def atom_order(tree: Tree) -> tuple[Any, ...]:
    """Constants, then inputs by column, then functions and brackets by their leaves."""
    kind = 0 if tree.is_constant else 1 if isinstance(tree.root, Variable) else 2
    return kind, tuple(_token_order(token) for token in tree.tokens)


def term_order(factors: Factors) -> tuple[Any, ...]:
    """Polynomials first, in the order of their inputs; then terms with functions; numbers last."""
    constants, varying = split_constant(factors)
    return (
        not varying,
        any(not atom.is_input for atom, _ in varying),
        tuple((atom_order(atom.tree), power < 0, power) for atom, power in varying),
        tuple((atom_order(atom.tree), power) for atom, power in constants),
    )


def _token_order(token: Token) -> tuple[int, Any]:
    if isinstance(token, Constant):
        return 0, token.value
    return (1, token.index) if isinstance(token, Variable) else (2, token)


ONE = Fraction(1)


def plain(value: Fraction | float) -> Fraction:
    """The simple fraction that a number is up to rounding, or else the number to 15 digits; short
    fractions stay exact.

    Examples
    --------
    >>> plain(0.49999999999999994), plain(Fraction(1000, 173)), plain(0.12345678901234567)
    (Fraction(1, 2), Fraction(1000, 173), Fraction(61728394506173, 500000000000000))
    """
    exact = value if isinstance(value, Fraction) else Fraction(value)
    if is_short(exact):
        return exact
    simple = exact.limit_denominator(LARGEST_DENOMINATOR)
    if simple and abs(simple - exact) <= EQUAL * abs(exact):
        return simple
    return Fraction(f"{float(exact):.15g}")


def is_short(value: Fraction) -> bool:
    """Whether a number is written exactly in about as many digits as a measured one."""
    return abs(value.numerator) < SHORT and value.denominator < SHORT


def is_simple(value: Fraction) -> bool:
    """Whether a number is a small integer or a fraction of small ones."""
    return max(abs(value.numerator), value.denominator) <= SMALL_INTEGER


def awkwardness(value: Fraction) -> int:
    """How much there is to read in a number: integers are plainest, then 1/q and decimals, then
    other fractions.

    Examples
    --------
    >>> awkwardness(Fraction(3)) < awkwardness(Fraction(3, 10)) < awkwardness(
    ...     Fraction(10, 3)
    ... ) < awkwardness(Fraction("0.173"))
    True
    """
    if not is_simple(value):
        return 1000
    size = abs(value.numerator) + value.denominator
    if value.denominator == 1:
        return size
    return size + (20 if abs(value.numerator) == 1 or 100 % value.denominator == 0 else 60)


def split_power(base: Fraction, exponent: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """A power of a positive number, or a whole power of any, as a number times a power that stays:
    number, base, exponent.

    The base that stays is 1 if nothing does.

    Examples
    --------
    >>> [str(part) for part in split_power(Fraction(8), Fraction(1, 2))]
    ['2', '2', '1/2']
    >>> [str(part) for part in split_power(Fraction(1, 2), Fraction(-3))]
    ['8', '1', '1']
    """
    if exponent.denominator == 1:
        return _whole_power(base, int(exponent)), ONE, ONE
    if base < 0:
        raise ArithmeticError(f"{base} to the power {exponent} is not real")
    if base == 0:
        return _whole_power(base, 1 if exponent > 0 else -1), ONE, ONE
    whole, part = floor(exponent), exponent - floor(exponent)
    root = Fraction(float(base) ** float(part)).limit_denominator(LARGEST_DENOMINATOR)
    if root and abs(float(root) - float(base) ** float(part)) <= EQUAL * float(root):
        return plain(root * _whole_power(base, whole)), ONE, ONE
    if not is_short(base) or not is_short(exponent):
        return plain(float(base) ** float(exponent)), ONE, ONE
    if not is_simple(base):
        return ONE, base, exponent
    if part == Fraction(1, 2):
        # Fractions leave the root: sqrt(1/2) is sqrt(2)/2, and squares too: sqrt(8) is 2*sqrt(2).
        radicand = base.numerator * base.denominator
        side = max(k for k in range(1, SMALL_INTEGER + 1) if radicand % (k * k) == 0)
        return (
            plain(_whole_power(base, whole) * Fraction(side, base.denominator)),
            Fraction(radicand // (side * side)),
            part,
        )
    return _whole_power(base, whole), base, part


def _whole_power(base: Fraction, exponent: int) -> Fraction:
    if base == 0 and exponent < 0:
        raise ArithmeticError("division by zero")
    if abs(exponent) <= LARGEST_EXACT_POWER:
        return plain(base**exponent)
    return plain(float(base) ** exponent)
