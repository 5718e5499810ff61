"""The task of a sweep: load one neuron's field from shared storage, and read it with the effort
that was asked for.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedform.basics.keywords import checked_constructor
from closedform.basics.optional import versions
from closedform.errors import BudgetError, StorageError
from closedform.field.alignment.misalignment import chance_level
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.verdict import STATUSES
from closedform.reading.one_field import interpret_field
from closedform.searching.budget import Budget
from closedform.searching.portfolio import NOISE_FACTOR
from closedform.searching.search_stage import search
from closedform.sweeping.execution.shared_folder import SharedFolder
from closedform.sweeping.execution.task import content_key
from closedform.sweeping.layer_extraction import load_inputs, read_values

FUNCTION = "closedform.sweeping.neuron_task:read_neuron"
FIELD_PARTS = ("inputs", "file", "place", "shape", "checksum")
"""What a record keeps of its task, so that the field can be loaded again."""

STEEP, HALF = 0.4, 0.5
"""Nats for each unit of complexity that a formula of several inputs explains where there is one,
and the share of what a first reading leaves at which a look has found something.
"""

NOT_COMPARED = ("seconds", "versions", "digest")
"""Entries of a record that differ from run to run."""


@checked_constructor
@dataclass(frozen=True, slots=True)
class Effort:
    """How much to spend on one neuron, in evaluations, so that the answer does not depend on the
    machine or its load.

    Attributes
    ----------
    terms : int
        For the first reading, by the term search alone; 0 skips it.
    evaluations : int
        For the second reading, by `engine`; 0 skips it.
    engine : str
        Of the second reading: auto, evolution, or another.
    rule : str or int
        How the concept is chosen; see `closedform.interpret_field`.
    look : float
        Share of `evaluations` for a look where the first reading ends as `none`, or as
        `approximate` though no formula explains much for its length: unless one that `engine` finds
        then leaves at most half of what the first left, nothing more is spent. 0 always spends all.
    """

    terms: int = 1000
    evaluations: int = 20_000
    engine: str = "auto"
    rule: str | int = "evidence"
    look: float = 0.1

    def __post_init__(self) -> None:
        if min(self.terms, self.evaluations) < 0 or self.terms + self.evaluations == 0:
            given = f"terms={self.terms} and evaluations={self.evaluations}"
            raise BudgetError(
                f"A neuron needs a positive number of evaluations; got {given}. Pass 0 or more for "
                "each, and more than 0 for one."
            )
        if not 0 <= self.look <= 1:
            raise BudgetError(f"look is a share of evaluations, from 0 to 1; got {self.look}.")


def read_with(effort: Effort, field: GradientField, seed: int) -> tuple[Interpretation, str]:
    """Read a field; the answer, and what it took: 'terms' or the name of the second engine."""
    if effort.engine == "terms":
        effort = replace(
            effort, engine="auto", terms=effort.terms or effort.evaluations, evaluations=0
        )
    enough = max(PERFECT, NOISE_FACTOR * field.quality.noise_misalignment)
    first = None
    if effort.terms:
        # What the noise of the directions leaves unexplained no formula explains.
        target = enough if enough > PERFECT else None
        budget = Budget(evaluations=effort.terms, target=target)
        first = interpret_field(field, engine="terms", budget=budget, rng=seed, rule=effort.rule)
        if not effort.evaluations or first.verdict.status == "verified" or first.floor <= enough:
            return first, "terms"
        brief = int(effort.look * effort.evaluations)
        if brief and _may_be_none(first, field):
            # Longer formulas follow any smooth function a little closer. One that is there is
            # mostly found at once by a search for more than sums, and need not be judged for that.
            budget = Budget(evaluations=brief)
            look = search(field, engine=effort.engine, budget=budget, rng=seed, progress=False)
            if look.front.lowest > HALF * first.floor:
                return first, "terms"
    budget = Budget(evaluations=effort.evaluations)
    second = interpret_field(field, engine=effort.engine, budget=budget, rng=seed, rule=effort.rule)
    if first is not None and _rank(first) < _rank(second):
        return first, "terms"
    return second, effort.engine


def _may_be_none(found: Interpretation, field: GradientField) -> bool:
    """Whether a neuron may have no formula: nothing is found, or what comes near is long for what
    it explains.
    """
    if found.verdict.status != "approximate":
        return found.verdict.status == "none"
    chance = chance_level(field.rank, field.tangent.rank)
    return all(
        np.log(chance / max(each.misalignment, PERFECT)) < STEEP * each.complexity
        for each in found.front
        if len(each.expression.tree.variables) > 1
    )


def _rank(found: Interpretation) -> tuple[int, float]:
    """Smaller is better: the verdict, then the misalignment."""
    order = STATUSES.index(found.verdict.status)
    return order, found.alignment.misalignment if found.alignment is not None else 1.0


def read_neuron(payload: dict[str, Any]) -> dict[str, Any]:
    """Read a neuron; the payload says where its field lies and what may be spent."""
    began = time.perf_counter()
    field = load_neuron(payload["store"], payload["neuron"], payload)
    found, engine = read_with(Effort(**payload["effort"]), field, payload["seed"])
    record = {"neuron": payload["neuron"], "status": "done", **summary(found), "engine": engine}
    record["field"] = {name: payload[name] for name in FIELD_PARTS}
    record |= {"network": payload["network"], "data": payload["inputs"]}
    return finished(record, time.perf_counter() - began)


def load_neuron(store: Sequence[Any], neuron: str, where: Mapping[str, Any]) -> GradientField:
    """The field of a neuron, which lies in a store (its path and options) where a task or its
    record says; a StorageError if it is missing or damaged.
    """
    path, options = store
    inputs = load_inputs(path, tuple(sorted(options.items())), where["inputs"])
    values = read_values(SharedFolder(path, **options), where)
    if values is None:
        raise StorageError(
            f"The field of {neuron} in {where['file']!r} is missing or damaged; resume the sweep."
        )
    return GradientField.from_arrays(
        inputs.points,
        values[:, :-1],
        latents=values[:, -1],
        names=inputs.names,
        tangent=inputs.tangent,
    )


def summary(found: Interpretation) -> dict[str, Any]:
    """What is kept of an interpretation: a few kilobytes; the rest comes back with the same
    seed.
    """
    entry, alignment = found.entry, found.alignment
    return {
        "verdict": found.verdict.status,
        "concept": None if found.concept is None else str(found.concept),
        "complexity": None if entry is None else entry.complexity,
        "misalignment": None if alignment is None else alignment.misalignment,
        "low": None if alignment is None else alignment.low,
        "high": None if alignment is None else alignment.high,
        "floor": found.floor,
        "usable": found.field_quality.n_usable,
        "evaluations": found.provenance.evaluations,
        "ended": found.provenance.status,
        "seed": found.provenance.seed,
        "reasons": list(found.verdict.reasons),
        "findings": [finding.code for finding in found.field_quality.findings],
        "front": [
            [entry.complexity, entry.misalignment, str(entry.expression)] for entry in found.front
        ],
    }


def finished(record: dict[str, Any], seconds: float) -> dict[str, Any]:
    """A record with its digest, by which two runs are compared, and what is not compared."""
    content = {name: value for name, value in record.items() if name not in NOT_COMPARED}
    return {
        **content,
        "digest": content_key(content),
        "seconds": round(seconds, 3),
        "versions": versions(),
    }
