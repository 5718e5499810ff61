"""Numbers that the search believes in, each with its reason."""

REVERSED = 1e-3
"""Share of a field in which a formula may fall while it rises elsewhere: a network's gradient turns
around at a few points where it nearly vanishes."""

FEWER_REVERSED = 0.25
"""A square or a root takes a formula's place if it leaves at most this share of the reversals."""

NEAREST_TO_ZERO = 0.01
"""Share of the points, those nearest to where a formula changes its sign, that tell a zero from a
pole."""

DEFINED = 0.95
"""Share of the points at which a formula or a quantity must be finite and have a slope."""

RESOLVED = 1.5
"""Degrees of noise that points must be able to tell for the field's own estimate of its noise to be
believed; with fewer points a curved field seems noisy."""
