"""The reading of one concept: search, choice, evidence, verdict."""

from dataclasses import dataclass, replace

import numpy as np

from closedform.alignment.scores import field_misalignment
from closedform.errors import DomainError
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation import Directions, HypothesisResult, Interpretation, Provenance
from closedform.search.budget import Budget, Clock
from closedform.selection.regions import divide
from closedform.stages import SEARCH_SHARE, Reading, Stages
from closedform.verification.alignment import measure_alignment
from closedform.verification.gain import next_simpler
from closedform.verification.inputs import leave_one_out
from closedform.verification.phi import even_forms, fit_phi
from closedform.verification.rivals import find_rivals
from closedform.verification.verdict import (
    Evidence,
    Thresholds,
    Verdict,
    count_points,
    judge,
    nothing_found,
)

N_ARROWS = 150


@dataclass(frozen=True, slots=True)
class Request:
    """What a reading is asked for beside the field.

    Attributes
    ----------
    limits : Budget
    provenance : Provenance
        As far as it is known before the search.
    hypothesis : Expression or None
    thresholds : Thresholds or None
    """

    limits: Budget
    provenance: Provenance
    hypothesis: Expression | None = None
    thresholds: Thresholds | None = None


def read_concept(stages: Stages, request: Request, clock: Clock) -> Interpretation:
    """Read the one concept of a field: search and choose on most points, judge on the others."""
    seen, held = stages.split()
    reading = stages.read(seen, request.limits.share(SEARCH_SHARE), stages.rule)
    return give_evidence(stages, request, clock, reading, seen, held)


def give_evidence(
    stages: Stages, request: Request, clock: Clock, reading: Reading, seen: GradientField, held: GradientField,
    whole: GradientField | None = None,
) -> Interpretation:  # fmt: skip
    """Gather the evidence about what was chosen, and judge it.

    Parameters
    ----------
    stages : Stages
    request : Request
    clock : Clock
        Of the request's budget.
    reading : Reading
        Search and choice on `seen`.
    seen, held : GradientField
        Points that search and choice have seen, and points that only the verdict sees.
    whole : GradientField, optional
        Where `held` is what other concepts leave over: the same points of all latents.
    """
    chosen, choice = reading.chosen, reading.choice
    provenance = replace(
        request.provenance,
        status=reading.result.status,
        evaluations=int(reading.result.statistics.get("evaluations", 0)),
        structure=tuple(reading.result.statistics.get("structure", ())),
    )
    if chosen is None or choice is None:
        said = "The search found no formula; widen the space or give it more time."
        return without_evidence(stages.field, nothing_found(said), replace(provenance, seconds=clock.seconds))
    concept = even_forms(chosen.expression, seen)
    interrupted = reading.result.status == "interrupted"
    halves = None if interrupted else stages.halves(seen, request.limits, clock, reading, concept, held)
    labels = divide(held, stages.rng)
    entries, index, drop = stages.entries(reading, choice, concept, held, labels)
    alignment = measure_alignment(concept, held, labels, stages.rng)
    rivals = find_rivals(
        concept, [(e.expression, e.complexity) for i, e in enumerate(entries) if i != index], held, labels, stages.rng
    )
    half = entries[index].complexity / 2
    evidence = Evidence(
        concept=concept,
        complexity=entries[index].complexity,
        alignment=alignment,
        phi=fit_phi(concept, held),
        stability=halves,
        simpler=tuple(entry.misalignment for entry in entries if entry.complexity <= half),
        next_simpler=next_simpler(
            concept, entries[index].complexity, [(e.expression, e.complexity, e.misalignment) for e in entries], held
        ),
        noise=stages.field.quality.noise_misalignment,
        rivals=rivals,
        whole=None if whole is None else measure_alignment(concept, whole, divide(whole, stages.rng), stages.rng),
        n_points=count_points(stages.field),
    )
    return Interpretation(
        names=stages.field.names,
        concept=concept,
        concepts=(concept,),
        verdict=judge(evidence, request.thresholds),
        front=tuple(entries),
        chosen=index,
        steepest_drop=drop,
        choice_reason=choice.reason,
        floor=min(entry.misalignment for entry in entries),
        alignment=alignment,
        phi=evidence.phi,
        rivals=rivals,
        stability=halves,
        inputs=leave_one_out(concept, held),
        faithfulness=None,
        hypothesis=None if request.hypothesis is None else compare_hypothesis(concept, request.hypothesis, held),
        directions=_directions(concept, held),
        field_quality=stages.field.quality,
        provenance=replace(provenance, seconds=clock.seconds),
    )


def compare_hypothesis(concept: Expression, hypothesis: Expression, held: GradientField) -> HypothesisResult:
    """Compare the concept with a formula that the user has in mind, on the data."""
    from closedform.equivalence.same_concept import same_concept  # brings SymPy

    try:
        answer = same_concept(str(concept), str(hypothesis), list(held.names), points=held.points)
        status, reason = answer.status, answer.reason
    except DomainError as error:
        # After the search it must not cost the answer.
        status, reason = "different", f"They cannot be compared on the held-out points. {error}"
    values = field_misalignment(hypothesis, held)
    return HypothesisResult(hypothesis, status, reason, float(np.average(values, weights=held.weights)))


def without_evidence(field: GradientField, verdict: Verdict, provenance: Provenance) -> Interpretation:
    """An interpretation without a formula."""
    return Interpretation(
        names=field.names, concept=None, concepts=(), verdict=verdict, front=(), chosen=None, steepest_drop=None,
        choice_reason="", floor=1.0, alignment=None, phi=None, rivals=(), stability=None, inputs=(), faithfulness=None,
        hypothesis=None, directions=None, field_quality=field.quality, provenance=provenance,
    )  # fmt: skip


def _directions(concept: Expression, held: GradientField) -> Directions | None:
    if len(held.names) != 2 or held.rank != 1:
        return None
    points = held.points[:N_ARROWS]
    with np.errstate(all="ignore"):
        gradients = concept.gradient(points)
        units = np.nan_to_num(gradients / np.linalg.norm(gradients, axis=1, keepdims=True))
    pairs = [tuple((float(a), float(b)) for a, b in array) for array in (points, held.directions[:N_ARROWS, :, 0], units)]
    return Directions(*pairs)
