"""The engine `terms`: supports by beam search on moments, coefficients by an eigenproblem, judged on all points."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closedform.alignment.comparison import Comparison, prepare
from closedform.alignment.eigen import Fit, fit_coefficients
from closedform.alignment.residual import residual_field
from closedform.arrays import FloatArray
from closedform.errors import SpaceError
from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree, variable
from closedform.field.gradient_field import GradientField
from closedform.progress import Progress, Snapshot
from closedform.search.budget import Budget, Clock
from closedform.search.engine import SearchResult, Status
from closedform.search.front import Candidate, Front
from closedform.search.space import SearchSpace
from closedform.search.terms.beam import Beam, Sums, Support, Width, extend, merged, singles
from closedform.search.terms.formula import Sum, sums, write
from closedform.search.terms.jacobian import Jacobian, differentiate
from closedform.search.terms.library import Term, build_library
from closedform.search.terms.lines import Lines, prepare_lines
from closedform.search.terms.moments import Moments, compute_moments

PERFECT = 1e-11
"""A misalignment below this is rounding: nothing can be better."""

N_MOMENT_POINTS = 400
"""Points of which moments are taken: they say which terms depend on each other and which sums are perfect."""

NEAR = 1.5
"""What is this many times worse on the sample than the best so far may still be better on all points."""


@dataclass(frozen=True, slots=True)
class TermSearch:
    """Options of the term search.

    Attributes
    ----------
    max_terms : int
        Largest number of terms in a sum.
    width : int
        Supports that each step of the beam search goes on with.
    per_complexity : int
        Supports of each complexity that it goes on with besides.
    stages : tuple of int
        Sizes of the libraries that are searched one after the other, until one fits perfectly.
    n_points : int
        Points on which coefficients are fitted; the result is judged on all.
    reweightings : int
        Solves after the first, with weights that turn the eigenproblem's quotient into the misalignment.
    n_line_points : int
        Points on which it is judged how much a further term would help.
    pairs : int
        Up to this library size every pair of terms is judged so; beyond, only perfect pairs are sure to be seen.
    n_others : int
        How many further candidates of small misalignment the statistics list.

    Examples
    --------
    >>> from closedform.progress import Silent
    >>> points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> field = GradientField.from_arrays(points, points * [1.0, 4.0], names=["x", "v"])
    >>> result = TermSearch().search(field, SearchSpace(), Budget(seconds=10), np.random.default_rng(0), Silent())
    >>> print(result.front.best.expression)
    v**2 + 0.25*x**2
    """

    max_terms: int = 9
    width: int = 30
    per_complexity: int = 3
    stages: tuple[int, ...] = (400, 2000)
    n_points: int = 800
    reweightings: int = 3
    n_line_points: int = 100
    pairs: int = 500
    n_others: int = 20

    def __post_init__(self) -> None:
        for name in ("max_terms", "width", "per_complexity", "n_points", "n_line_points", "pairs"):
            if getattr(self, name) < 1:
                raise SpaceError(f"The term search's {name} must be at least 1; got {getattr(self, name)}.")
        if not self.stages or min(self.stages) < 1:
            raise SpaceError(f"The term search's stages must be positive library sizes; got {self.stages}.")

    @property
    def name(self) -> str:
        """The name under which the engine is registered."""
        return "terms"

    def search(
        self, field: GradientField, space: SearchSpace, budget: Budget, rng: np.random.Generator, progress: Progress
    ) -> SearchResult:
        """Look for sums of terms whose gradients lie in the field's row space."""
        _compile()
        clock = budget.start()
        if not (field.weights > 0).any():
            return SearchResult(Front(), "finished", {"engine": self.name, "seconds": clock.seconds, "evaluations": 0})
        run = _Run(self, field, space, clock, rng, progress)
        try:
            run.stages()
            run.further_concepts(rng)
        except KeyboardInterrupt:
            run.status = "interrupted"
        finally:
            progress.close()
        return SearchResult(run.front(), run.status, run.statistics())


@dataclass
class _Found:
    """A fitted support, judged on all points."""

    support: Support
    tree: Tree
    complexity: int
    misalignment: float


@dataclass
class _Library:
    """A library with all that was computed about it."""

    terms: list[Term]
    jacobian: Jacobian
    moments: Moments
    lines: Lines
    costs: NDArray[np.int64]


