"""What a true merge may lose: rounding in an exact field, the noise of a direction in a noisy one,
and a network's bias where neither explains what the best merge loses.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import KDTree

from closedform.field.alignment.tolerances import ROUNDING
from closedform.field.findings import Quality
from closedform.searching.structure_search.finder import Finder
from closedform.searching.structure_search.merges import Merge
from closedform.searching.structure_search.power_laws import find_conditional
from closedform.searching.structure_search.profiles import SPLINED
from closedform.searching.structure_search.quantities import (
    BIASED_YARDSTICK,
    USUAL_YARDSTICK,
    Data,
    State,
    Yardstick,
    make_quantity,
    substitute,
)

RESOLVED = 1.5
"""Degrees of noise that points must be able to tell for the field's own estimate of its noise to be
believed; with fewer points a curved field seems noisy."""

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

MOST, LITTLE = 0.8, 0.1
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

    A step is what a true merge may lose, and the share of the budget after which merging at that
    level ends; None stands for the engine's own.
    """

    steps: tuple[tuple[float, float | None], ...]
    bias: float = ROUNDING  # the level of a network's bias
    is_biased: bool = False  # whether the field seems to be a network's
    is_structured: bool = True  # more speaks for the best merge than for two inputs at random
    is_known: bool = True  # a formula as good as the level ends the search

    def yardstick(self, level: float) -> Yardstick:
        """How descriptions are measured while merges may lose so much."""
        if level <= ROUNDING:
            return USUAL_YARDSTICK
        if self.is_biased:
            return replace(BIASED_YARDSTICK, floor=level / BIAS_TOLERANCE)
        return Yardstick(floor=level / 10)


EXACT = LossTolerances(((ROUNDING, None),))
"""Of a field in which merges lose nothing."""


def resolved_noise(quality: Quality) -> float:
    """The misalignment that the directions' noise causes, or 0 where the points lie too far from
    each other to tell.
    """
    resolution = quality.noise_resolution_degrees
    is_told = resolution is not None and resolution <= RESOLVED
    return quality.noise_misalignment if is_told else 0.0


def find_levels(
    finder: Finder, start: State, quality: Quality, has_latents: bool
) -> LossTolerances:
    """First rounding, then the noise of one direction, by the field's estimate or by the best
    merge.

    A network is biased and has no noise that its neighbouring points could show. So where nothing
    merges exactly, the merge for which most speaks says what a true one loses. OutOfTimeError if
    the budget is over before it is known.
    """
    found, evidence, shared = _best_merge(finder, start)
    n_across = max(len(finder.data.names) - 1, 1)
    if found == 0:
        return EXACT
    if resolved_noise(quality) > UNSEEN:
        noise = quality.noise_misalignment / n_across
        return LossTolerances(((TOLERANCE * max(noise, min(found, 4 * noise)), None),))
    if evidence > WEAK and shared < NOISY and _may_be_noise(found * n_across, quality):
        exact = ((ROUNDING, None),) if found < SPLINED else ()
        return LossTolerances((*exact, (TOLERANCE * found, None)))
    bias, is_structured = max(ROUNDING, BIAS_TOLERANCE * found), evidence > WEAK
    exactly = LITTLE if has_latents else MOST
    # Hardly any structure in a network: a look is enough.
    brief = BRIEF if has_latents else MOST
    steps = ((ROUNDING, exactly), (bias, None)) if is_structured else ((ROUNDING, brief),)
    # A level that was taken from a merge ends a search only if much speaks for that merge.
    is_known = evidence > STRONG and found < CARRIED
    return LossTolerances(steps, bias, True, is_structured, is_known)


def _best_merge(finder: Finder, start: State) -> tuple[float, float, float]:
    """What a true merge loses, by the merge of two inputs for which most speaks, how much speaks
    for it, and the share of the loss that neighbouring points have in common.

    Every true merge of two inputs loses the noise of one direction, whichever it is. The first is 0
    if some are exact.
    """
    merges = [*finder.of_pairs(start, wider=False), *find_conditional(finder.data, start)]
    if any(merge.loss < ROUNDING for merge in merges):
        return 0.0, np.inf, 0.0
    with finder.at_any_loss():
        merges += finder.of_pairs(start, wider=False)
    best = max(merges, key=lambda merge: merge.evidence(ROUNDING), default=None)
    if best is None:
        return 0.0, 0.0, 0.0
    return best.loss, best.evidence(ROUNDING), _shared(finder.data, start, best)


def _shared(data: Data, start: State, merge: Merge) -> float:
    """The share of a merge's loss that nearest neighbours have in common, in its two inputs or in
    all of them: none of it if the loss is noise.
    """
    chosen = list(merge.places)
    parts = [quantity.tree for quantity in start.quantities]
    new = make_quantity(data, substitute(merge.tree, parts))
    if new is None:
        return 1.0
    own = np.stack(
        [(start.quantities[place].units * new.units).sum(axis=1) for place in chosen], axis=1
    )
    own /= np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-300)
    slopes = start.slopes[:, chosen]
    left = slopes[:, 0] * own[:, 1] - slopes[:, 1] * own[:, 0]
    total = float(data.weights @ left**2)
    if not total > 0:
        return 1.0
    values = np.stack([quantity.values for quantity in start.quantities], axis=1)
    values = values / values.std(axis=0)
    shares = []
    for near in (values[:, chosen], values):
        nearest = np.asarray(KDTree(near).query(near, 2)[1])[:, 1]
        shares.append(float(data.weights @ (left * left[nearest])) / total)
    return max(shares)


def _may_be_noise(misalignment: float, quality: Quality) -> bool:
    """Whether the field's own estimate allows for so much noise."""
    if quality.noise_degrees is None or quality.noise_resolution_degrees is None:
        return True
    degrees = np.rad2deg(np.sqrt(misalignment))
    return bool(
        quality.noise_degrees > degrees / 2 or quality.noise_resolution_degrees > 4 * degrees
    )
