"""Numbers that print well: simple fractions and decimals of at most 15 digits, and powers of them."""

from fractions import Fraction
from math import isqrt

LARGEST_DENOMINATOR = 64
"""Fractions up to this denominator are kept as fractions; others become decimals."""

_EQUAL = Fraction(1, 10**12)
_LARGEST_RADICAND = 10
_LARGEST_EXACT_POWER = 8


def plain(value: Fraction | float) -> Fraction:
    """The simple fraction that a number is up to rounding, or else the number to 15 digits.

    Examples
    --------
    >>> plain(0.49999999999999994), plain(Fraction(1000, 173))
    (Fraction(1, 2), Fraction(23121387283237, 4000000000000))
    """
    exact = value if isinstance(value, Fraction) else Fraction(value)
    if exact.denominator <= LARGEST_DENOMINATOR and abs(exact.numerator) < 10**15:
        return exact
    simple = exact.limit_denominator(LARGEST_DENOMINATOR)
    if simple and abs(simple - exact) <= _EQUAL * abs(exact):
        return simple
    return Fraction(f"{float(exact):.15g}")


def is_simple(value: Fraction) -> bool:
    """Whether a number is a small integer or a fraction of small ones."""
    return value.denominator <= 12 and abs(value.numerator) <= 12


def awkwardness(value: Fraction) -> int:
    """How much there is to read in a number: integers are plainest, then simple fractions.

    Examples
    --------
    >>> awkwardness(Fraction(3)) < awkwardness(Fraction(1, 3)) < awkwardness(Fraction("0.173"))
    True
    """
    return abs(value.numerator) + 20 * (value.denominator - 1) if is_simple(value) else 1000


def power(base: Fraction, exponent: Fraction) -> tuple[Fraction, int]:
    """A power of a number as a number times the square root of a small integer (1 if there is none).

    Raises
    ------
    ArithmeticError
        If it is not a real number.

    Examples
    --------
    >>> power(Fraction(8), Fraction(1, 2)), power(Fraction(1, 2), Fraction(-3))
    ((Fraction(2, 1), 2), (Fraction(8, 1), 1))
    """
    if exponent.denominator == 1 and abs(exponent) <= _LARGEST_EXACT_POWER:
        return plain(base ** int(exponent)), 1
    if base < 0 and exponent.denominator != 1:
        raise ArithmeticError(f"{base} to the power {exponent} is not real")
    if base == 0:
        if exponent < 0:
            raise ArithmeticError("division by zero")
        return base, 1
    radicand = base.numerator * base.denominator
    if exponent.denominator == 2 and radicand <= _LARGEST_RADICAND and abs(exponent) <= _LARGEST_EXACT_POWER:
        square = max(k * k for k in range(1, isqrt(radicand) + 1) if radicand % (k * k) == 0)
        root = Fraction(isqrt(square), base.denominator)
        return plain(root * base ** int(exponent - Fraction(1, 2))), radicand // square
    return plain(float(base) ** float(exponent)), 1
