"""Find a formula in an index: the same concept, the same up to constants, and the nearest ones.

Inputs have different names in different formulas, so they are matched first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from closedform.arrays import FloatArray
from closedform.canonical.same_concept import same_concept
from closedform.errors import DomainError
from closedform.expressions.complexity import constant_values
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.alignment.comparison import prepare
from closedform.field.alignment.refit import Tapes
from closedform.field.alignment.tolerances import SAME, TRIM
from closedform.field.tangent_space import robust_spread
from closedform.judge.neighbours.same_form import free_positions
from closedform.judge.regions import angles_in_degrees
from closedform.sweeping.atlas.concept_index import ConceptIndex, Entry, entry_of
from closedform.sweeping.atlas.probe_points import (
    SMALLEST,
    SPANS,
    InputProfile,
    log_directions,
    probe_points,
    profile_at,
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


Kind = Literal["exact", "constants", "nearest"]
KINDS: tuple[Kind, ...] = ("exact", "constants", "nearest")

COMPARED = 24
"""Formulas with the nearest fingerprints whose directions are compared. A formula whose constants
are 2% off is among the nearest ten of a thousand."""

NEAR = 0.1
"""Distance of fingerprints beyond which formulas are compared only to tell the nearest: constants
that are 2% off move one by 0.02 at most, in 99 of 100."""

FITTED_DEGREES = 15.0
"""Formulas farther away are not fitted: other constants hardly turn a direction by so much without
being found by their law."""

MOST_FITTED = 6
"""Formulas whose constants are fitted, the nearest first: each takes some hundredths of a second.
"""

MOST_OF_LAW = 50
"""Formulas of one law that are compared; there may be thousands that differ in their constants."""


@dataclass(frozen=True, slots=True)
class Match:
    """A formula of the index beside the one that is looked for."""

    kind: Kind
    number: int  # in the index
    formula: str
    degrees: float  # between directions
    inputs: tuple[tuple[str, str], ...]  # which of its inputs is which of the asked formula's
    is_confirmed: bool = False  # by `closedform.same_concept`


def find(
    index: ConceptIndex, formula: str | Expression, *, count: int = 10, confirm: bool = True
) -> list[Match]:
    """Formulas of an index, those of the same concept first, then those with other constants, then
    the nearest.

    count: how many of the nearest are given.
    confirm: whether `closedform.same_concept` must confirm exact matches; those that it does not
        are among the nearest.

    Examples
    --------
    >>> texts = ("m*v**2", "x + 3*y", "sin(x)*y")
    >>> index = ConceptIndex(entry_of(text).concept for text in texts)
    >>> [(match.kind, match.formula) for match in find(index, "2*log(b) + log(a)", count=1)]
    [('exact', 'm*v**2'), ('nearest', 'x + 3*y')]
    """
    asked = entry_of(formula)
    by_law = index.by_law.get(asked.key.law_id, [])[:MOST_OF_LAW]
    numbers = [*index.by_key.get(asked.key.id, [])[:MOST_OF_LAW], *by_law]
    wanted = count + len(numbers)
    for profile in asked.profiles:
        near = index.nearest(profile.vector, COMPARED)
        numbers += [n for rank, (n, gap) in enumerate(near) if gap < NEAR or rank < wanted]
    compared = {
        number: found
        for number in dict.fromkeys(numbers)
        if (found := _compared(asked, index.concepts[number].form)) is not None
    }
    order = sorted(compared, key=lambda number: (compared[number][1].misalignment, number))
    is_law = set(by_law)
    fitted = [n for n in order if n not in is_law and not compared[n][1].is_exact][:MOST_FITTED]
    found = []
    for number in order:
        own, comparison = compared[number]
        kind, confirmed = _kind(
            asked.key.form, own, comparison, is_of_law=number in is_law,
            is_fitted=number in fitted, confirm=confirm,
        )  # fmt: skip
        pairs = zip(own.names, comparison.order, strict=True)
        inputs = tuple((name, asked.key.form.names[place]) for name, place in pairs)
        text = index.concepts[number].form
        found.append(Match(kind, number, text, comparison.degrees, inputs, confirmed))
    matches = [match for kind in KINDS[:-1] for match in found if match.kind == kind]
    return matches + [match for match in found if match.kind == KINDS[-1]][:count]


def _compared(asked: Entry, text: str) -> tuple[Expression, Comparison] | None:
    """A formula of the index beside the asked one; None where no span suits both."""
    for profile in asked.profiles:
        own, beside = described(text, profile.span)
        found = beside and compare_formulas(asked.key.form, own, (profile, beside))
        if found:
            return own, found
    return None


@lru_cache(maxsize=4096)
def described(text: str, span: int) -> tuple[Expression, InputProfile | None]:
    """A formula of the index and its profile at a span; those that are near one question are near
    the next.
    """
    own = parse(text)
    return own, profile_at(own, span)


def _kind(
    asked: Expression,
    own: Expression,
    compared: Comparison,
    *,
    is_of_law: bool,
    is_fitted: bool,
    confirm: bool,
) -> tuple[Kind, bool]:
    """What two formulas are to each other, and whether it is confirmed."""
    if compared.is_exact:
        is_said = confirm and _is_same(asked, own, compared.order)
        return ("exact" if is_said or not confirm else "nearest"), is_said
    if is_of_law:
        return "constants", False
    is_near = is_fitted and compared.degrees < FITTED_DEGREES
    fits = is_near and fits_with_other_constants(asked, own, compared.order)
    return ("constants" if fits else "nearest"), False


def _is_same(first: Expression, second: Expression, order: tuple[int, ...]) -> bool:
    one, other, points = matched(first, second, order)
    if points is None:
        return False
    # On one side of a pole: 1/(x - y) is a function of x - y on each side, and not across.
    values = other(points)
    positive = points[values > 0]
    try:
        asked = positive if len(positive) > len(points) / 2 else points[values <= 0]
        return bool(same_concept(one, other, points=asked, time_limit=1.0))
    except DomainError:
        return False