class _Run:
    """One search and what it has found so far."""

    def __init__(
        self, options: TermSearch, field: GradientField, space: SearchSpace, clock: Clock, rng: np.random.Generator,
        progress: Progress,
    ) -> None:  # fmt: skip
        self.options, self.field, self.space, self.clock, self.progress = options, field, space, clock, progress
        self.status: Status = "finished"
        usable = np.flatnonzero(field.weights > 0)
        if len(usable) > options.n_points:
            usable = np.sort(rng.choice(usable, options.n_points, replace=False))
        self.sample = field if len(usable) == field.n_points else field.subset(usable)
        self.all_points = _comparison(field)
        self.some_points = self.all_points if self.sample is field else _comparison(self.sample)
        self.found: dict[Tree, _Found] = {}
        self.library_sizes: list[int] = []
        self.most_terms = 0
        self.least = 1.0
        self.concepts: list[Tree] = []

    def stages(self) -> None:
        """Search one library after the other."""
        for limit in self.options.stages:
            library = self._library(limit)
            if library is None or self._search(library) or self.least <= PERFECT:
                return

    def further_concepts(self, rng: np.random.Generator) -> None:
        """With several latents, look for what the concepts found so far leave over."""
        field = self.field
        self.concepts = self._best_concept(self.found)
        while field.rank > 1 and len(self.concepts) == self.field.rank - field.rank + 1 and not self._is_over():
            gradients = Expression(self.concepts[-1], field.names).gradient(field.points)
            field = residual_field(field, gradients)
            if not (field.weights > 0).any():
                return
            inner = _Run(self.options, field, self.space, self.clock, rng, self.progress)
            inner.stages()
            self.library_sizes += inner.library_sizes
            self.status = inner.status
            self.concepts += inner._best_concept(inner.found)
            self._take({tree: (found.support, found.complexity) for tree, found in inner.found.items()})

    def _best_concept(self, found: dict[Tree, "_Found"]) -> list[Tree]:
        """The simplest of what fits about as well as the best."""
        near = [f for f in found.values() if f.misalignment <= max(3 * min(g.misalignment for g in found.values()), PERFECT)]
        return [min(near, key=lambda f: (f.complexity, f.misalignment)).tree] if near else []

    def _library(self, limit: int) -> _Library | None:
        sample = self.sample
        concept = sample.tangent.ambient(sample.frames)
        importance = np.einsum("n,ndk->d", sample.weights, concept**2)
        # Rounded, so that inputs that matter equally keep the user's order.
        importance = np.round(importance / max(float(importance.max()), 1e-300), 2)
        terms = build_library(self.space, sample.names, sample.points, sample.scale, importance, limit)
        jacobian, finite = differentiate([term.tree for term in terms], sample.points, sample.scale)
        if len(finite) == 0:
            return None
        some = np.unique(np.linspace(0, sample.n_points - 1, min(sample.n_points, N_MOMENT_POINTS)).astype(np.int64))
        moments, kept = compute_moments(jacobian.at(some), sample.subset(some))
        if len(kept) == 0:
            return None
        if len(kept) < jacobian.n_terms:
            jacobian = jacobian.select(kept)
        terms = [terms[i] for i in finite[kept]]
        self.library_sizes.append(len(terms))
        costs = np.array([term.cost for term in terms], dtype=np.int64)
        lines = prepare_lines(jacobian, sample, self.options.n_line_points)
        return _Library(terms, jacobian, moments, lines, costs)

    def _search(self, library: _Library) -> bool:
        """Beam search over supports; whether the budget is used up."""
        complete: list[Support] = []
        best = np.inf
        idle = 0
        beam = singles(library.moments, library.costs, self._width, self._bound())
        for n_terms in range(1, self.options.max_terms + 1):
            if len(beam) == 0:
                return False
            self.most_terms = max(self.most_terms, n_terms)
            fits = self._fit(library, beam)
            self._judge(library, beam, fits)
            if self._is_over():
                return True
            pairs = list(zip(beam.supports, fits, strict=True))
            complete += [support for support, fit in pairs if fit.misalignment <= PERFECT]
            going = [(support, fit) for support, fit in pairs if fit.misalignment > PERFECT]
            level = min((fit.misalignment for _, fit in going), default=1.0)
            idle = 0 if level < 0.95 * best else idle + 1
            best = min(best, level)
            if idle == 2 or not going or n_terms == self.options.max_terms:
                return False
            grown = self._extend(library, going, complete)
            if grown is None:
                return True
            beam = grown
        return False

    @property
    def _width(self) -> Width:
        return Width(self.options.width, self.options.per_complexity)

    def _extend(self, library: _Library, going: list[tuple[Support, Fit]], complete: list[Support]) -> Beam | None:
        """The supports of one term more; None when the budget is used up."""
        sums_now = Sums(np.array([s for s, _ in going]), np.array([fit.coefficients for _, fit in going]))
        jobs: list[tuple[Lines | None, Sums]] = [(library.lines, sums_now)]
        if sums_now.supports.shape[1] == 1:
            every = Sums(np.arange(len(library.terms))[:, None], np.ones((len(library.terms), 1)))
            few = len(library.terms) <= self.options.pairs
            jobs = [(library.lines, every)] if few else [(library.lines, sums_now), (None, every)]
        parts: list[Beam] = []
        join = self.space.costs.of("add")
        for lines, starting in jobs:
            steps = extend(library.moments, lines, library.costs, join, starting, complete, self._width, self._bound())
            for part in steps:
                if self._is_over():
                    return None
                if part is not None:
                    parts.append(part)
        return merged(parts)

    def _bound(self) -> float:
        """Complexity from which on nothing is of use."""
        largest = self.space.max_complexity + 1
        return min((f.complexity for f in self.found.values() if f.misalignment <= PERFECT), default=largest)

    def _fit(self, library: _Library, beam: Beam) -> list[Fit]:
        fits: list[Fit] = []
        for support in beam.supports:
            projected, frames = self._projected(library, support)
            fits.append(fit_coefficients(projected, frames, self.sample.weights, reweightings=self.options.reweightings))
            self.clock.evaluations += 1
            if self._is_over():
                # What is left counts as not fitted.
                missing = len(beam) - len(fits)
                return fits + [Fit(np.ones(len(support)), np.ones(len(support)), 1.0)] * missing
        return fits

    def _projected(self, library: _Library, support: Support) -> tuple[FloatArray, FloatArray]:
        """Gradients of a few terms and the network's directions, in coordinates in which both can be compared."""
        used, gradients = library.jacobian.dense(support)
        basis, frames = self.sample.tangent.basis, self.sample.frames
        if basis is None:
            # Other inputs' components of the gradients are zero.
            return gradients, frames[:, used]
        return np.swapaxes(basis[..., used, :], -1, -2) @ gradients, frames

    def _judge(self, library: _Library, beam: Beam, fits: list[Fit]) -> None:
        """Turn fits into formulas, and judge those that may be on the front, on all points."""
        number = self.space.costs.constant + self.space.costs.of("mul")
        drafts: list[tuple[int, float, Support, Sum]] = []
        for support, least, fit in zip(beam.supports, beam.sizes, fits, strict=False):
            drafts += [(least + number * d.n_numbers, fit.misalignment, support, d) for d in sums(fit.coefficients, fit.shares)]
        known = _Steps((f.complexity, f.misalignment) for f in self.found.values())
        own = _Steps((size, value) for size, value, support, draft in drafts if len(draft.places) == len(support))
        made: dict[Tree, tuple[Support, int]] = {}
        for expected, value, support, draft in drafts:
            if value > max(NEAR * min(known.best(expected), own.best(expected)), PERFECT):
                continue
            terms = [library.terms[k] for k in support]
            tree = write(draft, [term.tree for term in terms])
            size = complexity(tree, self.space.costs)
            if size <= self.space.max_complexity and tree not in self.found and self._allows(tree, terms):
                made[tree] = (support, size)
        if not made:
            return
        self._take(made)
        self._show()

    def _take(self, made: dict[Tree, tuple[Support, int]]) -> None:
        """Judge formulas, and remember those that come near the front."""
        trees = [tree for tree in made if tree not in self.found]
        values = self.some_points.misalignments(compile_tapes(trees))[0]
        if self.all_points is not self.some_points:
            trees = self._promising(trees, values, [made[tree][1] for tree in trees])
            values = self.all_points.misalignments(compile_tapes(trees))[0]
        for tree, value in zip(trees, values.tolist(), strict=True):
            self.found[tree] = _Found(made[tree][0], tree, made[tree][1], value)
            self.least = min(self.least, value)

    def _allows(self, tree: Tree, terms: list[Term]) -> bool:
        if any(term.is_given for term in terms):
            return True
        return self.space.allows(tree, self.field.names)

    def _promising(self, trees: list[Tree], values: FloatArray, sizes: list[int]) -> list[Tree]:
        """What comes near the front on the sample, or fits perfectly."""
        known = _Steps((f.complexity, f.misalignment) for f in self.found.values())
        own = _Steps(zip(sizes, values.tolist(), strict=True))
        near = [NEAR * min(known.best(size), own.best(size)) for size in sizes]
        return [tree for tree, value, limit in zip(trees, values, near, strict=True) if value <= max(limit, PERFECT)]

    def _is_over(self) -> bool:
        reason = self.clock.stop_reason(self.least)
        if reason is not None:
            self.status = reason
        return reason is not None

    def _show(self) -> None:
        used = min(self.clock.used, 1.0)
        seconds = self.clock.seconds
        lines = tuple((str(c.complexity), f"{c.misalignment:.1e}  {c.expression}") for c in self.front())
        left = seconds * (1 - used) / used if used > 0 else None
        self.progress.show(Snapshot("terms", used, left, lines, self.clock.evaluations / max(seconds, 1e-9)))

    def front(self) -> Front:
        """The front of all that was found; what differs from something simpler by rounding only is left out."""
        kept: list[Candidate] = []
        best = np.inf
        for found in sorted(self.found.values(), key=lambda f: (f.complexity, f.misalignment)):
            if best > PERFECT and found.misalignment < 0.999 * best:
                kept.append(self._candidate(found))
                best = found.misalignment
        return Front.of(kept)

    def _candidate(self, found: _Found) -> Candidate:
        return Candidate(Expression(found.tree, self.field.names), found.misalignment, found.complexity, self.options.name)

    def statistics(self) -> dict[str, Any]:
        """What the search did."""
        return {
            "engine": self.options.name,
            "seconds": self.clock.seconds,
            "evaluations": self.clock.evaluations,
            "library_sizes": list(self.library_sizes),
            "most_terms": self.most_terms,
            "concepts": [str(Expression(tree, self.field.names)) for tree in self.concepts],
            "others": self._others(),
        }

    def _others(self) -> list[str]:
        """Candidates that fit about as well as the best and hold no other of them, simplest first."""
        least = max(3 * self.least, PERFECT)
        chosen: list[_Found] = []
        for found in sorted(self.found.values(), key=lambda f: (f.complexity, f.misalignment, str(f.support))):
            if found.misalignment <= least and not any(set(c.support) <= set(found.support) for c in chosen):
                chosen.append(found)
        return [str(Expression(found.tree, self.field.names)) for found in chosen[: self.options.n_others]]


class _Steps:
    """The lowest misalignment up to each complexity."""

    def __init__(self, pairs: Iterable[tuple[int, float]]) -> None:
        ordered = sorted(pairs)
        self.sizes = [size for size, _ in ordered]
        self.lowest = list(accumulate((value for _, value in ordered), min))

    def best(self, size: int) -> float:
        """The lowest misalignment among what is no more complex; 1 if there is nothing."""
        place = bisect_right(self.sizes, size)
        return self.lowest[place - 1] if place else 1.0


@cache
def _compile() -> None:
    """Compile the judge before the clock starts."""
    field = GradientField.from_arrays(np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 1.0]]), np.ones((3, 2)), tangent="none")
    terms = [variable(0), variable(1)]
    jacobian, _ = differentiate(terms, field.points, field.scale)
    lines = prepare_lines(jacobian, field, 3)
    lines.least(np.array([[0]]), np.ones((1, 1)), np.ones((1, 2), dtype=np.bool_))
    _comparison(field).misalignments(compile_tapes(terms))


def _comparison(field: GradientField) -> Comparison:
    return prepare(field.points, field.frames, scale=field.scale, tangent=field.tangent.basis, weights=field.weights)
