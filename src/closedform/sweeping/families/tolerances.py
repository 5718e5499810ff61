"""The numbers by which forms count as the same, with their reasons."""

TIMES_WORSE = 2.0
"""A form also holds where it is at most so many times worse than what was read there; the choice of
a concept pays for longer formulas by the same factor.
"""

MOVED = 3.0
"""Standard errors from which a constant counts as moved. The errors come from leaving out regions,
so they contain a network's own bias within the data, and not all of it.
"""
