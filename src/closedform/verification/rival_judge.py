"""Compare each rival of a contest with the concept, its price paid, and keep what cannot be told
apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from closedform.alignment.misalignment import TRIM
from closedform.alignment.refit import refit
from closedform.alignment.scores import comparison_of
from closedform.alignment.tolerances import SAME
from closedform.canonical.form import canonical_form
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions
from closedform.expressions.linear_formulas import is_bent
from closedform.expressions.written_powers import with_written_powers
from closedform.field.angles import misalignment_of
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Misfit, Rival
from closedform.searching.products import without_common_power
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.writing import made_plain, without_ones
from closedform.searching.structure_search.yardstick import BIASED_YARDSTICK, USUAL_YARDSTICK
from closedform.selection.tolerances import LINEAR_DEGREES
from closedform.verification.contest import Contest, Margin, compare
from closedform.verification.deciding_points import angles_between, most_different
from closedform.verification.description import description_length, hoped_length
from closedform.verification.same_form import (
    contains,
    free_positions,
    have_near_exponents,
    have_same_form,
    mutual_misalignment,
    with_all_constants,
)
from closedform.verification.thresholds import Thresholds

N_SAME, N_PLAIN, MOST_SHOWN = 200, 400, 10
"""Points at which forms are compared with each other and on which numbers are made plain, and
rivals that are kept."""

MOST_PLAIN, MOST_TRIED, MOST_BEST, FEWEST_TRIED = 14, 30, 4, 4
"""Rivals that get plain numbers and stay rivals, those that are tried, those of them that fit best,
and those that are tried though the time is over."""

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
class RivalJudge:
    """Compares each form of a contest with the first, the concept.

    Attributes
    ----------
    contest : Contest
    sources : sequence of str
        Where each form comes from.
    field : GradientField
        The points of the contest.
    fit : Misfit
        Of the concept.
    lines : Thresholds
    space : SearchSpace
    rng : Generator
    floor : float
        Misalignments below it count as this one.
    may_go_on : callable
        Asked before more than a few rivals get plain numbers.
    """

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
        """The concept, its constants fitted to one half of the points."""
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
        # What the concept lacks is known already; its rivals can wait for a longer budget.
        n_certain = FEWEST_TRIED if self.fit.kind != "lack" else 0
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
                and (n_tried < n_certain or self.may_go_on())
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
        however long the term or factor with one constant is by which it enters. Of a network that
        follows a linear formula closely, what bends it has to earn its length as any formula has.
        """
        if not np.isfinite(ratio):
            return np.inf
        floor, costs = max(self.lines.rounding, self.floor), self.space.costs
        log_ratio = np.log(max(ratio * self.total, floor) / max(self.total, floor))
        further = description_length(form.tree, costs) - description_length(self.own.tree, costs)
        if further > 0 and self._is_straight_enough() and is_bent(self.own.tree, form.tree):
            return float(log_ratio + self.lines.economy * further)
        price = self.lines.price[further > 0] * further
        n_further = len(fitted_positions(form.tree)) - len(fitted_positions(self.own.tree))
        if form.tree.variables - self.own.tree.variables and n_further <= 1:
            price = min(price, NEW_INPUT * np.log(self.lines.alike))
        return float(log_ratio + price)

    def _is_straight_enough(self) -> bool:
        """Whether a network follows the concept as closely as networks follow linear targets."""
        return self.fit.kind == "network" and self.total <= misalignment_of(LINEAR_DEGREES)

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
        on_data = angles_between(self.own, form, self.field.points, self.field.scale).max(
            initial=0.0
        )
        written = Expression(with_written_powers(form.tree), form.names)
        return Rival(
            written, form.complexity(self.space.costs), result.ratio * self.total, difference,
            where, degrees, float(on_data.max(initial=0.0)), source, result.z,
        )  # fmt: skip
