"""The numbers of the choice, with their reasons."""

FACTOR = 2.0
"""How much each added term or constant must lower the misalignment (calibrated, see
docs/verdict.md).
"""

NOISE_SHARE = 0.7
"""Share of the estimated independent noise that no formula can explain, and that is taken off
before ratios are formed.
"""

CONSTANT_FACTOR = 1.5
"""How much a fitted number must lower the misalignment, compared with the same formula with a plain
one. A network's bias moves the best constants: plain ones that are true were seen to cost a tenth.
"""

MOST_ERRORS, SIGNIFICANT = 8.0, 1e-6
"""A plain number further away than so many standard errors (three, and the bias of networks, which
is not in them) gives way to any gain that is significant."""

NATS_PER_UNIT, BIAS_FACTOR = 0.2, 5.0
"""What a unit of complexity has to gain where neighbouring points share what is left, as the
logarithm of a factor, and the factor that is enough for any length. A richer formula fits some of a
network's bias: one term more of eight units was seen to lower it up to four times, and a true one
lowers it ten times or more.
"""

CLEAR_STEP, STEPS_BEYOND = 0.9, 2
"""A clear step lowers the misalignment to this share of the best before. So many steps beyond the
first contender that none beats get canonical forms and variants too, for a variant may turn the
choice."""

LINEAR_DEGREES, LINEAR_NATS = 0.25, 0.45
"""A linear formula that fits within this angle gives way to a curved one only if each unit that
this is longer gains so much, as the logarithm of a factor: as much as true formulas gain from
chance on. Networks trained on linear targets are linear to 0.05 to 0.2 degrees, and longer formulas
follow the rest of them at 0.1 to 0.16 for each unit.
"""

N_RESAMPLES, CONFIDENCE = 400, 0.95
"""Of the bootstrap over regions: its ends of the interval are known to a percent."""

MOST_CONTENDERS, VARIANTS = 20, 3
"""Contenders that are judged by region, in all and of one form; each costs a fit for every
region.
"""

SHORT_FORM = 24
"""Variants of at most so many nodes get a canonical form of their own; longer ones are as tidy as
what they come from.
"""

FITTING_HELPS = 0.9
"""Plain numbers are fitted where that lowers the misalignment at least to this share."""

ROUNDED_AWAY, FEW_DIGITS = 1e-16, range(2, 5)
"""A misalignment is the square of an error: below the first it is rounding, which hides all but
eight digits of a constant. So only numbers of few digits, 0.3 and 2.998, are told from fits that
end beside them; 9.869604 may be the square of pi."""

SMALL_CONSTANT = 0.25
"""Fitted constants below this are also tried as 0."""

NEAR_BEST = 3.0
"""A form stays in the running while its misalignment is within this factor of the best before it in
the rule's order: no rule prefers what fits three times worse and comes later."""

N_REGIONS = 24
"""Neighbouring points share a network's error, so regions are the unit; with 24 the errors of the
jackknife are known to about a seventh.
"""

SMALLEST_REGION = 5
"""A region has at least so many points on average; with fewer points there are fewer regions."""

REFIT_STEPS = 4
"""Constants hardly move when a region is left out, so few steps find them again."""

MOST_IN_CHOICE = 1500
"""Points that the choice compares on: each contender is fitted again without each of two dozen
regions.
"""

MATERIAL_DEGREES = 0.1
"""Networks that were trained to a relative error of 0.1% have directions that are wrong by about
as much.
"""

FITTED_BITS = 5.0
"""What a fitted number takes to be written: networks carry constants to a few per cent."""
