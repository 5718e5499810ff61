"""Numbers that the search believes in, each with its reason."""

RESOLVED = 1.5
"""Degrees of noise that points must be able to tell for the field's own estimate of its noise to be
believed; with fewer points a curved field seems noisy."""
