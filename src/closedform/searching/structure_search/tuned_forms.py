"""Forms tuned to a profile: constants inside functions of one quantity, by regression.

All forms and starts are stepped at once, and a constant that stands twice in a form moves in both
places.
"""

from collections.abc import Iterator

import numpy as np

from closedform.arrays import FloatArray
from closedform.searching.structure_search.forms import (
    Forms,
    constants_of,
    cost_of,
    evaluated,
    form_slopes,
)
from closedform.searching.structure_search.profiles import Profile
from closedform.searching.structure_search.quantities import Quantity
from closedform.searching.structure_search.yardstick import Yardstick

STARTS, TUNED, KEPT = 2, 14, 30
"""Starts of each family, steps of their constants, and forms that are kept."""

LOOK, NEAR = 4, 120
"""Steps after which so many of the starts are followed."""

STEP = 1e-6
"""Of a constant whose effect is measured, as a share of it."""

TOO_STEEP = 1e100
"""In the place of slopes that are not finite; their squares are."""

DAMPING, EASED = 1e-2, 10.0
"""Of the first step, and what it is divided by after a good one, and multiplied by after others."""


def tuned(
    forms: Forms,
    quantity: Quantity,
    profile: Profile,
    yardstick: Yardstick,
    added: FloatArray | None = None,
) -> Forms:
    """The forms that describe a profile best, one of each family, with the constants that fit.

    Parameters
    ----------
    added : ndarray, shape (n_screened,), optional
        Slopes of which any multiple may be added to a form's.
    """
    weights = profile.weights
    target = profile.slopes * weights
    if added is not None:
        added = added * weights / np.linalg.norm(added * weights)
        target = target - (target @ added) * added
    size = np.linalg.norm(target)
    if not (np.isfinite(size) and size > 0) or not forms.forms:
        return forms.only(())
    unit = target / size

    def fitted(own: FloatArray) -> FloatArray:
        """Slopes as unit vectors, without what may be added."""
        with np.errstate(all="ignore"):
            own = np.nan_to_num(own * weights, nan=TOO_STEEP, posinf=TOO_STEEP, neginf=-TOO_STEEP)
            if added is not None:
                own = own - (own @ added)[:, None] * added
            return np.nan_to_num(own / np.linalg.norm(own, axis=1, keepdims=True))

    numbers = [*_best_starts(forms, np.abs(fitted(forms.slopes) @ unit))]
    families = [forms.forms[number].family for number in numbers]
    constants = np.array([forms.constants[number] for number in numbers])

    def off(families: list[str], trial: FloatArray) -> FloatArray:
        """What each form leaves of the profile, with the factor that fits."""
        with np.errstate(all="ignore"):
            own = fitted(form_slopes(families, trial, quantity)[1])
            return unit - (own @ unit)[:, None] * own

    has = np.array([[which in constants_of(family) for which in (0, 1)] for family in families])
    smallest = 1e-3 * np.abs(constants)
    left = off(families, constants)
    losses, damping = (left**2).sum(axis=1), np.full(len(numbers), DAMPING)
    for turn in range(TUNED):
        if turn == LOOK:
            # Steps are dear: what is far off by now is left out.
            near = np.sort(np.argsort(losses, kind="stable")[:NEAR])
            families = [families[k] for k in near]
            constants, has, smallest, left, losses, damping = (
                each[near] for each in (constants, has, smallest, left, losses, damping)
            )
        steps = STEP * np.maximum(np.abs(constants), smallest) * has
        slopes = np.stack(
            [(off(families, constants + steps * np.eye(2)[k]) - left) / STEP for k in (0, 1)],
            axis=1,
        )
        moments = slopes @ slopes.transpose(0, 2, 1)
        toward = np.einsum("fkn,fn->fk", slopes, left)
        diagonal = np.einsum("fkk->fk", moments)
        diagonal *= 1 + damping[:, None]
        diagonal += 1e-30
        with np.errstate(all="ignore"):
            # A step changes no constant by more than its own size.
            moved = np.clip(np.nan_to_num(-np.linalg.solve(moments, toward[:, :, None])), -1, 1)
        trial = constants + moved[:, :, 0] * steps / STEP
        new = off(families, trial)
        lost = (new**2).sum(axis=1)
        is_better = lost < losses
        constants = np.where(is_better[:, None], trial, constants)
        left = np.where(is_better[:, None], new, left)
        losses = np.where(is_better, lost, losses)
        damping = np.clip(np.where(is_better, damping / EASED, damping * EASED), 1e-12, 1e6)
    energy = float(size**2)
    costs = np.array([cost_of(family) for family in families], dtype=float)
    order = np.argsort(yardstick(losses * energy, costs), kind="stable")
    best = {families[k]: k for k in order[::-1]}
    kept = sorted(best.values(), key=order.tolist().index)[:KEPT]
    return evaluated([(families[k], *constants[k].tolist()) for k in kept], quantity)


def _best_starts(forms: Forms, met: FloatArray) -> Iterator[int]:
    """The constants of each family from which most of the profile is met."""
    taken: dict[str, int] = {}
    for number in np.argsort(-met, kind="stable").tolist():
        family = forms.forms[number].family
        taken[family] = taken.get(family, 0) + 1
        if taken[family] <= STARTS:
            yield number
