"""The precision at which concepts are compared, and what SymPy is spared."""

DEFAULT_BOX = (-2.0, 2.0)
"""Where inputs lie if no domain is given."""

DIGITS, MORE_DIGITS = 60, 90
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
