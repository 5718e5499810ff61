"""The engine `pieces`: a field that is one formula here and another there.

Where a minimum or a maximum changes sides, or an absolute value its sign, directions jump. So
regions are grown from a point to the neighbours whose directions turn least: they stay on one side.
A formula that is exact in a region shows its whole side, and what is left over is the other. The
concept is the greater or the smaller of both, written so that they agree on the border: only then
do they say of every point on which side it lies.
"""

from dataclasses import dataclass
from dataclasses import field as default
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from closedform.basics.progress import Progress, Silent, Snapshot
from closedform.basics.threads import single_threaded
from closedform.canonical.form import canonical_form
from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import nearest_others
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import SearchResult
from closedform.searching.front import Candidate, Front
from closedform.searching.joined_sides import joined
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.structure_engine import FEWEST, StructureSearch, why_not


@dataclass(frozen=True, slots=True)
class Pieces:
    """Options of the search for pieces.

    Attributes
    ----------
    sides : StructureSearch
        Reads each side.
    regions : int
        Regions that are read until one shows a side.
    extent : float
        Share of the points in a region.
    each : float
        Share of the budget for one region or side.
    near : int
        Neighbours of a point to which a region may grow.

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
    regions: int = 8
    extent: float = 0.08
    each: float = 1 / 3
    near: int = 6

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
