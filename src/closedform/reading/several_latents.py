"""The reading of several concepts: one after another, each on what those before it leave over.

Three passes. The first searches: the field, then the field modulo the concept found, and so on. The
second puts all that was found into one pool and takes the simplest that fits, then the simplest
that fits modulo that one, and so on. Independence of functions is a matroid, so that this greedy
choice has the lowest total complexity: E1 and E2 rather than E1 + E2 and E1*E2. The third gives the
evidence for each concept modulo all others, where it stands alone: there nothing independent of it
fits, and what differs from it by a function of the others is the same.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, pairwise, permutations

import numpy as np
from numpy.typing import NDArray

from closedform.basics.progress import Named
from closedform.canonical.proposals import partial_sums
from closedform.expressions.complexity import Costs
from closedform.expressions.expression import Expression
from closedform.field.alignment.misalignment import chance_level
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.evidence import HypothesisResult
from closedform.judge.checks import FollowsLatents
from closedform.judge.joint_verdict import judge_together, measure_together
from closedform.judge.measurement import compare_hypothesis
from closedform.judge.regions import divide, measure_alignment
from closedform.judge.rules import Contender
from closedform.judge.select_stage import Selection, select
from closedform.reading.settings import SEARCH_SHARE, Settings, rest_of
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import SearchResult, Status
from closedform.searching.front import Candidate, Front
from closedform.searching.search_stage import MOST_HELD_OUT, choose_points, rescored, search


@dataclass(frozen=True, slots=True)
class LatentsReader:
    """The field of several latents, what reads it, and the points that search and choice see."""

    field: GradientField
    settings: Settings
    rng: np.random.Generator
    seen: NDArray[np.int64]
    held: NDArray[np.int64]

    @property
    def costs(self) -> Costs:
        """What nodes cost."""
        return self.settings.space.costs

    def search_all(self, budget: Budget) -> list[Selection]:
        """Search and choose on the field, on what the first concept leaves over, and so on."""
        rank, clock = self.field.rank, budget.start()
        selections: list[Selection] = []
        found: list[Expression] = []
        while len(found) < rank:
            inner = self.field.modulo(found)
            seen = _usable(inner, self.seen)
            if not len(seen):
                break
            # What a search has not used goes to those after it.
            limit = clock.remaining().share(1 / (rank - len(found)))
            (child,) = self.rng.spawn(1)
            shown = Named(self.settings.progress, f"concept {len(found) + 1} of {rank}")
            result = search(
                inner, space=self.settings.space, engine=self.settings.engine, budget=limit,
                rng=child, progress=shown, points=seen,
            )  # fmt: skip
            clock.evaluations += result.evaluations
            # Inputs exchanged: other components of a vector are often conserved too.
            known = _pool(selections, self.costs, permute_inputs)
            both = replace(
                result, front=result.front.merge(rescored(known, inner.subset(seen), self.costs))
            )
            selections.append(select(both, inner, rule=self.settings.rule, rng=child))
            chosen, chance = selections[-1].chosen, chance_level(inner.rank, inner.tangent.rank)
            most = self.settings.thresholds.approximate * chance
            is_over = result.status == "interrupted"
            if chosen is None or is_over or chosen.misalignment > most:
                break
            found.append(chosen.expression)
        return selections

    def fitting(self, selections: Sequence[Selection]) -> list[Contender]:
        """What was chosen, while it follows the field on held-out points modulo the others."""
        fitting: list[Contender] = []
        for selection in selections:
            inner = self.field.modulo([contender.expression for contender in fitting])
            held = inner.subset(_usable(inner, self.held))
            if selection.chosen is None or not held.n_points:
                break
            alignment = measure_alignment(selection.chosen.expression, held, divide(held, self.rng))
            if alignment.bound > self.settings.thresholds.approximate:
                break
            fitting.append(selection.chosen)
        return fitting

    def simplest_generators(self, pool: Sequence[Candidate], count: int) -> list[Contender]:
        """Choose the simplest of all that was found, then the simplest modulo it, and so on."""
        chosen: list[Contender] = []
        for _ in range(count):
            best = self.choose(pool, [contender.expression for contender in chosen]).chosen
            if best is None:
                break
            chosen.append(best)
        return chosen

    def choose(
        self, pool: Sequence[Candidate], others: Sequence[Expression], status: Status = "finished"
    ) -> Selection:
        """Choose from what is known already, modulo other concepts, without a search."""
        inner = self.field.modulo(others)
        seen = _usable(inner, self.seen)
        front = rescored(pool, inner.subset(seen), self.costs) if len(seen) else Front()
        result = SearchResult(
            front, status, engine=self.settings.engine.name, digest=inner.digest(),
            seen=tuple(seen.tolist()), costs=self.costs,
        )  # fmt: skip
        return select(result, inner, rule=self.settings.rule, rng=self.rng.spawn(1)[0])

    def judge(
        self, selection: Selection, others: Sequence[Expression], budget: Budget
    ) -> Interpretation:
        """The evidence for one concept modulo the others."""
        further = [FollowsLatents(self.field)] if others else []
        checks, (child,) = [*self.settings.checks, *further], self.rng.spawn(1)
        return self.settings.judge(selection, self.field.modulo(others), checks, budget, child)


def read_latents(
    field: GradientField,
    settings: Settings,
    limits: Budget,
    clock: Clock,
    hypothesis: Expression | None,
    rng: np.random.Generator,
) -> Interpretation:
    """Read the concepts of a field of rank 2 or more."""
    seen = choose_points(field, rng)
    held = np.sort(
        rng.permutation(np.setdiff1d(np.flatnonzero(field.weights > 0), seen))[:MOST_HELD_OUT]
    )
    reader = LatentsReader(field, settings, rng, seen, held)
    selections = reader.search_all(limits.share(SEARCH_SHARE))
    try:
        return _judged(reader, selections, limits, clock, hypothesis)
    except KeyboardInterrupt:
        # As for one latent: the first interrupt ends the searching only.
        stopped = [
            replace(one, result=replace(one.result, status="interrupted")) for one in selections
        ]
        return _judged(reader, stopped, limits, clock, hypothesis)


def _judged(
    reader: LatentsReader,
    selections: Sequence[Selection],
    limits: Budget,
    clock: Clock,
    hypothesis: Expression | None,
) -> Interpretation:
    """The verdict on what was searched for."""
    chosen = reader.fitting(selections)
    if not chosen:
        return _nothing_read(reader, selections[0], rest_of(limits, clock))
    # Parts of sums: what an earlier concept was mixed with can be all that is left apart from it.
    pool = _pool(selections, reader.costs, partial_sums)
    if any(later.complexity < earlier.complexity for earlier, later in pairwise(chosen)):
        chosen = reader.simplest_generators(pool, len(chosen))
    concepts = [contender.expression for contender in chosen]
    parts: list[Interpretation] = []
    for place, concept in enumerate(concepts):
        others = [other for number, other in enumerate(concepts) if number != place]
        own = Candidate(concept, 1.0, concept.complexity(reader.costs), "")
        selection = reader.choose([*pool, own], others, selections[-1].result.status)
        rest = rest_of(limits, clock)
        seconds = None if rest.seconds is None else rest.seconds / (len(concepts) - place)
        share = replace(rest.share(1 / reader.field.rank), seconds=seconds)
        part = reader.judge(selection, others, share)
        if part.concept is not None:
            concepts[place] = part.concept
        parts.append(part)
    kept = [part for part in parts if part.verdict.status != "none"]
    if not kept:
        return _nothing_read(reader, selections[0], rest_of(limits, clock))
    return _joined(reader, selections, kept, hypothesis)


def _joined(
    reader: LatentsReader,
    selections: Sequence[Selection],
    parts: Sequence[Interpretation],
    hypothesis: Expression | None,
) -> Interpretation:
    """One answer of all: the joint verdict and the parts, without a front of its own."""
    ordered = sorted(parts, key=lambda part: 0 if part.entry is None else part.entry.complexity)
    concepts = tuple(part.concept for part in ordered if part.concept is not None)
    seen, held = reader.field.subset(reader.seen), reader.field.subset(reader.held)
    joint = measure_together(concepts, seen, held)
    verdict = judge_together(joint, [part.verdict for part in ordered], reader.settings.thresholds)
    return Interpretation(
        names=reader.field.names,
        verdict=verdict,
        field_quality=reader.field.quality,
        provenance=replace(
            ordered[0].provenance,
            evaluations=sum(selection.result.evaluations for selection in selections),
            status=selections[-1].result.status,
            structure=selections[0].result.sentences,
        ),
        concept=concepts[0],
        concepts=concepts,
        confidence=float(np.prod([part.confidence or 0.0 for part in ordered])),
        hypothesis=None if hypothesis is None else _closest(ordered, hypothesis, held),
        parts=tuple(ordered),
        together=joint,
    )


def _closest(
    parts: Sequence[Interpretation], guess: Expression, held: GradientField
) -> HypothesisResult:
    """The comparison with the concept that is the guess, or with the first."""
    results = [
        compare_hypothesis(part.concept, guess, held, constants=part.constants)
        for part in parts
        if part.concept is not None
    ]
    return next((result for result in results if result.status != "different"), results[0])


def _nothing_read(reader: LatentsReader, first: Selection, budget: Budget) -> Interpretation:
    """The joint verdict that nothing was read; the first search's choice is the only part."""
    found = reader.judge(first, (), budget)
    joint = measure_together((), reader.field.subset(reader.seen), reader.field.subset(reader.held))
    verdict = judge_together(joint, [found.verdict], reader.settings.thresholds)
    return Interpretation(
        names=found.names,
        verdict=verdict,
        field_quality=found.field_quality,
        provenance=found.provenance,
        concept=found.concept,
        parts=(found,) if found.concept is not None else (),
        together=joint,
    )


