"""The set: which formulas the field cannot tell from the concept, and which are better than it.

Rivals come from the searches, from the user, and are made of the concept. Each pays for its
description; what is not clearly dearer than the concept is in the set.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from closedform.alignment.misalignment import TRIM, chance_level
from closedform.alignment.refit import refit
from closedform.alignment.scores import comparison_of
from closedform.alignment.tolerances import SAME
from closedform.arrays import FloatArray
from closedform.canonical.form import canonical_form
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import MOST_LOOKED_AT
from closedform.interpretation.evidence import Misfit, Rival
from closedform.searching.products import without_common_power
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.writing import made_plain, without_ones
from closedform.searching.structure_search.yardstick import BIASED_YARDSTICK, USUAL_YARDSTICK
from closedform.selection.regions import divide
from closedform.verification.contest import Contest, Form, Margin, compare, hold_contest, near_ones
from closedform.verification.description import description_length, hoped_length
from closedform.verification.made_rivals import make_rivals, rival_space
from closedform.verification.residuals import split
from closedform.verification.same_form import (
    contains,
    free_positions,
    have_near_exponents,
    have_same_form,
    mutual_misalignment,
    with_all_constants,
)
from closedform.verification.thresholds import Thresholds

WIDER = 0.5
"""How far beyond the data's range, as a share of it, formulas are compared."""

N_PROBES, N_JUDGED, N_SAME, N_PLAIN, MOST_SHOWN = 4000, 1500, 200, 400, 10
MOST_PLAIN, MOST_TRIED, MOST_BEST, FEWEST_TRIED = 14, 30, 4, 4
N_CELLS = 40

HOPE = 2.0
"""Margins by which a form may be too dear, its fitted numbers not counted, to be tried with plain
ones: these make it a little shorter, never better."""

REDUNDANT = 8.0
"""Units of description by which a factor, a sign or an offset that says nothing may make a form
longer; its canonical form has none."""

NOT_WORSE = 2.0
"""Margins up to which a form counts that is not significantly worse: its price alone may not
decide. In noise no other counts, for there misalignments hardly differ."""

ALSO = 3.0
"""The same where the set has one already: it is no longer a question of one concept or several, but
of what they are."""

NEW_INPUT = 3.0
"""Margins that an input which the concept lacks costs at most: a network's error, too, depends a
little on inputs that do not matter."""

NESTED = 0.6
"""Share of the margin up to which a form that contains the concept counts: what true formulas lack
is further off, and most of what a stand-in lacks is nearer."""

Known = tuple[Expression, str]
"""Another formula, and where it comes from."""


@dataclass(frozen=True, slots=True)
class Contested:
    """What the contest said.

    Attributes
    ----------
    fit : Misfit
    rivals : tuple of Rival
        Those in the set first, best first.
    loosened : Expression or None
        The concept with its plain numbers fitted, where these are clearly off.
    n_compared : int
        How many forms were compared.
    """

    fit: Misfit
    rivals: tuple[Rival, ...]
    loosened: Expression | None
    n_compared: int

    @property
    def alternatives(self) -> tuple[Rival, ...]:
        """Those that the field cannot tell from the concept."""
        return tuple(rival for rival in self.rivals if rival.is_alternative)


