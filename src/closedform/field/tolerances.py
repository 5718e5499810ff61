"""Where a field draws its lines: each number once, with its reason.

Those under the first heading can change an answer, and every answer records them
(`closedform.judge.thresholds`). Those under the second only decide what a user is
told.
"""

# What can change an answer.

LARGEST = 1e50
"""Inputs, scales, latents and weights beyond this are refused, and scales and weights below its
inverse too. Products of six of them would overflow or vanish, and then formulas and their gradients
cannot be computed: far beyond it a wrong formula can be verified, because what would refute it
vanishes."""

SINGLE_PRECISION = 1e-6
"""What single precision, in which networks compute, leaves of an exact 0: relative singular values
below it are rounding, gradients of constraints that are nearer depend on each other, and bases that
are nearer to orthonormal are orthonormal."""

CONSTANT_INPUT = 1e-12
"""An input that varies by less than this share of its size is constant: double precision leaves
four digits of such a variation."""

AFFINE = 1e-5
"""Directions in which the data varies by less than this share of its largest variation are affine
constraints: exact ones, but for the rounding of data that is stored in single precision."""

FAR_POINTS = 10.0
"""Points beyond so many median distances from the centre are drawn in before directions are told
from the data: a few outliers must not make all other variation look small."""

LEAST_GAP = 3.0
"""A spectrum is cut at its largest gap, if that is at least this factor."""

AMBIGUOUS_GAP = (2.0, 6.0)
"""Gaps between these, a factor of about 2 around the least one, are reported as not clear."""

POOLED_QUANTILE = 0.9
"""Of the points' singular values: a tenth of bad points does not add a direction, and a direction
that a tenth of the points shows is seen (rectified latents are flat elsewhere)."""

LOW_RANK = 1e-2
"""A point at which the last counted singular value is below this share of the usual one has lower
rank."""

FLAT = 1e-30
"""Gradients below this share of the largest (below this, where one neuron is looked at alone) are
zero. It is far below rounding: saturated neurons have small gradients of exact direction."""

ROUNDED_AWAY = 1e-10
"""A gradient of which the tangent space leaves less than this share is rounding."""

RESIDUAL_VANISHES = 1e-8
"""The same for what a found concept leaves: its constants are fitted, which costs digits."""

BENDING = 8.0
"""How much a variance of heights by curvature weighs against one by noise when the size of a
neighbourhood is chosen; from ``python bench/scripts/tangent_planes.py``."""

UNBENT = 1e-6
"""Share of the normal directions of a neighbourhood below which it is flat; rounding leaves 1e-8,
the square root of what it leaves of a variance, and curved data a thousandth and more."""

# What decides what a user is told.

HOLDS = 0.05
"""A stated constraint that varies by more than this share of what its gradient allows is not
constant on the data."""

UNEXPLAINED = 1e-3
"""Share of an input's variance that may be left if it is a function of the others."""

DEAD_SHARE = 0.98
"""A neuron without a gradient at so many points is dead: what is left is too few to read."""

NOTABLE_SHARE = 0.05
"""From this share on, points that do not count (no gradient, lower rank) are worth a warning."""

DUPLICATE_SHARE = 0.01
"""From this share on, repeated points are: a copy on the other side of a split hides errors."""

SATURATED_ORDERS = 6.0
"""Orders of magnitude of gradients at which single precision has no digits left for the small."""

IRRELEVANT_SHARE = 1e-3
"""Inputs with less than this part of an equal share of the directions' energy hardly matter."""

SCALE_RATIO = 1e3
"""Spreads of inputs that differ by more make constants of formulas extreme."""

NOISE_DEGREES = 5.0
"""Noise from which on directions are called noisy."""

TOO_MANY_INPUTS = 64
"""With more, neighbours are too far apart to tell noise from trend, and searches, which go through
pairs of inputs, take minutes."""

ARBITRARY_SIGNS = 0.25
"""Share of neighbours that point against each other from which signs mean nothing: a half of
arbitrary ones do, and of a field's own signs few."""

FEWEST_POINTS, POINTS_PER_INPUT = 100, 10
"""With fewer usable points a concept cannot be told from chance."""

MOST_LOOKED_AT = 10_000
"""Points on which a field's quality is estimated: what none of them shows holds, with 95%
confidence, at fewer than 3 in 10,000 of all."""
