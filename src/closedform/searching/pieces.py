"""The engine `pieces`: a field that is one formula here and another there.

Where a minimum or a maximum changes sides, or an absolute value its sign, directions jump. So
regions are grown from a point to the neighbours whose directions turn least: they stay on one side.
A formula that is exact in a region shows its whole side, and what is left over is the other. The
concept is the greater or the smaller of both.

Each side is known up to an invertible function. On the border both are equal, so one is turned by a
power, a logarithm or an exponential, multiplied and shifted, until their difference has one sign on
one side and the other on the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import chain, product
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from closedform.arrays import FloatArray
from closedform.basics.progress import Progress, Silent, Snapshot
from closedform.basics.threads import single_threaded
from closedform.canonical.form import canonical_form
from closedform.expressions.complexity import complexity
from closedform.expressions.evaluate import evaluate
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import power_of, signed_terms, sum_of, times
from closedform.expressions.tree import Constant, Tree, apply, constant, variable
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import nearest_others
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import SearchResult
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.structure_engine import FEWEST, StructureSearch, why_not

FUNCTIONS = ("inv", "log", "exp")

LOOSE = 0.3
"""A factor that is not known better than this, as a share of itself, is not known."""

DENOMINATORS = (1, 2, 3, 4, 5, 10, 20, 100, 1000, 10_000, 100_000)
"""Of numbers that people write, in their order."""

LARGEST = 1e6
"""Where a bound is missing on one side, a number of this size stands in for it."""

Line = tuple[Fraction, Fraction]
"""A factor and what is added."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Options of the search for pieces.

    Examples
    --------
    >>> from closedform.basics.progress import Silent
    >>> from closedform.expressions.parse import parse
    >>> points = np.random.default_rng(0).uniform(1, 2, (400, 3))
    >>> slopes = parse("x + max(y*z, 2*x)", names=["x", "y", "z"]).gradient(points)
    >>> field = GradientField.from_arrays(points, slopes, names=["x", "y", "z"])
    >>> result = Pieces().search(
    ...     field, SearchSpace(), Budget(seconds=5), np.random.default_rng(0), Silent()
    ... )
    >>> print(result.front.best.expression)
    max(2*x, y*z) + x
    """

    sides: StructureSearch = default(default_factory=lambda: StructureSearch(exactly=True))
    regions: int = 8  # that are read until one shows a side
    extent: float = 0.08  # share of the points in a region
    each: float = 1 / 3  # share of the budget for one region or side
    near: int = 6  # neighbours of a point to which a region may grow

    @property
    def name(self) -> str:
        """The name by which a result says who found it."""
        return "pieces"

    @single_threaded
    def search(
        self,
        field: GradientField,
        space: SearchSpace,
        budget: Budget,
        rng: np.random.Generator,
        progress: Progress,
    ) -> SearchResult:
        """Look for two formulas, each exact on its side, and join them."""
        clock, told = budget.start(), {"engine": self.name, "seconds": 0.0, "evaluations": 0}
        if why_not(field) is not None or not space.unbred >= {"min", "max"}:
            progress.close()
            return SearchResult(Front(), "finished", told)
        run = _Run(self, field, space, clock, rng, progress)
        found: list[Candidate] = []
        try:
            found = run.candidates()
            status = clock.stop_reason() or "finished"
        except KeyboardInterrupt:
            status = "interrupted"
        finally:
            progress.close()
        told = {**told, "seconds": clock.seconds, "evaluations": clock.evaluations}
        return SearchResult(Front.of(found), status, told)


@dataclass
class _Run:
    """One search."""

    options: Pieces
    field: GradientField
    space: SearchSpace
    clock: Clock
    rng: np.random.Generator
    progress: Progress

    def candidates(self) -> list[Candidate]:
        """The sides, joined in each way in which they tell all points apart."""
        every = np.flatnonzero(self.field.weights > 0)
        first = self._side(every)
        if first is None:
            return []
        is_first = self._follows(first, every)
        rest = every[~is_first]
        second = self._read(rest) or self._side(rest)
        if second is None or not self._follows(second, rest).all():
            return []
        points = self.field.points[every]
        # A power or a pole is peeled off where it is monotone on its own side.
        sides = canonical_form(first, points[is_first]), canonical_form(second, points[~is_first])
        forms = [
            Expression(tree, self.field.names)
            for tree in joined(*sides, points, is_first)
            if self.space.allows(tree, self.field.names)
            and complexity(tree, self.space.costs) <= self.space.max_complexity
        ]
        values = [float(field_misalignment(form, self.field).mean()) for form in forms]
        return [
            Candidate(form, value, complexity(form.tree, self.space.costs), self.options.name)
            for form, value in zip(forms, values, strict=True)
        ]

    def _side(self, rows: NDArray[np.int64]) -> Expression | None:
        """A formula that is exact in some region and on more than that, of some points."""
        if len(rows) < FEWEST:
            return None
        size = max(int(self.options.extent * len(rows)), 2 * FEWEST)
        for region in self._regions(rows, size):
            found = self._read(region)
            if found is not None and self._follows(found, rows).sum() >= len(region):
                return found
            if self.clock.stop_reason() is not None:
                return None
        return None

    def _read(self, rows: NDArray[np.int64]) -> Expression | None:
        """The formula of some points, if there is an exact one."""
        if len(rows) < FEWEST:
            return None
        self.progress.show(Snapshot(self.options.name, min(self.clock.used, 1.0)))
        limit = self.clock.budget.share(self.options.each).within(self.clock.remaining())
        (rng,) = self.rng.spawn(1)
        result = self.options.sides.search(
            self.field.subset(rows), self.space, limit, rng, Silent()
        )
        if result.status == "interrupted":
            raise KeyboardInterrupt
        self.clock.evaluations += result.evaluations
        best = result.front.best
        return best.expression if best is not None and best.misalignment <= PERFECT else None

    def _follows(self, formula: Expression, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(field_misalignment(formula, self.field)[rows] <= PERFECT)

    def _regions(self, rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
        """Regions from points at random, none of which lies in an earlier region; those through
        which directions turn least come first, as they may cross no border.
        """
        places = self.field.points[rows] / self.field.scale
        frames = self.field.frames[rows, :, 0]
        near = nearest_others(places, min(self.options.near, len(rows) - 1))
        turns = 1 - np.einsum("nd,nkd->nk", frames, frames[near]) ** 2
        links: list[list[tuple[float, int]]] = [[] for _ in rows]
        for start, (ends, turned) in enumerate(zip(near.tolist(), turns.tolist(), strict=True)):
            for end, turn in zip(ends, turned, strict=True):
                links[start].append((turn, end))
                links[end].append((turn, start))
        is_new = np.ones(len(rows), dtype=bool)
        found: list[tuple[float, NDArray[np.int64]]] = []
        while is_new.any() and len(found) < self.options.regions:
            steepest, grown = _grown(links, int(self.rng.choice(np.flatnonzero(is_new))), size)
            is_new[grown] = False
            found.append((steepest, rows[grown]))
        return [region for _, region in sorted(found, key=lambda one: one[0])]


def _grown(links: list[list[tuple[float, int]]], start: int, size: int) -> tuple[float, list[int]]:
    """Points reached from one, each over the link along which directions turn least, and how much
    they turn along the steepest.
    """
    reached, border, steepest = {start}, list(links[start]), 0.0
    heapify(border)
    while border and len(reached) < size:
        turn, point = heappop(border)
        if point not in reached:
            reached.add(point)
            steepest = max(steepest, turn)
            for link in links[point]:
                heappush(border, link)
    return steepest, sorted(reached)


def joined(
    first: Expression, second: Expression, points: FloatArray, is_first: NDArray[np.bool_]
) -> list[Tree]:
    """Minima and maxima that are the first formula at some points and the second at all others."""
    signs, trees = np.where(is_first, 1.0, -1.0), (first.tree, second.tree)
    if not all(np.isfinite(evaluate(tree, points)).all() for tree in trees):
        return []
    ways = chain(
        [_proportional(*trees, points, signs)],
        _times_an_input(*trees, points, signs),
        _plus_terms(*trees, points, signs),
    )
    return [tree for way in ways for tree in way] or _shifted(*trees, points, signs)


def _times_an_input(
    one: Tree, other: Tree, points: FloatArray, signs: FloatArray
) -> Iterator[list[Tree]]:
    """Where w has both signs, w*min(a, b) is the smaller of w*a and w*b here, the greater there."""
    for column in range(points.shape[1]):
        if not _has_one_sign(points[:, column]) and points[:, column].all():
            shared = variable(column)
            sides = apply("div", one, shared), apply("div", other, shared)
            yield [times(shared, tree) for tree in _proportional(*sides, points, signs)]


def _plus_terms(
    one: Tree, other: Tree, points: FloatArray, signs: FloatArray
) -> Iterator[list[Tree]]:
    """The side b + h of min(a, b) + h is known as b, if h is a function of b."""
    for whole, part, own in ((one, other, -signs), (other, one, signs)):
        kinds: tuple[list[Tree], list[Tree]] = [], []
        for sign, term in signed_terms(whole):
            is_shared = term.variables <= part.variables
            kinds[is_shared].append(term if sign > 0 else apply("neg", term))
        if all(kinds):
            rest, shared = (sum_of(terms) for terms in kinds)
            yield [apply("add", tree, shared) for tree in _proportional(part, rest, points, own)]


def _proportional(one: Tree, other: Tree, points: FloatArray, signs: FloatArray) -> list[Tree]:
    """Sides of which one is turned by a factor, and by a power where neither changes its sign."""
    u, v = evaluate(one, points), evaluate(other, points)
    found = [
        apply(name, _on_line(one, (factor, Fraction(0))), other)
        for name, sides in _opposite(signs)
        if (factor := _factor(u, v, sides, _ratios(one, other))) is not None
    ]
    if _has_one_sign(u) and _has_one_sign(v):
        above, beside = (
            tree if values[0] > 0 else apply("neg", tree) for tree, values in ((one, u), (other, v))
        )
        found += [
            apply(name, _power_law(above, law), beside)
            for name, sides in _opposite(signs)
            if (law := _line(np.log(np.abs(u)), np.log(np.abs(v)), sides, np.exp)) is not None
            and law[0] != 1
        ]
    return found


def _shifted(one: Tree, other: Tree, points: FloatArray, signs: FloatArray) -> list[Tree]:
    """Sides of which one is multiplied and shifted, after both were turned by a function."""
    return [
        apply(name, _on_line(turned, line), other_turned)
        for (turned, own), (other_turned, others) in product(
            _turned(one, points), _turned(other, points)
        )
        for name, sides in _opposite(signs)
        if (line := _line(own, others, sides)) is not None
    ]


def _opposite(signs: FloatArray) -> tuple[tuple[str, FloatArray], ...]:
    """The first side is the greater one of a maximum, or the smaller one of a minimum."""
    return ("max", signs), ("min", -signs)


def _has_one_sign(values: FloatArray) -> bool:
    return bool((values > 0).all() or (values < 0).all())


def _turned(tree: Tree, points: FloatArray) -> Iterator[tuple[Tree, FloatArray]]:
    """A formula, and functions of it that are monotone and finite at all points."""
    yield tree, evaluate(tree, points)
    for name in FUNCTIONS:
        own = apply(name, tree)
        with np.errstate(all="ignore"):
            values = evaluate(own, points)
        if np.isfinite(values).all() and (name != "inv" or _has_one_sign(values)):
            yield own, values


def _power_law(tree: Tree, law: Line) -> Tree:
    """A multiple of a power."""
    power, factor = law
    own = power_of(tree, abs(power))
    if power < 0:
        return apply("div", constant(factor), own)
    return _on_line(own, (factor, Fraction(0)))


def _on_line(tree: Tree, line: Line) -> Tree:
    factor, added = line
    scaled = tree if factor == 1 else times(constant(factor), tree)
    return scaled if added == 0 else sum_of([scaled, constant(added)])


def _ratios(one: Tree, other: Tree) -> list[Fraction]:
    """Factors by which a number in the first becomes one in the second: sides often share terms."""
    first, second = (
        {abs(token.value) for token in tree.tokens if isinstance(token, Constant)} | {Fraction(1)}
        for tree in (one, other)
    )
    return [sign * b / a for a in sorted(first) for b in sorted(second) for sign in (1, -1) if a]


def _factor(
    u: FloatArray, v: FloatArray, sides: FloatArray, ratios: Sequence[Fraction]
) -> Fraction | None:
    """The plainest a with a*u above v on one side, and below it on the other."""
    with np.errstate(all="ignore"):
        bounds, is_low = v / u, u * sides > 0
    low = float(bounds[is_low].max(initial=-inf))
    high = float(bounds[~is_low & (u != 0)].min(initial=inf))
    return plainest_between(low, high, ratios) if _is_known(low, high) else None


def _line(
    u: FloatArray, v: FloatArray, sides: FloatArray, scale: np.ufunc = np.positive
) -> Line | None:
    """The plainest a, and for it the plainest b, or function of it, with a*u + b above v on one
    side, and below it on the other.
    """
    rows = -sides[:, None] * np.column_stack([u, np.ones_like(u)])
    ends = [
        linprog([sign, 0.0], A_ub=rows, b_ub=-sides * v, bounds=[(None, None)] * 2)
        for sign in (1.0, -1.0)
    ]
    if any(end.status != 0 for end in ends):
        return None
    low, high = (float(end.x[0]) for end in ends)
    if not _is_known(low, high):
        return None
    factor = plainest_between(low, high)
    bounds = scale(v - float(factor) * u)
    low = float(bounds[sides > 0].max(initial=-inf))
    high = float(bounds[sides < 0].min(initial=inf))
    return (factor, plainest_between(low, high)) if low < high else None


def _is_known(low: float, high: float) -> bool:
    """Whether a factor lies between bounds that say something about it."""
    return low < high and low * high > 0 and high - low < LOOSE * max(abs(low), abs(high))


def plainest_between(low: float, high: float, known: Sequence[Fraction] = ()) -> Fraction:
    """The number of an open interval that a person would write: of few digits, then one that is
    known, then one over a number of few digits, then of more digits.

    Examples
    --------
    >>> plainest_between(0.69, 0.72), plainest_between(-1.6, -1.4), plainest_between(1.41, 1.43)
    (Fraction(7, 10), Fraction(-3, 2), Fraction(10, 7))
    """
    middle = np.clip((low + high) / 2, max(low, -LARGEST), min(high, LARGEST))
    short, long = DENOMINATORS[:7], DENOMINATORS[7:]
    multiples = [Fraction(round(float(middle) * count), count) for count in short + long]
    parts = [Fraction(count, round(count / float(middle)) or count) for count in short if middle]
    for number in (*multiples[: len(short)], *known, *parts, *multiples[len(short) :]):
        if low < number < high:
            return number
    return Fraction(float(middle))
