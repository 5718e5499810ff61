"""Where reading a network draws its lines: each number once, with its reason."""

MAX_POINTS = 5000
"""Points that are taken by default: a few thousand directions decide a concept."""

MAX_RADIUS = 0.05
"""Largest radius of smoothing, as a share of the spread of each input: the bias grows with its
square. From ``python bench/scripts/smoothing_gain.py``."""

ROUGH = 1e-2
"""Median error of finite differences, as a share of the gradient, above which a function is called
rough: it moves directions by half a degree."""
