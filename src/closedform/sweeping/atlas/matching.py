"""Two formulas compared when their inputs have different names: which input is which, the angle
between their directions, and whether other constants make one of the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment

from closedform.arrays import FloatArray
from closedform.expressions.complexity import constant_values
from closedform.expressions.expression import Expression
from closedform.field.alignment.refit import refit
from closedform.field.alignment.tolerances import SAME, TRIM
from closedform.field.gradient_field import GradientField
from closedform.judge.alignment import angles_in_degrees
from closedform.judge.neighbours.same_form import free_positions
from closedform.sweeping.atlas.probe_points import SPANS, InputProfile, log_directions, probe_points

N_COMPARED = 200
"""Points at which directions are compared: formulas that agree there agree."""

FEWEST_COMMON = 24
"""Points at which both must be finite, so that chance agreement is excluded."""

TIED = 0.3
"""Profiles of two inputs that exchange costs no more than this may be those of each other: many
times what the points' unevenness makes of equal ones.
"""

FIT_STEPS, FARTHEST = 40, 2.0
"""Steps of a fit of constants, and the factor by which a constant may change: beyond it a part of
the formula may be switched off, which makes another form.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two formulas with their inputs matched."""

    order: tuple[int, ...]  # for each input of the second formula, which of the first it is
    misalignment: float  # squared sine, without the worst points
    is_exact: bool  # whether one is an invertible function of the other, as directions say

    @property
    def degrees(self) -> float:
        """The misalignment as an angle."""
        return float(angles_in_degrees(np.array(self.misalignment)))


def compare_formulas(
    first: Expression, second: Expression, profiles: tuple[InputProfile, InputProfile]
) -> Comparison | None:
    """The second formula beside the first; None where they cannot be compared.

    profiles: of both, at one span.
    """
    rows, others = (profile.rows for profile in profiles)
    costs = np.linalg.norm(others[:, None, :] - rows[None, :, :], axis=2)
    order = linear_sum_assignment(costs)[1]
    span = SPANS[profiles[0].span]
    points = probe_points(len(rows), span, N_COMPARED)
    # In the second formula's columns, so that only the first is computed again for each order.
    target = log_directions(second, points)
    best = _misalignment(_turned(first, points, order), target)
    if best is None:
        return None
    # Inputs with like profiles may be matched the wrong way round, as in a*b + c*d.
    while best > SAME:
        tried = {
            tuple(changed): gap
            for changed in _exchanged(order, costs)
            if (gap := _misalignment(_turned(first, points, changed), target)) is not None
        }
        found = min(tried, key=lambda each: tried[each], default=None)
        if found is None or not tried[found] < best:
            break
        order, best = np.array(found), tried[found]
    is_exact = best < SAME and _agree(first, second, order, probe_points(len(rows), span))
    return Comparison(tuple(int(at) for at in order), best, is_exact)


def _exchanged(order: np.ndarray, costs: FloatArray) -> Iterator[np.ndarray]:
    """Orders with two inputs exchanged whose profiles do not speak against it."""
    own = costs[np.arange(len(order)), order]
    for i, j in combinations(range(len(order)), 2):
        if costs[i, order[j]] + costs[j, order[i]] <= own[i] + own[j] + TIED:
            changed = order.copy()
            changed[[i, j]] = changed[[j, i]]
            yield changed


def _agree(first: Expression, second: Expression, order: np.ndarray, points: FloatArray) -> bool:
    """Whether directions agree at all points, and everywhere with one sign."""
    gap = _misalignment(_turned(first, points, order), log_directions(second, points), trim=0.0)
    return gap is not None and gap < SAME and _keeps_sign(first, second, order)


def matched(
    first: Expression, second: Expression, order: Sequence[int]
) -> tuple[Expression, Expression, FloatArray | None]:
    """Both formulas of a comparison with the inputs of the second in their places, under names of
    the first, and points where both are finite without going beyond their domains.
    """
    one = first.rename(tuple(first.names[place] for place in order))
    other = Expression(second.tree, one.names)
    for span in SPANS:
        points = probe_points(len(one.names), span)
        gradients = [each.gradient(points) for each in (one, other)]
        points = points[np.isfinite(gradients).all(axis=(0, 2))]
        if len(points) >= FEWEST_COMMON:
            return one, other, points[:N_COMPARED]
    return one, other, None


def fits_with_other_constants(
    first: Expression, second: Expression, order: tuple[int, ...]
) -> bool:
    """Whether the constants of one formula can be changed so that it is the other; `order` is that
    of a comparison.
    """
    one, other, points = matched(first, second, order)
    return points is not None and (_becomes(one, other, points) or _becomes(other, one, points))


def _becomes(general: Expression, target: Expression, points: FloatArray) -> bool:
    positions = free_positions(general.tree, general.names)
    if not positions:
        return False
    field = GradientField.from_arrays(
        points, target.gradient(points), names=general.names, tangent="none"
    )
    fitted, left = refit([general], field, iterations=FIT_STEPS, positions=[positions])
    if not left[0] < SAME:
        return False
    before, after = (np.abs(constant_values(each.tree, positions)) for each in (general, fitted[0]))
    with np.errstate(all="ignore"):
        ratios = after / before
    return bool(((ratios < FARTHEST) & (ratios > 1 / FARTHEST)).all())


def _turned(expression: Expression, points: FloatArray, order: np.ndarray) -> FloatArray:
    """Directions of the first formula in the columns of the second."""
    own = np.empty_like(points)
    own[:, order] = points
    return log_directions(expression, own)[:, order]


def _misalignment(one: FloatArray, other: FloatArray, *, trim: float = TRIM) -> float | None:
    cosines = np.einsum("nd,nd->n", one, other)
    common = np.isfinite(cosines)
    if common.sum() < FEWEST_COMMON:
        return None
    # The cross product keeps the digits that 1 - cosine**2 loses.
    one, other = one[common], other[common]
    gaps = one - np.sign(cosines[common])[:, None] * other
    sines = np.sort(np.einsum("nd,nd->n", gaps, gaps) * (1 + np.abs(cosines[common])) / 2)
    return float(sines[: max(int((1 - trim) * len(sines)), 1)].mean())


def _keeps_sign(first: Expression, second: Expression, order: np.ndarray) -> bool:
    one, other, points = matched(first, second, order.tolist())
    if points is None:
        return True
    along = np.einsum("nd,nd->n", one.gradient(points) * points, other.gradient(points) * points)
    signs = np.sign(along)
    return bool(max((signs >= 0).mean(), (signs <= 0).mean()) > 1 - TRIM / 10)
