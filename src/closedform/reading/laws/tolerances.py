"""The numbers of this room."""

EXACT_CHANGE = 1e-6
"""Largest change of a law along motions that are known exactly, relative to its spread: integrators
and differences leave 1e-7, and a formula that is almost a law a hundred times that."""

LAW = 1e-3
"""Largest systematic change of what counts as a law. The energies of planets, which disturb each
other, change by 1e-4; what is conserved because orbits are nearly circular, by their eccentricity.
"""

LAW_OF_COMPUTED = 1e-4
"""The same where velocities or steps are computed: nothing but rounding disturbs them, which is
1e-6 in single precision."""

LITTLE = 0.01
"""What changes by less is nearly conserved, and the simplest of it is told first."""

NEARLY = 0.1
"""Largest change of what is worth telling as nearly conserved."""

HARDLY = 0.05
"""A quantity whose spread is this share of what its gradients allow hardly varies on the data."""

ONE_VALUE, CLEARLY = 1e-3, 5.0
"""What varies by less than this share of what its gradients allow, or than so many times its own
change, has one value on the data."""