def compare_all(
    concept: Expression,
    known: Sequence[Known],
    field: GradientField,
    space: SearchSpace,
    lines: Thresholds,
    rng: np.random.Generator,
    *,
    is_network: bool,
    is_fixed: bool = False,
    make: bool = True,
    floor: float = 0.0,
    may_go_on: Callable[[], bool] = lambda: True,
) -> Contested:
    """Fit the concept and its rivals on halves of the points, and see which the field tells apart.

    Parameters
    ----------
    concept : Expression
    known : sequence of (Expression, str)
        Formulas that searches found or the user has in mind.
    field : GradientField
        All points.
    space : SearchSpace
        Of the search; rivals are made in a wider one.
    lines : Thresholds
    rng : Generator
    is_network : bool
        Whether a network's own error may be in the field.
    is_fixed : bool
        Whether the concept's constants stay as they are: a stated formula.
    make : bool
        Whether rivals are made.
    floor : float
        Misalignments below it count as this one.
    may_go_on : callable
        Asked before more than a few rivals get plain numbers.
    """
    few = field.subset(_different(field, rng))
    own = concept.rename(field.names)
    forms: list[Form] = [
        (own, () if is_fixed else fitted_positions(own.tree)),
        with_all_constants(own),
    ]
    sources = ["own", "own"]
    for other, source in known:
        form = other.rename(field.names)
        if form.tree != own.tree:
            forms.append((form, () if source == "given" else fitted_positions(form.tree)))
            sources.append(source)
    n_known = len(forms) - 2
    made = make_rivals(own, few, rival_space(space), rng) if make else {}
    rivals = [(Expression(tree, field.names), free) for tree, free in made.items()]
    forms += near_ones((own, free_positions(own.tree, field.names)), rivals, few, lines.price[1])
    sources += ["made"] * (len(forms) - len(sources))
    cells = _cells(few, rng)
    contest = hold_contest(forms, few, cells, lines.significance, rng)
    fit = _fit(contest, few, lines, is_network=is_network)
    judge = _Judge(contest, sources, few, fit, lines, space, rng, floor, may_go_on)
    return Contested(fit, judge.rivals(), judge.loosened(), n_known + len(made))


def _different(field: GradientField, rng: np.random.Generator) -> NDArray[np.int64]:
    """Some usable points, each of them once: copies would pass for neighbours that agree."""
    usable = np.flatnonzero(field.weights > 0)
    if len(usable) > MOST_LOOKED_AT:
        usable = np.sort(rng.choice(usable, MOST_LOOKED_AT, replace=False))
    first = np.unique(field.points[usable], axis=0, return_index=True)[1]
    return np.sort(rng.permutation(usable[first])[:N_JUDGED])


