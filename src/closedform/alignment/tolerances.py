"""The tolerances of every comparison in the package, and those of the fits in this room.

What all rooms mean by 'rounding', 'perfect' and 'same' stands here and nowhere else. A
misalignment is a squared sine, so 1e-12 is an angle of 1e-6.
"""

ROUNDING = 1e-12
"""Misalignment that rounding alone causes: smaller values are not compared with each other.

Writing a formula in another way moves its misalignment by up to about 1e-13.
"""

PERFECT = 1e-10
"""Misalignment up to which a fitted formula is as good as a formula can be.

Fits stop short of rounding, so this is larger than ``ROUNDING``; better ones are not looked for.
"""

SAME = 1e-9
"""What may lie between two results that are the same.

For numbers it is the relative difference that two ways of computing them leave; for formulas it is
their misalignment to each other.
"""

ZERO_SHARE = 1e-20
"""Share of a squared length that is zero: that of a part 1e-10 as long as the whole."""

DEPENDENT = 1e-7
"""Terms of unit length that span less than this squared length in some combination depend on each
other.

The square root, 3e-4, is what the moments of a few thousand points still tell from zero.
"""

LARGEST_FITTED = 1e3
"""Fitted constants do not leave this range: limit forms such as 1e6*(1 + 1e-6*x) are no concepts."""

TRIM = 0.05
"""Share of the worst points that the trimmed mean leaves out: a network is bad somewhere."""
