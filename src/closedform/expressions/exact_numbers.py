"""Which numbers an expression can hold, and their text: what the parser reads back exactly."""

from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction

from closedform.expressions.tolerances import (
    LARGEST_CONSTANT,
    MAX_DIGITS,
    SHORT_DECIMAL,
    SMALLEST_CONSTANT,
)


def number_fault(value: Fraction) -> str | None:
    """Why no expression can hold a number; None if one can.

    Examples
    --------
    >>> number_fault(Fraction(1, 3)), number_fault(Fraction(10) ** -600)
    (None, 'is smaller than 5e-324, where floating-point numbers end')
    """
    above, below = abs(value.numerator), value.denominator
    if above <= LARGEST_CONSTANT and below <= LARGEST_CONSTANT:
        return None
    if above > LARGEST_CONSTANT * below:
        return "is larger than 1e300, where floating-point numbers end"
    if abs(value) < SMALLEST_CONSTANT:
        return "is smaller than 5e-324, where floating-point numbers end"
    if decimal(value, MAX_DIGITS) is None:
        return f"has more than {MAX_DIGITS} digits"
    return None


def number_text(value: Fraction) -> str:
    """The text of a number that an expression can hold: a decimal, or a quotient of integers.

    Examples
    --------
    >>> (
    ...     number_text(Fraction(1, 20)),
    ...     number_text(Fraction(-1, 3)),
    ...     number_text(Fraction(1, 10**310)),
    ... )
    ('0.05', '-1/3', '1e-310')
    """
    short = decimal(value)
    if short is not None:
        return short
    if value.denominator == 1:
        return str(value.numerator)
    if max(abs(value.numerator), value.denominator) <= LARGEST_CONSTANT:
        return f"{value.numerator}/{value.denominator}"
    return decimal(value, MAX_DIGITS) or f"{value.numerator}/{value.denominator}"


def decimal(value: Fraction, digits_at_most: int = SHORT_DECIMAL) -> str | None:
    """The exact decimal text of a number, or None if it has none of at most so many digits."""
    with localcontext(Context(prec=digits_at_most, traps=[Inexact])):
        try:
            exact = (Decimal(value.numerator) / Decimal(value.denominator)).normalize()
        except Inexact:
            return None
    if -5 <= exact.adjusted() <= 16:
        return f"{exact:f}"
    return f"{exact:e}".replace("e+", "e")
