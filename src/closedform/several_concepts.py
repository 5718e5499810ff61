"""The reading of several concepts: one after another, each on what those before it leave over.

Three passes. The first searches: the field, then the field modulo the concept found, and so on. The second puts all that
was found into one pool and takes the simplest that fits, then the simplest that fits modulo that one, and so on. Independence
of functions is a matroid, so that this greedy choice has the lowest total complexity: E1 and E2 rather than E1 + E2 and E1*E2.
The third gives the evidence for each concept modulo all others, where it stands alone: there nothing independent of it fits,
and what differs from it by a function of the others is the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from closedform.alignment.misalignment import chance_level
from closedform.alignment.scores import comparison_of
from closedform.canonical.partial_sums import partial_sums
from closedform.concept_reading import Request, compare_hypothesis, give_evidence
from closedform.expressions.expression import Expression
from closedform.expressions.tape import compile_tapes
from closedform.field.gradient_field import GradientField
from closedform.interpretation import HypothesisResult, Interpretation
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import Status
from closedform.searching.exchanged import exchanged
from closedform.searching.front import Candidate, Front
from closedform.selection.contenders import Contender
from closedform.selection.regions import divide
from closedform.stages import NOTHING_READ, SEARCH_SHARE, Reading, Stages
from closedform.verification.alignment import measure_alignment
from closedform.verification.together import judge_together, measure_together
from closedform.verification.verdict import Thresholds


@dataclass(frozen=True, slots=True)
class Rows:
    """Which points search and choice see, and which only the verdict sees."""

    seen: np.ndarray
    held: np.ndarray


def read_concepts(stages: Stages, request: Request, clock: Clock) -> Interpretation:
    """Read the concepts of a field of rank 2 or more."""
    rows = Rows(*stages.rows())
    readings = _search(stages, request, rows)
    pool = [*_pool(readings), *_partial(readings, stages)]
    chosen = _fitting(stages, request, readings, rows)
    if not chosen:
        return _nothing_read(stages, request, clock, readings[0], rows)
    if any(later.complexity < earlier.complexity for earlier, later in pairwise(chosen)):
        chosen = simplest_generators(stages, pool, len(chosen), rows)
    concepts = [contender.expression for contender in chosen]
    parts: list[Interpretation] = []
    for place in range(len(concepts)):
        others = [concept for other, concept in enumerate(concepts) if other != place]
        limits = _share_of_rest(request.limits, clock, stages.field.rank, len(concepts) - place)
        asked = replace(request, limits=limits, hypothesis=None)
        part = _part(stages, asked, others, concepts[place], pool, rows, readings[-1].result.status)
        if part.concept is not None:
            concepts[place] = part.concept
        parts.append(part)
    kept = [part for part in parts if part.verdict.status != "none"]
    if not kept:
        return _nothing_read(stages, request, clock, readings[0], rows)
    return _joined(stages, request, clock, readings, kept, rows)


def _search(stages: Stages, request: Request, rows: Rows) -> list[Reading]:
    """Search and choose on the field, on what the first concept leaves over, and so on; the last may have found nothing."""
    rank = stages.field.rank
    clock = request.limits.share(SEARCH_SHARE).start()
    readings: list[Reading] = []
    found: list[Expression] = []
    while len(found) < rank:
        inner = replace(stages, field=stages.field.modulo(found))
        seen = _counted(inner.field.subset(rows.seen))
        if seen is None:
            break
        # What a search has not used goes to those after it.
        limit = clock.remaining().share(1 / (rank - len(found)))
        known = [*_pool(readings), *_exchanged(readings)]
        step = f"concept {len(found) + 1} of {rank}"
        reading = inner.read(seen, limit, stages.rule, rescored(known, seen, stages), step=step)
        readings.append(reading)
        clock.evaluations += int(reading.result.statistics.get("evaluations", 0))
        if reading.chosen is None or reading.result.status == "interrupted" or not _promising(reading.chosen, seen, request):
            break
        found.append(reading.chosen.expression)
    return readings


def _promising(chosen: Contender, seen: GradientField, request: Request) -> bool:
    lines = Thresholds() if request.thresholds is None else request.thresholds
    return chosen.misalignment <= lines.approximate * chance_level(seen.rank, seen.tangent.rank)


def _fitting(stages: Stages, request: Request, readings: Sequence[Reading], rows: Rows) -> list[Contender]:
    """What was chosen, as long as it follows the field on held-out points, modulo what was chosen before it."""
    lines = Thresholds() if request.thresholds is None else request.thresholds
    fitting: list[Contender] = []
    for reading in readings:
        held = _counted(stages.field.modulo([contender.expression for contender in fitting]).subset(rows.held))
        if reading.chosen is None or held is None:
            break
        alignment = measure_alignment(reading.chosen.expression, held, divide(held, stages.rng), stages.rng)
        if alignment.bound > lines.approximate:
            break
        fitting.append(reading.chosen)
    return fitting


def simplest_generators(stages: Stages, pool: Sequence[Candidate], count: int, rows: Rows) -> list[Contender]:
    """Choose the simplest of all that was found, then the simplest modulo that one, and so on."""
    chosen: list[Contender] = []
    for _ in range(count):
        inner = replace(stages, field=stages.field.modulo([contender.expression for contender in chosen]))
        seen = _counted(inner.field.subset(rows.seen))
        best = None if seen is None else inner.choose(rescored(pool, seen, stages), seen, stages.rule).chosen
        if best is None:
            break
        chosen.append(best)
    return chosen


def _part(
    stages: Stages,
    request: Request,
    others: Sequence[Expression],
    concept: Expression,
    pool: Sequence[Candidate],
    rows: Rows,
    status: Status,
) -> Interpretation:
    """Evidence for one concept modulo the others, chosen once more there from all that was found."""
    inner = replace(stages, field=stages.field.modulo(others))
    seen, held = (_counted(inner.field.subset(some)) for some in (rows.seen, rows.held))
    clock = request.limits.start()
    if seen is None or held is None:
        return give_evidence(inner, request, clock, NOTHING_READ, inner.field, inner.field)
    own = Candidate(concept, 1.0, concept.complexity(stages.space.costs), "")
    reading = inner.choose(rescored([*pool, own], seen, stages), seen, stages.rule, status)
    return give_evidence(inner, request, clock, reading, seen, held, _counted(stages.field.subset(rows.held)))


def _joined(
    stages: Stages,
    request: Request,
    clock: Clock,
    readings: Sequence[Reading],
    parts: Sequence[Interpretation],
    rows: Rows,
) -> Interpretation:
    """One interpretation of all: the first concept's, the joint verdict, and the parts."""
    ordered = sorted(parts, key=lambda part: 0 if part.entry is None else part.entry.complexity)
    concepts = tuple(part.concept for part in ordered if part.concept is not None)
    seen, held = stages.field.subset(rows.seen), stages.field.subset(rows.held)
    joint = measure_together(concepts, seen, held)
    first = ordered[0]
    guess = request.hypothesis
    return replace(
        first,
        concepts=concepts,
        verdict=judge_together(joint, [part.verdict for part in ordered], request.thresholds),
        hypothesis=None if guess is None else _closest(concepts, guess, held),
        field_quality=stages.field.quality,
        provenance=replace(
            first.provenance,
            seconds=clock.seconds,
            evaluations=sum(int(reading.result.statistics.get("evaluations", 0)) for reading in readings),
            status=readings[-1].result.status,
        ),
        parts=tuple(ordered),
        together=joint,
    )


