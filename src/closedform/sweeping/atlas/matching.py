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
from closedform.expressions.fitted_constants import constant_values
from closedform.field.alignment.comparison import prepare
from closedform.field.alignment.refit import Tapes
from closedform.field.alignment.tolerances import SAME, TRIM
from closedform.field.tangent_space import robust_spread
from closedform.judge.alignment import angles_in_degrees
from closedform.judge.neighbours.same_form import free_positions
from closedform.sweeping.atlas.probe_points import (
    SMALLEST,
    SPANS,
    InputProfile,
    log_directions,
    probe_points,
)

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
    best = _misalignment(_turned(first, points, [order])[0], target)
    if best is None:
        return None
    # Inputs with like profiles may be matched the wrong way round, as in a*b + c*d.
    while best > SAME and (tried := list(_exchanged(order, costs))):
        gaps = [_misalignment(each, target) for each in _turned(first, points, tried)]
        place = min(range(len(tried)), key=lambda at: np.inf if gaps[at] is None else gaps[at])
        gap = gaps[place]
        if gap is None or not gap < best:
            break
        order, best = tried[place], gap
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
    (turned,) = _turned(first, points, [order])
    gap = _misalignment(turned, log_directions(second, points), trim=0.0)
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
    # Without a field, which would measure noise and redundant inputs that nobody asks for here.
    scale = robust_spread(points)
    slopes = target.gradient(points) * scale
    lengths = np.linalg.norm(slopes, axis=1, keepdims=True)
    usable = lengths[:, 0] > SMALLEST
    frames = (slopes[usable] / lengths[usable])[:, :, None]
    comparison = prepare(points[usable], frames, scale=scale)
    tapes, left = Tapes.of([general], [positions]).fit(comparison, FIT_STEPS)
    if not left[0] < SAME:
        return False
    numbers = (constant_values(each.tree, positions) for each in (general, *tapes.read()))
    before, after = map(np.abs, numbers)
    with np.errstate(all="ignore"):
        ratios = after / before
    return bool(((ratios < FARTHEST) & (ratios > 1 / FARTHEST)).all())


def _turned(
    expression: Expression, points: FloatArray, orders: Sequence[np.ndarray]
) -> list[FloatArray]:
    """Directions of the first formula in the columns of the second, for each order of inputs."""
    # All at once: at so few points a formula's evaluation costs the same for one order as for ten.
    own = np.concatenate([points[:, np.argsort(order)] for order in orders])
    directions = np.split(log_directions(expression, own), len(orders))
    return [each[:, order] for each, order in zip(directions, orders, strict=True)]


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
