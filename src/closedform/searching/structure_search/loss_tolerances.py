"""What a true merge may lose: rounding in an exact field, the noise of a direction in a noisy one,
and a network's bias where neither explains what the best merge loses.
"""

from dataclasses import dataclass, replace

import numpy as np

from closedform.field.alignment.tolerances import ROUNDING
from closedform.field.quality import Quality
from closedform.searching.structure_search.decomposition_beam import DecompositionBeam
from closedform.searching.structure_search.quantities import State
from closedform.searching.structure_search.yardstick import (
    BIASED_YARDSTICK,
    USUAL_YARDSTICK,
    Yardstick,
)
from closedform.searching.tolerances import RESOLVED

TOLERANCE = 1.5
"""A merge may lose so many times what noise makes a true one lose; some noise is always estimated
too small.
"""

BIAS_TOLERANCE = 4.0
"""The same for a network, whose bias is not alike everywhere."""

UNSEEN = 1e-7
"""Misalignment by noise that is as good as none."""

WEAK, BRIEF = 2.5, 0.25
"""Evidence below which two inputs at random look much like the best two, and the share for merging
then.
"""

NOISY = 0.15
"""What the best merge loses is noise if neighbouring points have less of it in common."""

HALF, LITTLE = 0.45, 0.1
"""Share of the budget for exact merges where nothing tells an exact field from a network, and where
the field has a latent's values, as that of a network has.
"""

STRONG, CARRIED = 4.0, 1e-3
"""Evidence with which the best merge's loss is believed to be the network's bias, and what that may
be at most.
"""


@dataclass(frozen=True, slots=True)
class LossTolerances:
    """What merges may lose, step by step.

    Attributes
    ----------
    steps : tuple of (float, float or None)
        What a true merge may lose, and the share of the budget after which merging at that level
        ends; None for the engine's own.
    bias : float
        The level of a network's bias.
    is_biased : bool
        Whether a network's bias seems to be in the field.
    is_structured : bool
        Whether more speaks for the best merge than for two inputs at random.
    is_known : bool
        Whether a formula as good as the level ends the search.
    """

    steps: tuple[tuple[float, float | None], ...]
    bias: float = ROUNDING
    is_biased: bool = False
    is_structured: bool = True
    is_known: bool = True

    def yardstick(self, level: float) -> Yardstick:
        """How descriptions are measured while merges may lose so much."""
        if level <= ROUNDING:
            return USUAL_YARDSTICK
        if self.is_biased:
            return replace(BIASED_YARDSTICK, floor=level / BIAS_TOLERANCE)
        return Yardstick(floor=level / 10)


EXACT = LossTolerances(((ROUNDING, None),))
"""Of a field in which merges lose nothing."""


def find_levels(
    beam: DecompositionBeam, start: State, quality: Quality, *, has_latents: bool
) -> LossTolerances:
    """First rounding, then the noise of one direction, by the field's estimate or by the best
    merge.

    A network is biased and has no noise that its neighbouring points could show. So where nothing
    merges exactly, the merge for which most speaks says what a true one loses.

    Raises
    ------
    OutOfTimeError
        If the budget is over before the best merge is known.
    """
    found, evidence, shared = beam.find_level(start)
    n_across = max(len(beam.data.names) - 1, 1)
    resolution = quality.noise_resolution_degrees
    if found == 0:
        return EXACT
    if resolution is not None and resolution <= RESOLVED and quality.noise_misalignment > UNSEEN:
        noise = quality.noise_misalignment / n_across
        return LossTolerances(((TOLERANCE * max(noise, min(found, 4 * noise)), None),))
    if evidence > WEAK and shared < NOISY and _may_be_noise(found * n_across, quality):
        return LossTolerances(((TOLERANCE * found, None),))
    bias, is_structured = max(ROUNDING, BIAS_TOLERANCE * found), evidence > WEAK
    # Hardly any structure, or an exact one that is hidden: a look is enough.
    exactly = LITTLE if has_latents else HALF
    steps = ((ROUNDING, exactly), (bias, None)) if is_structured else ((ROUNDING, BRIEF),)
    # A level that was taken from a merge ends a search only if much speaks for that merge.
    is_known = evidence > STRONG and found < CARRIED
    return LossTolerances(steps, bias, True, is_structured, is_known)


def _may_be_noise(misalignment: float, quality: Quality) -> bool:
    """Whether the field's own estimate allows for so much noise."""
    if quality.noise_degrees is None or quality.noise_resolution_degrees is None:
        return True
    degrees = np.rad2deg(np.sqrt(misalignment))
    return bool(
        quality.noise_degrees > degrees / 2 or quality.noise_resolution_degrees > 4 * degrees
    )