def _closest(concepts: Sequence[Expression], guess: Expression, held: GradientField) -> HypothesisResult:
    """The comparison with the concept that is the guess, or with the first."""
    results = [compare_hypothesis(concept, guess, held) for concept in concepts]
    return next((result for result in results if result.status != "different"), results[0])


def _nothing_read(stages: Stages, request: Request, clock: Clock, reading: Reading, rows: Rows) -> Interpretation:
    """The first search's choice with its evidence, and the joint verdict that nothing was read."""
    seen, held = (_counted(stages.field.subset(some)) for some in (rows.seen, rows.held))
    assert seen is not None
    assert held is not None
    limits = _share_of_rest(request.limits, clock, 1, 1)
    found = give_evidence(stages, replace(request, limits=limits), limits.start(), reading, seen, held)
    joint = measure_together((), seen, held)
    verdict = judge_together(joint, [found.verdict], request.thresholds)
    provenance = replace(found.provenance, seconds=clock.seconds)
    return replace(found, concepts=(), verdict=verdict, together=joint, provenance=provenance)


def _pool(readings: Iterable[Reading]) -> list[Candidate]:
    """All that the searches have found, and what was made of it for the choice."""
    found: dict[Expression, Candidate] = {}
    for reading in readings:
        for candidate in reading.result.front:
            found.setdefault(candidate.expression, candidate)
        for contender in reading.contenders:
            found.setdefault(contender.expression, Candidate(contender.expression, 1.0, contender.complexity, contender.engine))
    return list(found.values())


def _exchanged(readings: Iterable[Reading]) -> list[Candidate]:
    """What was chosen, with its inputs exchanged: where one component of a vector is conserved the others often are."""
    chosen = [reading.chosen for reading in readings if reading.chosen is not None]
    return [Candidate(image, 1.0, one.complexity, one.engine) for one in chosen for image in exchanged(one.expression)]


def _partial(readings: Iterable[Reading], stages: Stages) -> list[Candidate]:
    """Parts of the sums that were chosen: what an earlier concept was mixed with can be all that is left over beside it."""
    chosen = [reading.chosen for reading in readings if reading.chosen is not None]
    parts = [(part, one.engine) for one in chosen for part in partial_sums(one.expression)]
    return [Candidate(part, 1.0, part.complexity(stages.space.costs), engine) for part, engine in parts]


def rescored(candidates: Sequence[Candidate], field: GradientField, stages: Stages) -> Front:
    """The front of candidates that were found on another field."""
    if not candidates:
        return Front()
    trees = [candidate.expression.rename(field.names).tree for candidate in candidates]
    values, _ = comparison_of(field).misalignments(compile_tapes(trees))
    costs = stages.space.costs
    return Front.of(
        Candidate(candidate.expression, value, candidate.expression.complexity(costs), candidate.engine)
        for candidate, value in zip(candidates, values.tolist(), strict=True)
        if value < 1
    )


def _counted(field: GradientField) -> GradientField | None:
    """The field without points of weight 0; None if no point is left."""
    counted = field.weights > 0
    return None if not counted.any() else field if counted.all() else field.subset(counted)


def _share_of_rest(limits: Budget, clock: Clock, rank: int, n_left: int) -> Budget:
    """An equal share of the time that is left, and of the evaluations."""
    seconds = clock.remaining().seconds
    return replace(limits.share(1 / rank), seconds=None if seconds is None else seconds / n_left)
