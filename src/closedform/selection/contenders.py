"""Contenders: the candidates of a search in canonical form, with snapped and shortened forms beside
them, judged by region.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from closedform.alignment.refit import refit
from closedform.alignment.scores import field_misalignment
from closedform.alignment.tolerances import PERFECT, ROUNDING, TRIM
from closedform.canonical.constants import free_constants
from closedform.canonical.form import canonical_form
from closedform.canonical.small_terms import without_small_terms
from closedform.canonical.snap import snapped_forms
from closedform.canonical.unrounded import unrounded
from closedform.expressions.complexity import Costs
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import (
    constant_values,
    fitted_positions,
    skeleton,
    with_numbers,
)
from closedform.expressions.tree import Tree
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import UNHURRIED, Clock
from closedform.searching.front import Front
from closedform.searching.orientation import oriented
from closedform.selection.formula_size import count_parts, number_bits
from closedform.selection.regions import RegionalScores, divide, score_regions
from closedform.selection.tolerances import (
    FEW_DIGITS,
    FITTING_HELPS,
    MOST_CONTENDERS,
    NEAR_BEST,
    ROUNDED_AWAY,
    SHORT_FORM,
    SMALL_CONSTANT,
    VARIANTS,
)

Order = tuple[Any, ...]
"""What contenders are sorted by; smaller comes first."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A form that competes to be the concept.

    Attributes
    ----------
    expression : Expression
        In canonical form, constants fitted to all points that the choice sees.
    complexity : int
    n_parts : int
        Terms of its outermost sum and free constants together.
    misalignment : float
        On those points.
    regional : float
        Mean over regions, each judged with constants that were fitted without it.
    errors : tuple of float
        Standard errors of the free constants, in the order in which they are written.
    engine : str
        Which engine found it, or the form that it came from.
    """

    expression: Expression
    complexity: int
    n_parts: int
    misalignment: float
    regional: float = 1.0
    errors: tuple[float, ...] = ()
    engine: str = ""

    @property
    def order(self) -> tuple[float, int, float, str]:
        """Simplest first, the bits of its numbers included; of equally simple ones that which fits
        best.
        """
        length = self.complexity + number_bits(self.expression.tree)
        return length, self.n_parts, self.misalignment, str(self.expression)


class Ranking(Protocol):
    """What the gathering of contenders asks a rule of choice."""

    def order(self, contender: Contender) -> Order:
        """Who comes first."""
        ...

    def prospects(
        self, contenders: Sequence[Contender], misalignments: Sequence[float]
    ) -> list[bool]:
        """Which of them, in order, may still become the choice."""
        ...


def gather(
    front: Front,
    field: GradientField,
    ranking: Ranking,
    rng: np.random.Generator,
    costs: Costs | None = None,
    *,
    clock: Clock | None = None,
) -> tuple[tuple[Contender, ...], RegionalScores]:
    """Bring a front into canonical form, add snapped and shortened forms, and judge all of them by
    region.

    Parameters
    ----------
    front : Front
    field : GradientField
        The points that the choice sees.
    ranking : Ranking
        The rule that will choose: its order decides who is compared with whom. Those that it cannot
        choose stand by to beat others, and get no canonical forms and variants, which cost most.
    rng : Generator
        Divides the points into regions.
    costs : Costs, optional
        What nodes cost.
    clock : Clock, optional
        When its time is over, formulas stay as the search wrote them, but for their numbers, which
        are snapped all the same. Other variants are made while there is time to judge them too.

    Returns
    -------
    contenders : tuple of Contender
        In the rule's order; none if every candidate is constant.
    scores : RegionalScores
        In the same order.
    """
    clock = UNHURRIED.start() if clock is None else clock
    sample = field.points[field.weights > 0]
    field = without_outliers(field, front)
    labels = divide(field, rng)
    found = [
        Contender(
            c.expression,
            c.complexity,
            count_parts(c.expression.tree),
            c.misalignment,
            engine=c.engine,
        )
        for c in front
    ]
    found.sort(key=ranking.order)
    promising = ranking.prospects(found, [contender.misalignment for contender in found])
    forms = [
        (
            canonical_form(oriented(c.expression, field), sample)
            if may_win and _has_time(clock)
            else c.expression,
            c.engine,
        )
        for c, may_win in zip(found, promising, strict=True)
    ]
    first = _thinned([*_fitted(forms, field, costs), *_loosened(forms, field, costs)], ranking)
    if not first:
        return (), RegionalScores(np.empty((0, 1)), np.ones(1), ())
    began = clock.seconds
    scores = score_regions([contender.expression for contender in first], field, labels)
    judging = clock.seconds - began
    promising = ranking.prospects(first, scores.means().tolist())
    proposals: list[tuple[Expression, str]] = []
    for contender, errors, may_win in zip(first, scores.errors, promising, strict=True):
        if not may_win:
            continue
        # Whatever the time: how busy a machine is must not decide between 1/2 and 0.498.
        made = _snapped(contender.expression, errors.tolist())
        if _has_time(clock, judging):
            made += _without_small_numbers(contender.expression)
            made += without_small_terms(contender.expression, sample)
        proposals += [(form, contender.engine) for form in made]
    near = [
        c for c in _thinned([*first, *_fitted(proposals, field, costs)], ranking) if c not in first
    ]
    written = [
        (
            canonical_form(c.expression, sample)
            if c.expression.tree.size <= SHORT_FORM and _has_time(clock, judging)
            else c.expression,
            c.engine,
        )
        for c in near
    ]
    kept = _thinned([*first, *_fitted(written, field, costs)], ranking)
    kept = [_unrounded(contender, field) for contender in kept]
    final = _with_new(scores, first, kept, field, labels)
    judged = [
        replace(contender, regional=float(mean), errors=tuple(errors.tolist()))
        for contender, mean, errors in zip(kept, final.means(), final.errors, strict=True)
    ]
    return tuple(judged), final


def _with_new(
    scores: RegionalScores,
    before: Sequence[Contender],
    after: Sequence[Contender],
    field: GradientField,
    labels: NDArray[np.int64],
) -> RegionalScores:
    """The scores of those after, of which those before have theirs already."""
    known = {contender.expression: place for place, contender in enumerate(before)}
    new = [contender.expression for contender in after if contender.expression not in known]
    if new:
        known |= {expression: len(before) + place for place, expression in enumerate(new)}
        scores = scores.joined(score_regions(new, field, labels))
    return scores.of([known[contender.expression] for contender in after])


def _has_time(clock: Clock, seconds: float = 0.0) -> bool:
    most = clock.budget.seconds
    return most is None or clock.seconds + seconds < most


def without_outliers(field: GradientField, front: Front) -> GradientField:
    """The field without the worst 5% of its points under the best candidate, if they are not all
    perfect.

    A network is bad somewhere, mostly where its gradient nearly vanishes. There a few points would
    decide the means of all candidates alike and hide what tells them apart.
    """
    if front.best is None or front.best.misalignment <= PERFECT:
        return field
    values = field_misalignment(front.best.expression, field)
    limit = np.quantile(values[field.weights > 0], 1 - TRIM)
    return field.subset((values <= limit) & (field.weights > 0)) if limit > 0 else field


def _fitted(
    forms: Sequence[tuple[Expression, str]], field: GradientField, costs: Costs | None
) -> list[Contender]:
    """Contenders of distinct forms, their constants fitted."""
    unique: dict[Tree, tuple[Expression, str]] = {}
    for expression, engine in forms:
        if not expression.tree.is_constant:
            unique.setdefault(expression.tree, (expression, engine))
    expressions = [expression for expression, _ in unique.values()]
    fitted, misalignments = refit(expressions, field)
    fitted = [
        _rounded(expression, field) if misalignment < ROUNDING else expression
        for expression, misalignment in zip(fitted, misalignments, strict=True)
    ]
    return [
        Contender(
            expression,
            expression.complexity(costs),
            count_parts(expression.tree),
            float(misalignment),
            engine=engine,
        )
        for expression, misalignment, (_, engine) in zip(
            fitted, misalignments, unique.values(), strict=True
        )
        if np.isfinite(misalignment)
    ]


def _rounded(expression: Expression, field: GradientField) -> Expression:
    """A formula that is exact up to rounding, its constants with the fewest digits that leave it
    so: fits end at 0.30000000000000004.
    """
    places = fitted_positions(expression.tree)
    values = constant_values(expression.tree, places)
    if not values:
        return expression
    exact = float(field_misalignment(expression, field).mean())
    for digits in FEW_DIGITS:
        numbers = [float(f"{value:.{digits}g}") for value in values]
        plain = Expression(with_numbers(expression.tree, places, numbers), expression.names)
        if float(field_misalignment(plain, field).mean()) <= 2 * exact + ROUNDED_AWAY:
            return plain
    return expression


def _loosened(
    forms: Sequence[tuple[Expression, str]], field: GradientField, costs: Costs | None
) -> list[Contender]:
    """The same forms with their plain numbers fitted too, where that helps: a search may have
    rounded them.
    """
    plain = [
        pair for pair in forms if len(free_constants(pair[0])) > len(fitted_positions(pair[0].tree))
    ]
    expressions = [expression for expression, _ in plain]
    fitted, misalignments = refit(
        expressions,
        field,
        positions=[
            [free.position for free in free_constants(expression)] for expression in expressions
        ],
    )
    _, before = refit(expressions, field)
    return [
        Contender(
            expression,
            expression.complexity(costs),
            count_parts(expression.tree),
            float(after),
            engine=engine,
        )
        for expression, after, old, (_, engine) in zip(
            fitted, misalignments, before, plain, strict=True
        )
        if after < FITTING_HELPS * old and after > PERFECT
    ]


def _snapped(expression: Expression, errors: Sequence[float]) -> list[Expression]:
    """Snapped forms; numbers that are plain already have no error."""
    known = dict(zip(fitted_positions(expression.tree), errors, strict=False))
    return snapped_forms(
        expression, errors=[known.get(free.position, 0.0) for free in free_constants(expression)]
    )


def _unrounded(contender: Contender, field: GradientField) -> Contender:
    """The contender with the numbers that it has up to rounding, if it is exact and stays so."""
    if contender.misalignment > PERFECT:
        return contender
    plain = unrounded(contender.expression)
    is_exact = float(field_misalignment(plain, field).mean()) <= PERFECT
    return replace(contender, expression=plain) if is_exact else contender


def _without_small_numbers(expression: Expression) -> list[Expression]:
    """The formula without one of its small constants: sqrt(x) for sqrt(x + 0.06)."""
    places = fitted_positions(expression.tree)
    values = constant_values(expression.tree, places)
    return [
        Expression(with_numbers(expression.tree, [place], [0.0]), expression.names)
        for place, value in zip(places, values, strict=True)
        if abs(value) < SMALL_CONSTANT
    ]


def _thinned(contenders: Sequence[Contender], ranking: Ranking) -> list[Contender]:
    """Those near the front, not too many, and few of each form: the plainest variants that do not
    fit much worse.
    """
    ordered = sorted(contenders, key=lambda c: (ranking.order(c), c.misalignment))
    forms = [skeleton(contender.expression.tree) for contender in ordered]
    lowest: dict[object, float] = {}
    for contender, form in zip(ordered, forms, strict=True):
        lowest[form] = min(lowest.get(form, np.inf), contender.misalignment)
    best, kept = np.inf, []
    variants: Counter[object] = Counter()
    for contender, form in zip(ordered, forms, strict=True):
        is_near = contender.misalignment <= max(NEAR_BEST * best, PERFECT)
        # Plain numbers come first; the fitted ones that they have to stand against stay too.
        is_lowest = contender.misalignment == lowest[form]
        if is_near and (variants[form] < VARIANTS or is_lowest):
            kept.append(contender)
            variants[form] += 1
        best = min(best, contender.misalignment)
    if len(kept) <= MOST_CONTENDERS:
        return kept
    chosen = _most_telling(kept)
    return [contender for contender in kept if contender in chosen]


def _most_telling(contenders: Sequence[Contender]) -> list[Contender]:
    """Thin out what is crowded: the best fit stays, then the largest steps of the front, then the
    lowest of the rest. A choice lies before a small step and after a large one.
    """
    best, steps, rest = np.inf, [], []
    for contender in contenders:
        if contender.misalignment < best:
            steps.append((best / max(contender.misalignment, PERFECT), contender))
        else:
            rest.append(contender)
        best = min(best, contender.misalignment)
    steps[-1] = (np.inf, steps[-1][1])
    steps.sort(key=lambda step: -step[0])
    rest.sort(key=lambda c: (c.misalignment, c.order))
    return [*(contender for _, contender in steps), *rest][:MOST_CONTENDERS]
