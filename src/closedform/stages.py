"""The stages between a field and a verdict, with what they share: points, engine, space, rule and random numbers."""

from dataclasses import dataclass, replace

import numpy as np

from closedform.alignment.scores import field_misalignment
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation import FrontEntry
from closedform.progress import Named, Progress
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import Engine, SearchResult, Status
from closedform.searching.front import Front
from closedform.searching.space import SearchSpace
from closedform.selection.choice import Choice, Rule, choose
from closedform.selection.contenders import Contender, gather
from closedform.verification.alignment import angles_in_degrees, measure_alignment
from closedform.verification.phi import even_forms, fit_phi
from closedform.verification.stability import Stability, compare_halves

HELD_OUT = 0.3
MOST_HELD_OUT, MOST_SEEN = 1500, 4000
MOST_IN_CHOICE = 1500
FEWEST_IN_HALF = 40
SEARCH_SHARE, HALF_SHARE = 0.36, 0.32
"""Of a budget of evaluations. Of one of seconds the halves get what the first search has left, less time for the rest."""

HALF_SHARES_OF_REST = (0.42, 0.8)
N_ANGLES = 400
NOTHING = Front()


@dataclass(frozen=True, slots=True)
class Reading:
    """What search and choice say about one set of points."""

    result: SearchResult
    contenders: tuple[Contender, ...]
    choice: Choice | None

    @property
    def chosen(self) -> Contender | None:
        """The chosen contender."""
        return None if self.choice is None else self.contenders[self.choice.index]


NOTHING_READ = Reading(SearchResult(NOTHING, "finished"), (), None)


@dataclass(slots=True)
class Stages:
    """The stages of one reading."""

    field: GradientField
    engine: Engine
    space: SearchSpace
    rule: Rule
    rng: np.random.Generator
    progress: Progress

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Which points search and choice see, and which only the verdict sees."""
        order = self.rng.permutation(np.flatnonzero(self.field.weights > 0))
        count = min(max(int(HELD_OUT * len(order)), 1), MOST_HELD_OUT)
        return np.sort(order[count : count + MOST_SEEN]), np.sort(order[:count])

    def split(self) -> tuple[GradientField, GradientField]:
        """The field at both kinds of points."""
        seen, held = self.rows()
        return self.field.subset(seen), self.field.subset(held)

    def read(self, field: GradientField, budget: Budget, rule: Rule, also: Front = NOTHING, *, step: str = "search") -> Reading:
        """Search some points and choose, from what is found there and from `also`; `step` is shown to who waits."""
        (rng,) = self.rng.spawn(1)
        result = self.engine.search(field, self.space, budget, rng, Named(self.progress, step))
        return self._choose(result, result.front.merge(also), field, rule, rng)

    def choose(self, front: Front, field: GradientField, rule: Rule, status: Status = "finished") -> Reading:
        """Choose from what is known already, without a search; the status is that of the search that found it."""
        (rng,) = self.rng.spawn(1)
        result = SearchResult(front, status, {"engine": self.engine.name, "seconds": 0.0, "evaluations": 0})
        return self._choose(result, front, field, rule, rng)

    def _choose(
        self, result: SearchResult, front: Front, field: GradientField, rule: Rule, rng: np.random.Generator
    ) -> Reading:
        if not len(front):
            return Reading(result, (), None)
        few = field.subset(_some(np.flatnonzero(field.weights > 0), MOST_IN_CHOICE, rng))
        contenders, scores = gather(front, few, rng, self.space.costs)
        if not contenders:
            return Reading(result, (), None)
        choice = choose(contenders, scores, rule=rule, noise=self.field.quality.noise_misalignment, rng=rng)
        return Reading(result, contenders, choice)

    def halves(
        self, seen: GradientField, limits: Budget, clock: Clock, first: Reading, concept: Expression, held: GradientField
    ) -> Stability | None:
        """Search both halves of the points with other seeds, and choose on each; they share what is left of the time.

        What the first search found stands for choice as well: a half that only fails to find the concept says nothing against
        it, one that prefers another formula does.
        """
        order = self.rng.permutation(seen.n_points)
        if len(order) < 2 * FEWEST_IN_HALF:
            return None
        found = []
        parts = zip(np.array_split(order, 2), HALF_SHARES_OF_REST, strict=True)
        for number, (part, share) in enumerate(parts, start=1):
            left = clock.remaining().seconds
            budget = limits.share(HALF_SHARE) if left is None else replace(limits.share(HALF_SHARE), seconds=share * left)
            step = f"half {number} of the data"
            chosen = self.read(seen.subset(np.sort(part)), budget, self.rule, first.result.front, step=step).chosen
            if chosen is not None:
                found.append(even_forms(chosen.expression, seen))
        return compare_halves(concept, found, held)

    def entries(
        self, reading: Reading, choice: Choice, concept: Expression, held: GradientField, labels: np.ndarray
    ) -> tuple[list[FrontEntry], int, int]:
        """The front as the user sees it, with the places of the choice and of the steepest drop."""
        best, shown = np.inf, []
        for i, contender in enumerate(reading.contenders):
            if contender.regional < best or i in (choice.index, choice.steepest_drop):
                shown.append(i)
            best = min(best, contender.regional)
        entries = [self._entry(reading.contenders[i], concept if i == choice.index else None, held, labels) for i in shown]
        # The concept may be the square of what was chosen, and then it is more complex.
        order = sorted(range(len(shown)), key=lambda place: entries[place].complexity)
        places = [shown[place] for place in order]
        return [entries[place] for place in order], places.index(choice.index), places.index(choice.steepest_drop)

    def _entry(self, contender: Contender, concept: Expression | None, held: GradientField, labels: np.ndarray) -> FrontEntry:
        expression = contender.expression if concept is None else concept
        alignment = measure_alignment(expression, held, labels, self.rng)
        values = field_misalignment(expression, held)[held.weights > 0]
        angles = angles_in_degrees(values[_some(np.arange(len(values)), N_ANGLES, self.rng)])
        return FrontEntry(
            expression=expression,
            complexity=expression.complexity(self.space.costs),
            misalignment=alignment.misalignment,
            low=alignment.low,
            high=alignment.high,
            regional=contender.regional,
            errors=contender.errors,
            engine=contender.engine,
            angles=tuple(float(f"{angle:.4g}") for angle in angles),
            phi=fit_phi(expression, held),
        )


def _some(indices: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return indices if len(indices) <= most else np.sort(rng.choice(indices, most, replace=False))
