"""Numbers that print well: simple fractions, decimals of at most 15 digits, and their powers."""

from fractions import Fraction
from math import floor

from closedform.canonical.tolerances import EQUAL, LARGEST_EXACT_POWER, SHORT
from closedform.expressions.tolerances import LARGEST_DENOMINATOR, SMALL_INTEGER

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
