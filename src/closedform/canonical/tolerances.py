"""The tolerances and limits of canonical forms, of snapping, and of comparing two concepts.

The limits keep the median time of a form at 13 ms (``python bench/scripts/canonical_forms.py``).
None of them can make an answer wrong: every form is compared with the formula on the data.
"""

from fractions import Fraction

EQUAL = Fraction(1, 10**12)
"""Numbers that differ relatively by no more are equal: rounding, ten thousand times."""

SHORT = 10**8
"""Numerators and denominators below this are written exactly: no more digits than a measured
number has."""

LARGEST_EXACT_POWER = 8
"""Whole powers of numbers up to this one are exact; higher ones are decimals."""

LONGEST_CONSTANT = 4
"""Nodes of a constant that keeps its form, such as exp(1/3); longer ones become decimals."""

MAX_NODES = 300
"""Longer formulas come back as they are."""

MAX_TERMS = 80
"""Longer sums are not formed."""

MOST_EXPANDED = 16
"""Brackets are multiplied out only if this gives no more terms than these or those before."""

LARGEST_EXPANDED_POWER = 4
"""Powers of brackets up to this one are multiplied out."""

MOST_GROUPED = 24
"""Common factors are looked for in sums of no more terms: every pair of terms is compared."""

MOST_GROUPINGS = 4
"""Ways to take out a common factor that are spelled out, those that save most first."""

MOST_ROOT_TERMS = 6
"""Terms of a sum whose square is recognised."""

MOST_DIVIDED = 6
"""Terms of which every selection is tried; of longer sums one or two terms are left out."""

MOST_VISITED = 16
"""Forms from which others are derived."""

MAX_ROUNDS = 6
"""How often a form is simplified again; if it still changes then, the formula stays as it was."""

SLACK = 6
"""Forms more complex than the best by more than this, the cost of sin(x), lead nowhere."""

HOPELESS = 3
"""Forms that are so many times as complex before common factors are taken out are not looked at."""

FEW = 4
"""Sums of no more terms are always looked at."""

SAMPLE_POINTS = 400
"""Points on which forms are compared during the search; the last one is compared on all."""

COMPATIBLE = 3.0
"""Standard errors within which a number can be the true value, of a constant or of anything."""

CHANCE_HITS = 0.05
"""Multiples of pi, e and the root of 2 are proposed only if fewer would be met by chance."""

LARGEST_DISTANCE = 0.25
"""Without standard errors, constants move by at most this, relative to their size or to 1."""

NEAR_INSIDE = 0.05
"""How far log(c/k) may be from a simple number for c to be proposed as k times exp of it."""

IDLE = 1e-3
"""Share of its argument by which an odd function may differ from it and do nothing: the sine of
less than 0.077. A network whose values are right to 0.1% does not tell them apart."""

LONGEST_DENOMINATOR = 1000
"""Of an exact field, numbers within the rounding of a fit (1e-9) of a fraction with no larger
denominator are that fraction: one in a thousand would be by chance."""

DIGITS = 7
"""Digits of a decimal that somebody wrote; a product of two has no more."""

LARGEST_ARGUMENT = 100
"""Numerators and denominators of fractions that somebody took the logarithm of."""

DEFAULT_BOX = (-2.0, 2.0)
"""Where inputs lie if no domain is given."""

ROUGH_DIGITS, FINE_DIGITS = 60, 90
"""Two working precisions: what shrinks from one to the other is rounding, not a gradient."""

PARALLEL_DIGITS = 40
"""Gradients that agree to so many digits are parallel: fewer than the working precision by what
cancellation may take."""

PRECISE_POINTS = 25
"""How many points are compared at high precision where no proof is found."""

MAX_WHOLE_EXPONENT = 200
"""Expressions with larger whole exponents are not expanded: SymPy would not be done in time."""

LARGEST_NUMBER = 10_000
"""Forms with larger numerators or denominators are not simplified by all means: SymPy combines
logarithms then, and so writes out powers of the size of these numbers."""