def _pool(
    selections: Iterable[Selection],
    costs: Costs,
    further: Callable[[Expression], Iterable[Expression]],
) -> list[Candidate]:
    """All that the searches have found, what was made of it for the choice, and, of what was
    chosen, further formulas.
    """
    found: dict[Expression, Candidate] = {}
    more: list[Candidate] = []
    for selection in selections:
        for candidate in selection.result.front:
            found.setdefault(candidate.expression, candidate)
        for one in selection.contenders:
            made = Candidate(one.expression, 1.0, one.complexity, one.engine)
            found.setdefault(one.expression, made)
        if (chosen := selection.chosen) is not None:
            more += [
                Candidate(form, 1.0, form.complexity(costs), chosen.engine)
                for form in further(chosen.expression)
            ]
    return [*found.values(), *more]


def _usable(field: GradientField, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of some points that count."""
    return rows[field.weights[rows] > 0]


MOST_PERMUTED = 6
"""Inputs of which every order is tried; of more, one or two pairs are exchanged."""

MOST = 1500
"""Formulas that are made of one."""


def permute_inputs(formula: Expression) -> list[Expression]:
    """The formula with its inputs in other places, each function's spelling once, without the
    formula itself.

    Examples
    --------
    >>> import closedform as cf
    >>> [str(image) for image in permute_inputs(cf.parse("x**2 + p", names=["x", "p"]))]
    ['p**2 + x']
    """
    names = formula.names
    orders = permutations(names) if len(names) <= MOST_PERMUTED else _pairs_exchanged(names)
    images = (Expression(formula.tree, order).rename(names) for order in islice(orders, MOST))
    return [image for image in dict.fromkeys(images) if image != formula]


def _pairs_exchanged(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Orders that differ by one exchange, then those by two."""
    pairs = list(combinations(range(len(names)), 2))
    for exchanges in (*((pair,) for pair in pairs), *combinations(pairs, 2)):
        places = list(names)
        for one, other in exchanges:
            places[one], places[other] = places[other], places[one]
        yield tuple(places)
