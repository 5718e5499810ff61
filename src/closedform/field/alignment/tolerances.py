"""The tolerances of every comparison in the package, and those of the fits in this room.

What all rooms mean by 'rounding', 'perfect' and 'same' stands here and nowhere else. A
misalignment is a squared sine, so 1e-12 is an angle of 1e-6.
"""

ROUNDING = 1e-13
"""Misalignment that rounding alone may cause: smaller values are not compared with each other.

Two spellings of one formula differ by up to 1e-15 (canonical forms of 250 random formulas of 12
nodes); the rest is room for long sums that nearly cancel."""

PERFECT = 1e-10
"""Misalignment up to which a fitted formula is as good as one can be.

A fit stops short of rounding, so this is larger than ``ROUNDING``; nothing better is looked for."""

SAME = 1e-9
"""What may lie between two results that are the same.

For numbers it is the relative difference that two ways of computing them leave; for formulas it is
their misalignment to each other."""

ZERO_SHARE = 1e-20
"""Share of a squared length that is zero: that of a part 1e-10 times as long as the whole."""

DEPENDENT = 1e-7
"""Terms of unit length that span less than this squared length in some combination depend on each
other. Rounding of the moments, 1e-16, is divided by it: what is left is good to 1e-9."""

SETTLED = 0.995
"""A reweighting of the coefficients' eigenproblem that leaves more of the misalignment than this
share is the last."""

DAMPINGS = (1e-1, 1e-2, 1e-4, 1e-7)
"""Added to the squared slopes by which points are reweighted, in units of their median, turn by
turn: otherwise the points at which a first guess is flat would take all the weight."""

LARGEST_FITTED = 1e3
"""Fitted constants do not leave this range: limit forms such as 1e6*(1 + 1e-6*x) are not concepts.
"""

MOST_FITTED = 10
"""Constants of a tree that are fitted; the others stay. It is the size of the fit's work arrays."""

TRIM = 0.05
"""Share of the worst points that the trimmed mean leaves out: a network is bad somewhere."""