def _cells(field: GradientField, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.maximum(divide(field, rng, N_CELLS), 0)


def _fit(contest: Contest, field: GradientField, lines: Thresholds, *, is_network: bool) -> Misfit:
    """The concept's misalignment in its parts, and what can have caused them."""
    left = np.nan_to_num(contest.left[0], nan=1.0)
    sizes = (left**2).sum(axis=1)
    kept = sizes <= np.quantile(sizes, 1 - TRIM)
    parts = split(left[kept], field.points[kept] / field.scale)
    (low, high), chance = lines.network_error, chance_level(field.rank, field.tangent.rank)
    if parts.total <= lines.rounding:
        kind = "exact"
    elif parts.z < lines.significance:
        kind = "noise"
    elif is_network and low <= parts.total <= high * chance:
        kind = "network"
    else:
        kind = "lack"
    return Misfit(parts.total, parts.systematic, parts.z, kind)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A form, its place in the contest, what it costs more than the concept, and how they
    compare.
    """

    form: Expression
    place: int
    difference: float
    result: Margin


@dataclass(frozen=True, slots=True)
class _Judge:
    """Compares each form of a contest with the first."""

    contest: Contest
    sources: Sequence[str]
    field: GradientField
    fit: Misfit
    lines: Thresholds
    space: SearchSpace
    rng: np.random.Generator
    floor: float
    may_go_on: Callable[[], bool]

    @property
    def own(self) -> Expression:
        return self.contest.expressions[0]

    @property
    def total(self) -> float:
        """The concept's misalignment, 1 where it points against the field."""
        if not self.contest.is_turned[0].any():
            return self.fit.total
        values = np.nan_to_num(self.contest.misalignments(0), nan=1.0)
        return float(values[values <= np.quantile(values, 1 - TRIM)].mean())

    def loosened(self) -> Expression | None:
        """The concept with all constants fitted, if that is significantly better, and where a
        network's error is in the field by more than their digits cost.
        """
        result = compare(self.contest, 0, 1)
        form, places = with_all_constants(self.own)
        is_enough = self.fit.kind == "exact" or self.fit.total <= self.floor
        if is_enough or result.z > -self.lines.significance or not places:
            return None
        if self.fit.kind == "network" and self._judged(1).difference > 0:
            return None
        found = refit([form], self.field, positions=[places])[0][0]
        return Expression(without_ones(found.tree), found.names)

    def rivals(self) -> tuple[Rival, ...]:
        """All that come near, those in the set first."""
        judged = self._with_plain([self._judged(place) for place in range(2, len(self.sources))])
        judged.sort(key=lambda one: (one.difference, one.place))
        kept: list[Rival] = []
        for one in judged:
            form, difference, result, place = one.form, one.difference, one.result, one.place
            if len(kept) == MOST_SHOWN:
                break
            if not self._is_near(
                difference, result, ALSO if kept and self.may_go_on() else NOT_WORSE
            ):
                continue
            before = [rival.expression for rival in kept]
            if not self._unfolds(place) and not self._is_other(form, difference, before):
                continue
            kept.append(self._rival(form, difference, result, self.sources[place]))
        return tuple(kept)

    def _with_plain(self, judged: Sequence["_Judged"]) -> list["_Judged"]:
        """The best with plain numbers, as the concept has them; given ones stay as they are.

        A form that becomes the concept then says nothing, and does not count as one of the best.
        """
        found: list[_Judged] = []
        n_others = n_tried = 0
        best = sorted(judged, key=lambda one: one.result.ratio)[:MOST_BEST]
        seen: set[str] = set()
        for one in sorted(judged, key=lambda one: (one not in best, self._hoped(one))):
            # Forms that are made in several ways have their misalignments in common.
            fit = f"{one.result.ratio:.5g}"
            if self.sources[one.place] == "made" and fit in seen:
                continue
            seen.add(fit)
            is_tried = (
                n_tried < MOST_TRIED
                and n_others < MOST_PLAIN
                and self._hoped(one) < HOPE * np.log(self.lines.alike)
                and self.sources[one.place] != "given"
                and (n_tried < FEWEST_TRIED or self.may_go_on())
            )
            plain = self._plain(one) if is_tried else one
            found.append(plain)
            n_tried += is_tried
            n_others += is_tried and not self._is_own(plain.form)
        return found

    def _judged(self, place: int) -> "_Judged":
        """What a form costs more than the concept, and how they compare."""
        result = compare(self.contest, 0, place)
        form = self.contest.expressions[place]
        return _Judged(form, place, self._difference(form, result.ratio), result)

    def _hoped(self, one: "_Judged") -> float:
        """What it would cost more than the concept if all its numbers became plain."""
        saved = description_length(one.form.tree) - hoped_length(one.form.tree)
        return one.difference - self.lines.price[1] * saved

    def _difference(self, form: Expression, ratio: float) -> float:
        """Logarithm of the ratio of misalignments, with the price of what is longer.

        Whether a further input matters is a question of its own: it costs three margins at most,
        however long the term or factor with one constant is by which it enters.
        """
        if not np.isfinite(ratio):
            return np.inf
        floor, costs = max(self.lines.rounding, self.floor), self.space.costs
        log_ratio = np.log(max(ratio * self.total, floor) / max(self.total, floor))
        further = description_length(form.tree, costs) - description_length(self.own.tree, costs)
        price = self.lines.price[further > 0] * further
        n_further = len(fitted_positions(form.tree)) - len(fitted_positions(self.own.tree))
        if form.tree.variables - self.own.tree.variables and n_further <= 1:
            price = min(price, NEW_INPUT * np.log(self.lines.alike))
        return float(log_ratio + price)

    def _plain(self, one: "_Judged") -> "_Judged":
        """A form with plain numbers where these cost next to nothing."""
        few = self.field.subset(np.arange(min(self.field.n_points, N_PLAIN)))
        yardstick = BIASED_YARDSTICK if self.fit.kind == "network" else USUAL_YARDSTICK
        before, after, form = np.inf, np.inf, one.form
        # Numbers that are plain already may stay so, or may be in the way of the others.
        for places in (fitted_positions(form.tree), free_positions(form.tree, form.names)):
            (fitted,), (value,) = refit([one.form], few, positions=[places])
            before = min(before, float(value))
            tree, after = made_plain(
                fitted.tree, places, float(value), comparison_of(few), yardstick
            )
            form = Expression(without_common_power(tree), one.form.names)
            if not fitted_positions(tree):
                break
        ratio = one.result.ratio * max(after, 1e-300) / max(float(before), 1e-300)
        difference = self._difference(form, ratio)
        line = np.log(self.lines.alike) + REDUNDANT * self.lines.price[1]
        if difference < line and not self._is_own(form):
            usual = canonical_form(form, few.points[:N_SAME])
            form = min(usual, form, key=lambda each: description_length(each.tree))
            difference = self._difference(form, ratio)
        return replace(one, form=form, difference=difference)

    def _is_near(self, difference: float, result: Margin, most: float) -> bool:
        """Whether a form is not told apart: within a factor where a bias decides, by significance
        where noise does; then so many margins count at most.
        """
        margin = np.log(self.lines.alike)
        if self.fit.kind in ("network", "lack") and difference <= margin:
            return True
        return difference <= most * margin and result.z < self.lines.significance

    def _unfolds(self, place: int) -> bool:
        """Whether a form keeps its sign along the field and the concept does not: parallel
        gradients then say two things.
        """
        own, other = (bool(self.contest.is_turned[each].any()) for each in (0, place))
        return own and not other

    def _is_own(self, form: Expression) -> bool:
        few = self.field.subset(np.arange(min(self.field.n_points, N_SAME)))
        return mutual_misalignment(self.own, form, few) < SAME

    def _is_other(self, form: Expression, difference: float, before: Sequence[Expression]) -> bool:
        """Whether it says something else than the concept and those before it.

        A form that contains the concept says more, and counts only if what it adds is nearly worth
        its price.
        """
        few = self.field.subset(np.arange(min(self.field.n_points, N_SAME)))
        if have_near_exponents(self.own, form) or have_same_form(self.own, form, few):
            return False
        if difference > NESTED * np.log(self.lines.alike) and contains(
            with_all_constants(form)[0], self.own, few
        ):
            return False
        return not any(have_same_form(other, form, few) for other in before)

    def _rival(self, form: Expression, difference: float, result: Margin, source: str) -> Rival:
        where, degrees = most_different(self.own, form, self.field, self.rng)
        on_data = _angles(self.own, form, self.field.points, self.field.scale).max(initial=0.0)
        return Rival(
            form, form.complexity(self.space.costs), result.ratio * self.total, difference,
            where, degrees, float(on_data), source, result.z,
        )  # fmt: skip


def most_different(
    first: Expression, second: Expression, field: GradientField, rng: np.random.Generator
) -> tuple[tuple[tuple[str, float], ...], float]:
    """Where, in a box around the data, the formulas point most differently.

    Where a gradient nearly vanishes its direction is arbitrary, so such places do not count. On a
    curved surface, whose points cannot be drawn, the data itself is searched.
    """
    data = field.points[field.weights > 0]
    low, high = data.min(axis=0), data.max(axis=0)
    margin = WIDER * (high - low)
    probes = data
    if field.tangent.basis is None:
        probes = np.vstack([data, rng.uniform(low - margin, high + margin, (N_PROBES, len(low)))])
    angles = _angles(first, second, probes, field.scale)
    if not len(angles):
        return (), 0.0
    place = int(angles.argmax())
    return tuple(zip(field.names, (float(f"{v:.4g}") for v in probes[place]), strict=True)), float(
        angles[place]
    )


def without_refuted(outcome: Contested, refuted: Sequence[bool]) -> Contested:
    """The outcome with some of its alternatives told apart after all."""
    told = iter(refuted)
    rivals = tuple(
        replace(rival, is_alternative=not next(told)) if rival.is_alternative else rival
        for rival in outcome.rivals
    )
    return replace(outcome, rivals=tuple(sorted(rivals, key=lambda r: not r.is_alternative)))


def _angles(
    first: Expression, second: Expression, points: FloatArray, scale: FloatArray
) -> FloatArray:
    """Angles in degrees; 0 where either gradient is not finite or nearly vanishes."""
    with np.errstate(all="ignore"):
        a, b = (expression.gradient(points) * scale for expression in (first, second))
        sizes = [np.linalg.norm(g, axis=1) for g in (a, b)]
        usable = np.isfinite(sizes[0]) & np.isfinite(sizes[1])
        for size in sizes:
            usable &= (
                size > 0.05 * np.median(size[np.isfinite(size)])
                if np.isfinite(size).any()
                else False
            )
        cosine = np.abs(np.einsum("nd,nd->n", a, b)) / (sizes[0] * sizes[1])
        return np.where(usable, np.degrees(np.arccos(np.clip(cosine, 0.0, 1.0))), 0.0)
