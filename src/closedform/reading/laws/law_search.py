"""The search for laws: sums of terms family by family, then what the engines find across the flow.

All that changes little enough is put into one pool. The simplest of it is a law; then the simplest
that is independent of it; and so on. Independence of functions is a matroid, so that this greedy
choice has the lowest total complexity.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.form import canonical_form
from closedform.canonical.proposals import snapped_forms
from closedform.canonical.tolerances import COMPATIBLE
from closedform.errors import ClosedformError
from closedform.expressions.complexity import fitted_positions
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import scaled_terms
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.tangent_space import TangentSpace
from closedform.judge.systematic import BEYOND_NOISE, ChangeParts, split_change
from closedform.reading.laws.law_sums import (
    LawFit,
    distance_library,
    find_sums,
    mixed_library,
    prepare_fit,
    radial_library,
)
from closedform.reading.laws.motions import (
    N_POINTS,
    Flow,
    Motion,
    NeededNoise,
    Orbits,
    explained_share,
    is_new,
    unit_gradients,
)
from closedform.searching.space import SearchSpace
from closedform.searching.terms.families import family_libraries
from closedform.searching.terms.library import Term

EXACT_CHANGE = 1e-6
"""Largest change of a law along motions that are known exactly, relative to its spread: integrators
and differences leave 1e-7, and a formula that is almost a law a hundred times that."""

LAW = 1e-3
"""Largest systematic change of what counts as a law. The energies of planets, which disturb each
other, change by 1e-4; what is conserved because orbits are nearly circular, by their eccentricity.
"""

LAW_OF_COMPUTED = 1e-4
"""The same where velocities or steps are computed: nothing but rounding disturbs them, which is
1e-6 in single precision."""

LITTLE = 0.01
"""What changes by less is nearly conserved, and the simplest of it is told first."""

NEARLY = 0.1
"""Largest change of what is worth telling as nearly conserved."""


ONE_VALUE, CLEARLY = 1e-3, 5.0
"""What varies by less than this share of what its gradients allow, or than so many times its own
change, has one value on the data."""


MOST_COMPLEX_IN_NOISE = 60
"""Largest complexity of a law that is not exact, the usual largest of a search: with more constants
a sum comes near to being kept by anything smooth."""

MOST_TESTED = 80
"""Sums of one library that are tested on held-out rows, the cheapest."""


@dataclass(frozen=True, slots=True)
class LawCandidate:
    """A formula that changes little along the motion."""

    concept: Expression
    complexity: int
    change: ChangeParts  # on rows that it was not fitted to
    allowed: float = LAW  # largest systematic change of a law

    @property
    def is_exact(self) -> bool:
        """Whether its change is rounding."""
        return self.change.total <= EXACT_CHANGE

    @property
    def is_law(self) -> bool:
        """Whether its change is rounding, or noise and a small systematic part."""
        return self.is_exact or (
            self.change.systematic <= self.allowed
            and self.change.total <= NEARLY
            and self.complexity <= MOST_COMPLEX_IN_NOISE
        )


@dataclass
class LawSearch:
    """A motion, split into what is searched and what is tested, and all that was found."""

    seen: Motion
    held: Motion
    space: SearchSpace
    rng: np.random.Generator
    tangent: TangentSpace | None = None
    is_computed: bool = False
    pool: dict[Expression, LawCandidate] = field(default_factory=dict)
    _units: dict[Expression, FloatArray] = field(default_factory=dict)
    _needed: dict[Expression, NeededNoise] = field(default_factory=dict)

    @property
    def allowed(self) -> float:
        """Largest systematic change of a law."""
        return LAW_OF_COMPUTED if self.is_computed else LAW

    def run(self, most: int, stopped: Callable[[], bool]) -> None:
        """Search library by library until as many independent laws are found as there can be."""
        # First for sums that do not change at all. Where there are some the motion is known
        # exactly, and what changes a little is not a law; otherwise noise is allowed for.
        fits: list[LawFit] = []
        for library in self.libraries():
            if stopped():
                break
            fit = prepare_fit(self.seen, library) if library else None
            if fit is None:
                continue
            # Of a few orbits no sum is known to be exact, so that there is nothing to wait for.
            if not fit.is_exact and self.seen.is_rich:
                fits.append(fit)
                continue
            self._offer_sums(fit)
            if len(self._simplest(self._exact())) >= most:
                return
            # Inputs that never move make every library exact.
            moving = [t for t in library if not self._still.issuperset(t.tree.variables)]
            if self._still and moving and (noisy := prepare_fit(self.seen, moving)) is not None:
                fits.append(replace(noisy, null=noisy.null[:, :0]))
        for fit in () if self._is_known_exactly() else fits:
            if stopped():
                return
            self._offer_sums(fit)

    def _offer_sums(self, fit: LawFit) -> None:
        found = find_sums(fit, self.seen.names, self.rng)
        for concept in sorted(found, key=self._complexity)[:MOST_TESTED]:
            if self._complexity(concept) <= self.space.max_complexity:
                self.offer(concept)

    def _exact(self) -> list[LawCandidate]:
        return [one for one in self.pool.values() if one.is_exact]

    def _is_known_exactly(self) -> bool:
        """Whether a law changes by rounding only; inputs that never move say nothing."""
        still = [Expression(variable(place), self.seen.names) for place in self._still]
        return bool(self._simplest(self._exact(), still))

    @cached_property
    def _still(self) -> frozenset[int]:
        names = self.held.names
        return frozenset(
            place
            for place in range(len(names))
            if np.abs(self.held.changes(Expression(variable(place), names))).max() <= EXACT_CHANGE
        )

    def libraries(self) -> Iterator[list[Term]]:
        """Polynomials of growing degree, one family of functions after another, then several."""
        arguments = self.space, self.seen.names, self.seen.points, self.seen.scale
        degree_one = SearchSpace(operators=self.space.operators, max_degree=1)
        yield mixed_library(degree_one, *arguments[1:], families=())
        yield radial_library(*arguments)
        yield distance_library(*arguments)
        yield from family_libraries(*arguments, by_half=True)
        yield mixed_library(*arguments)

    def offer(self, concept: Expression) -> LawCandidate | None:
        """Test a formula on held-out rows and keep it if it is worth telling."""
        if concept in self.pool:
            return self.pool[concept]
        changes = self.held.changes(concept)
        with np.errstate(all="ignore"):
            total = float(np.sqrt(np.mean(changes**2)))
        if not total <= NEARLY or not self._varies(concept, total):
            return None
        change = self.change_of(changes)
        self.pool[concept] = LawCandidate(concept, self._complexity(concept), change, self.allowed)
        return self.pool[concept]

    def change_of(self, changes: FloatArray) -> ChangeParts:
        """A change and its systematic part: all of it where a computed motion has no noise."""
        with np.errstate(all="ignore"):
            total = float(np.sqrt(np.mean(changes**2)))
        if self.is_computed or total <= EXACT_CHANGE:
            return ChangeParts(total, total)
        return split_change(changes, self.held.points / self.held.scale, self.rng)

    def _varies(self, concept: Expression, change: float) -> bool:
        """Whether it varies more than it changes: one value everywhere was not seen to be kept."""
        with np.errstate(all="ignore"):
            points = np.concatenate([self.seen.points, self.held.points])
            spread = float(concept(points).std())
            slopes = concept.gradient(points) * self.held.scale
            share = spread / float(np.sqrt(np.mean(np.sum(slopes**2, axis=1))))
        return share > max(ONE_VALUE, CLEARLY * change)

    def laws(self) -> list[LawCandidate]:
        """The simplest independent laws of the pool.

        Where some change by rounding only the motion is known exactly, and the others are none.
        """
        if self._is_known_exactly():
            return self._simplest(self._exact())
        bounded = [self.bounded(one) for one in self.pool.values() if one.is_law]
        return self._simplest([one for one in bounded if one.is_law])

    def bounded(self, one: LawCandidate) -> LawCandidate:
        """The same with more of its change systematic if noise cannot explain the rest."""
        if self._noisy is None or one.is_exact or not one.is_law:
            return one
        share = self._explained(self._noisy, self._needs(self._noisy, one.concept))
        if share * BEYOND_NOISE**2 >= 1:
            return one
        change = replace(one.change, systematic=one.change.total * sqrt(1 - share))
        return replace(one, change=change)

    @property
    def _noisy(self) -> Orbits | None:
        """Held-out points on orbits, where other formulas show how much noise these have."""
        return None if self.is_computed or not isinstance(self.held, Orbits) else self.held

    def _explained(self, orbits: Orbits, needed: NeededNoise) -> float:
        """How much of a squared change noise can explain, as far as the other formulas show."""
        return explained_share(needed, [self._needs(orbits, other) for other in self.pool])

    def _needs(self, orbits: Orbits, concept: Expression) -> NeededNoise:
        if concept not in self._needed:
            self._needed[concept] = orbits.needed_noise(concept)
        return self._needed[concept]

    def settle(self) -> None:
        """Offer laws with plain numbers, and in their plainest form modulo the others."""
        # The rows of a few orbits are too much alike to tell plain numbers from fitted ones.
        for one in self.laws() if self.seen.is_rich else ():
            if not one.is_exact:
                self._offer_plainer(one.concept)
        self._offer_combinations()

    def _offer_combinations(self) -> None:
        """Offer laws without what they share with others, while that makes one plainer."""
        told: list[LawCandidate] = []
        while (found := self.laws()) != told:
            told = found
            for one in found:
                others = [other.concept for other in found if other is not one]
                for form in combinations(one.concept, others, self.held.points):
                    if self._complexity(form) < one.complexity:
                        self.offer(form)

    def _offer_plainer(self, concept: Expression) -> None:
        fitted = self.held.changes(concept) ** 2
        for form in snapped_forms(concept):
            with np.errstate(all="ignore"):
                worse = self.held.changes(form) ** 2 - fitted
            error = worse.std() / sqrt(len(worse))
            if np.isfinite(worse).all() and worse.mean() <= COMPATIBLE * error:
                self.offer(form)
                return

    def nearly(self, laws: Sequence[LawCandidate]) -> list[LawCandidate]:
        """The simplest that are nearly conserved and independent of the laws."""
        pool = [self.bounded(one) for one in self.pool.values() if not one.is_exact]
        rest = [one for one in pool if one not in laws]
        # Of what changes little the simplest is told: with more terms anything is kept better.
        ranked = sorted(
            rest, key=lambda one: (one.change.total > LITTLE, one.complexity, one.change.total)
        )
        return self._independent(ranked, [one.concept for one in laws])

    def _simplest(
        self, candidates: Sequence[LawCandidate], known: Sequence[Expression] = ()
    ) -> list[LawCandidate]:
        # A stand-in that only just passes may be simpler than the law: on orbits in one plane the
        # energy without its third component.
        ordered = sorted(
            candidates,
            key=lambda one: (
                one.change.systematic > one.allowed / 10,
                one.complexity,
                len(fitted_positions(one.concept.tree)),
                one.change.total,
            ),
        )
        return self._independent(ordered, known)

    def _independent(
        self, ordered: Sequence[LawCandidate], known: Sequence[Expression]
    ) -> list[LawCandidate]:
        units = [self.units(concept) for concept in known]
        chosen: list[LawCandidate] = []
        for one in ordered:
            own = self.units(one.concept)
            others = [*known, *(other.concept for other in chosen)]
            if is_new(own, units) and self._stands_alone(one, others):
                chosen.append(one)
                units.append(own)
        return chosen

    def _stands_alone(self, one: LawCandidate, known: Sequence[Expression]) -> bool:
        """Whether it is a law modulo the others too: g1 + 0.02 x is not another one than g1."""
        if not known or not one.is_law:
            return True
        most = max(5 * self.allowed, 3 * one.change.systematic)
        if isinstance(self.held, Flow):
            return self.change_of(self.held.changes_modulo(one.concept, known)).systematic <= most
        if self._noisy is None or one.is_exact:
            return True
        rest = self._noisy.needed_noise(one.concept, known)
        share = self._explained(self._noisy, rest)
        return share * BEYOND_NOISE**2 >= 1 or rest.variance * (1 - share) <= most**2

    def units(self, concept: Expression) -> FloatArray:
        """Unit gradients of a formula at some points."""
        if concept not in self._units:
            points, scale = self.seen.points[:N_POINTS], self.seen.scale
            some = np.arange(len(points))
            tangent = None if self.tangent is None else self.tangent.subset(some)
            self._units[concept] = unit_gradients(concept, points, scale, tangent)
        return self._units[concept]

    def _complexity(self, concept: Expression) -> int:
        return concept.complexity(self.space.costs)


def combinations(
    law: Expression, others: Sequence[Expression], points: FloatArray
) -> Iterator[Expression]:
    """What a law becomes without a term or factor that it shares with another law."""
    for other in others:
        for tree in _taken_out(law.tree, other.tree):
            try:
                yield canonical_form(Expression(tree, law.names), points)
            except ClosedformError:  # nothing is left, or it is not defined everywhere
                continue


def _taken_out(law: Tree, other: Tree) -> Iterator[Tree]:
    known = {term: number for number, term in scaled_terms(other)}
    shares = {number / known[term] for number, term in scaled_terms(law) if term in known}
    for share in sorted(shares, key=abs):
        yield apply("sub", law, apply("mul", constant(share), other))
    yield apply("div", law, other)
    yield apply("mul", law, other)
