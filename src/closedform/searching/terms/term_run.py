"""One run of the term search: library, beam search over supports, fits, and what they leave
over.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.progress import Progress, Snapshot
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import apply, constant, variable
from closedform.field.alignment.comparison import comparison_of, fit_constants
from closedform.field.alignment.eigen import CoefficientFit, fit_coefficients
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Clock
from closedform.searching.engine import Status
from closedform.searching.space import SearchSpace
from closedform.searching.terms.exact_sums import exact_sums
from closedform.searching.terms.families import family_libraries
from closedform.searching.terms.judged_sums import Finds, drafted
from closedform.searching.terms.library import Term, build_library
from closedform.searching.terms.moments import differentiate
from closedform.searching.terms.next_terms import Lines, prepare_lines
from closedform.searching.terms.prepared import Prepared, prepare
from closedform.searching.terms.term_beam import (
    VANISHING,
    Sums,
    Support,
    TermBeam,
    Width,
    extend,
    merged,
    singles,
)

if TYPE_CHECKING:
    from closedform.searching.terms.term_engine import TermSearch

FEW_TERMS = 45
"""Libraries up to this size are searched to the end: that is quick, and a truth's last term may
make all the difference.
"""

GROWTH, FEWEST_GROWN = 0.5, 4
"""Past this share of the budget sums of at least so many terms of a small library grow no further:
the rest is for null spaces and larger libraries.
"""

FIRST_EXACT, LAST_EXACT = (0.1, 0.4), 0.7
"""Shares of the budget until which sums that fit exactly are looked for at first (less of a short
one), and others later.
"""

SHORT_BUDGET = 2.0

MOST_BESIDE = 3
"""Largest number of terms of the sums that are looked for after a perfect one was found."""

MOST_TERMS = 16
"""Largest number of terms of the sums that are taken from null spaces."""

_PAUSE = 0.25


class TermRun:
    """One search and what it has found so far."""

    def __init__(
        self, options: "TermSearch", field: GradientField, space: SearchSpace, clock: Clock,
        rng: np.random.Generator,
        progress: Progress,
    ) -> None:  # fmt: skip
        self.options, self.field, self.space, self.clock, self.progress = (
            options,
            field,
            space,
            clock,
            progress,
        )
        self.status: Status = "finished"
        usable = np.flatnonzero(field.weights > 0)
        if len(usable) > options.n_points:
            usable = np.sort(rng.choice(usable, options.n_points, replace=False))
        self.sample = field if len(usable) == field.n_points else field.subset(usable)
        self.finds = Finds(field, self.sample, options.name)
        self.library_sizes: list[int] = []
        self.most_terms = 0
        self.shown = -_PAUSE
        self.rng = rng

    def stages(self) -> None:
        """Search one library after the other; sums that fit exactly are looked for first, for a
        short while.
        """
        self._take_exact(only=True)
        before = 0
        for limit in self.options.stages:
            library = None if self._has_no_time() else self._library(limit)
            # A space may have no more terms than the stage before had.
            if library is None or len(library.terms) == before:
                return
            is_over = self._grow(library)
            if before == 0 and not is_over and self.finds.least > PERFECT:
                self._take_exact(only=False)
            if is_over or self.finds.least <= PERFECT or self._is_over():
                return
            before = len(library.terms)

    def _take_exact(self, *, only: bool) -> None:
        """Look for long sums in the null spaces of one library after the other, until one fits
        perfectly.

        Parameters
        ----------
        only : bool
            Whether sums that do not fit perfectly are left for later; that is quick.
        """
        join = self.space.costs.of("add")
        for terms in family_libraries(
            self.space, self.field.names, self.sample.points, self.sample.scale, by_half=not only
        ):
            if self._is_over() or self.clock.used > (self._first_look if only else LAST_EXACT):
                return
            library = self._prepared(terms)
            if library is None:
                continue
            supports = self._exact_supports(library, only=only)
            sizes = [library.cost(support, join) for support in supports]
            near = [place for place, size in enumerate(sizes) if size < self._bound()]
            supports, sizes = [supports[place] for place in near], [sizes[place] for place in near]
            fits = self._fit(library, supports)
            values = tuple(fit.misalignment for fit in fits)
            self._judge(library, TermBeam(tuple(supports), tuple(sizes), values), fits)
            if self.finds.least <= PERFECT:
                return

    def _exact_supports(self, library: Prepared, *, only: bool) -> list[Support]:
        """Sums in the null spaces of the library's groups: of the whole space of a library most
        sums would add different units.
        """
        found: list[Support] = []
        for places in library.groups():
            moments, costs = library.moments.select(places), library.costs[places]
            sums = exact_sums(moments, costs, MOST_TERMS, self.rng, only_exact=only)
            found += [tuple(places[list(support)].tolist()) for support in sums]
        return list(dict.fromkeys(found))

    def _library(self, limit: int) -> Prepared | None:
        sample = self.sample
        concept = sample.tangent.ambient(sample.frames)
        importance = np.einsum("n,ndk->d", sample.weights, concept**2)
        # Rounded, so that inputs that matter equally keep the user's order.
        importance = np.round(importance / max(float(importance.max()), 1e-300), 2)
        terms = build_library(
            self.space, sample.names, sample.points, sample.scale, importance, limit
        )
        return self._prepared(terms)

    def _prepared(self, terms: list[Term]) -> Prepared | None:
        library = prepare(terms, self.sample, self.options.n_line_points, self.space.legality)
        if library is not None:
            self.library_sizes.append(len(library.terms))
        return library

    def _grow(self, library: Prepared) -> bool:
        """Beam search over supports; whether the budget is used up."""
        complete: list[Support] = []
        best = np.inf
        idle = 0
        beam = singles(library.moments, library.costs, self._width, self._bound())
        # Beside a perfect sum only a short one is of use: a long one would be in the same null
        # space.
        largest = MOST_BESIDE if self.finds.least <= PERFECT else self.options.max_terms
        most = min(largest, self.options.max_terms) if self.space.allows_operator("add") else 1
        for n_terms in range(1, most + 1):
            if len(beam) == 0:
                return False
            self.most_terms = max(self.most_terms, n_terms)
            fits = self._fit(library, beam.supports)
            self._judge(library, beam, fits)
            if self._is_over():
                return True
            pairs = list(zip(beam.supports, fits, strict=True))
            complete += [support for support, fit in pairs if fit.misalignment <= PERFECT]
            going = [(support, fit) for support, fit in pairs if fit.misalignment > PERFECT]
            level = min((fit.misalignment for _, fit in going), default=1.0)
            idle = 0 if level < 0.95 * best else idle + 1
            best = min(best, level)
            is_stuck = idle == 2 and len(library.terms) > FEW_TERMS
            is_late = (
                n_terms >= FEWEST_GROWN
                and len(library.terms) <= FEW_TERMS
                and self.clock.used > GROWTH
            )
            if (
                is_stuck
                or is_late
                or not going
                or n_terms == most
                or (complete and not self._may_be_simpler())
            ):
                return False
            grown = self._extend(library, going, complete)
            if grown is None:
                return True
            beam = grown
        return False

    @property
    def _first_look(self) -> float:
        if not self.options.stages:
            return 1.0
        seconds = self.clock.budget.seconds
        return FIRST_EXACT[0] if seconds is not None and seconds < SHORT_BUDGET else FIRST_EXACT[1]

    def _may_be_simpler(self) -> bool:
        """Whether more terms may make a perfect formula simpler: only a sum inside a function can
        be worth writing out.
        """
        perfect = [found for found in self.finds.found.values() if found.misalignment <= PERFECT]
        simplest = min(perfect, key=lambda found: found.complexity, default=None)
        return simplest is None or any(
            "add" in term.tokens or "sub" in term.tokens for term in simplest.formula.terms
        )

    @property
    def _width(self) -> Width:
        return Width(self.options.width, self.options.per_complexity)

    def _extend(
        self,
        library: Prepared,
        going: list[tuple[Support, CoefficientFit]],
        complete: list[Support],
    ) -> TermBeam | None:
        """The supports of one term more; None when the budget is used up."""
        sums_now = Sums(
            np.array([s for s, _ in going]), np.array([fit.coefficients for _, fit in going])
        )
        jobs: list[tuple[Lines | None, Sums]] = [(library.lines, sums_now)]
        if sums_now.supports.shape[1] == 1:
            every = Sums(np.arange(len(library.terms))[:, None], np.ones((len(library.terms), 1)))
            few = len(library.terms) <= self.options.pairs
            jobs = [(library.lines, every)] if few else [*jobs, (None, every)]
        parts: list[TermBeam] = []
        join = self.space.costs.of("add")
        for lines, starting in jobs:
            steps = extend(
                library.moments,
                lines,
                library.costs,
                join,
                starting,
                complete,
                self._width,
                self._bound(),
                VANISHING,
                library.addable,
            )
            for part in steps:
                if self._has_no_time():
                    return None
                if part is not None:
                    parts.append(part)
        return merged(parts)

    def _bound(self) -> float:
        return self.finds.bound(self.space.max_complexity)

    def _fit(self, library: Prepared, supports: Sequence[Support]) -> list[CoefficientFit]:
        fits: list[CoefficientFit] = []
        for support in supports:
            projected, frames = library.projected(support, self.sample)
            fits.append(
                fit_coefficients(
                    projected, frames, self.sample.weights, reweightings=self.options.reweightings
                )
            )
            self.clock.evaluations += 1
            if self._has_no_time():
                # What is left counts as not fitted.
                missing = len(supports) - len(fits)
                return (
                    fits
                    + [CoefficientFit(np.ones(len(support)), np.ones(len(support)), 1.0)] * missing
                )
        return fits

    def _judge(self, library: Prepared, beam: TermBeam, fits: Sequence[CoefficientFit]) -> None:
        """Turn fits into formulas, and judge those that may be on the front, on all points."""
        made = drafted(library.terms, beam, fits, self.finds.steps(), self.space, self.field.names)
        if made:
            self.finds.take(made)
            self._show()

    def _is_over(self) -> bool:
        """Whether the budget is used up, or its target reached."""
        return self._has_stopped(self.finds.least)

    def _has_no_time(self) -> bool:
        """Whether the budget is used up."""
        return self._has_stopped(np.inf)

    def _has_stopped(self, least: float) -> bool:
        reason = self.clock.stop_reason(least)
        if reason is not None:
            self.status = reason
        return reason is not None

    def _show(self) -> None:
        used = min(self.clock.used, 1.0)
        seconds = self.clock.seconds
        if seconds - self.shown < _PAUSE:
            return
        self.shown = seconds
        lines = tuple(
            (str(c.complexity), f"{c.misalignment:.1e}  {c.expression}") for c in self.finds.front()
        )
        left = seconds * (1 - used) / used if used > 0 else None
        self.progress.show(
            Snapshot("terms", used, left, lines, self.clock.evaluations / max(seconds, 1e-9))
        )

    def statistics(self) -> dict[str, Any]:
        """What the search did."""
        return {
            "engine": self.options.name,
            "seconds": self.clock.seconds,
            "evaluations": self.clock.evaluations,
            "library_sizes": list(self.library_sizes),
            "most_terms": self.most_terms,
            "others": [
                str(self.finds.expression(tree))
                for tree in self.finds.alike()[: self.options.n_others]
            ],
        }


@cache
def compile_terms() -> None:
    """Compile the judge before the clock starts."""
    field = GradientField.from_arrays(
        np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 1.0]]), np.ones((3, 2)), tangent="none"
    )
    terms = [variable(0), variable(1)]
    jacobian, _ = differentiate(terms, field.points, field.scale)
    lines = prepare_lines(jacobian, field, 3)
    lines.least(np.array([[0]]), np.ones((1, 1)), np.ones((1, 2), dtype=np.bool_))
    comparison_of(field).misalignments(compile_tapes(terms))
    fit_constants(
        comparison_of(field), compile_tapes([apply("add", variable(0), constant(2))]), np.array([1])
    )
