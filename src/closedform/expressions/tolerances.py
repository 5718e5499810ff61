"""The limits of what expressions hold, and the tolerances of this room.

Limits of texts and trees keep every walk over one, and every error message, short; no formula that
a person writes comes near them.
"""

from fractions import Fraction

MAX_LENGTH = 100_000
"""Longest text that is read, in characters."""

MAX_NESTING = 200
"""Deepest nesting of parentheses, signs and powers that is read."""

MAX_SIZE = 10_000
"""Largest number of nodes in a tree."""

LONGEST_NAME = 200
"""Characters of the longest name of an input."""

LARGEST_CONSTANT = 10**300
"""Constants lie within this bound, so that each has a finite floating-point value."""

SMALLEST_CONSTANT = Fraction("5e-324")
"""Constants other than 0 are at least this large, so that none has the floating-point value 0."""

SHORT_DECIMAL = 40
"""Significant digits up to which a number is written as a decimal rather than as a quotient."""

MAX_DIGITS = 380
"""Most significant digits of a decimal that no quotient of two constants can stand for."""

LONGEST_NUMBER = MAX_DIGITS + 20
"""Longest text of a number, in characters: its digits, a point, a sign and an exponent."""

LARGEST_DENOMINATOR = 64
"""Fractions up to this denominator are written as fractions; others are measured numbers."""

SIMPLE_DENOMINATOR = 4
"""People write fractions up to this denominator, so fits leave them alone and constants are
snapped to them."""

SMALL_INTEGER = 12
"""Integers up to this one, and fractions of them, are numbers that people write."""

MAX_EXPONENT = 1000
"""Exponents with a larger numerator or denominator do not go through SymPy as fractions, whose
roots it would write out."""

MAX_POWER_BITS = 20_000
"""A power of numbers whose exact value needs more bits than this is not computed."""

STEP = 1e-6
"""Of central differences, in units of an operand around 1: about the cube root of rounding, where
the errors of step and rounding meet."""

SLOPE_TOLERANCE = 1e-4
"""How far a user's slope may be from a difference of the values, relative to 1 plus its size."""
