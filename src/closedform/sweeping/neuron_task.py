"""The task of a sweep: read one neuron's field from shared storage and its concept out of the
field.
"""

import time
from typing import Any

from closedform.basics.optional import versions
from closedform.errors import StorageError
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.sweeping.effort import Effort, read_with
from closedform.sweeping.execution.shared_folder import SharedFolder
from closedform.sweeping.execution.task import content_key
from closedform.sweeping.inputs_file import load_inputs
from closedform.sweeping.layer_extraction import FieldReference
from closedform.sweeping.likeness import Likeness

FUNCTION = "closedform.sweeping.neuron_task:read_neuron"
FIELD_PARTS = ("inputs", "file", "place", "shape", "checksum")
"""What a record keeps of its task, so that the field can be loaded again."""

NOT_COMPARED = ("seconds", "versions", "digest")
"""Entries of a record that differ from run to run."""


def read_neuron(payload: dict[str, Any]) -> dict[str, Any]:
    """Read a neuron; the payload says where its field lies and what may be spent."""
    began = time.perf_counter()
    field = load_neuron(payload)
    found, engine = read_with(Effort(**payload["effort"]), field, payload["seed"])
    record = {"neuron": payload["neuron"], "status": "done", **summary(found), "engine": engine}
    record["field"] = {name: payload[name] for name in FIELD_PARTS}
    record |= {"network": payload["network"], "data": payload["inputs"]}
    return finished(record, time.perf_counter() - began)


def load_neuron(payload: dict[str, Any]) -> GradientField:
    """The field of a task.

    Raises
    ------
    StorageError
        If it is missing or damaged.
    """
    path, options = payload["store"]
    inputs = load_inputs(path, tuple(sorted(options.items())), payload["inputs"])
    shape = (payload["shape"][0], payload["shape"][1])
    nothing = Likeness(0.0, (), ())
    reference = FieldReference(
        payload["neuron"], payload["file"], payload["place"], shape, payload["checksum"], nothing
    )
    values = reference.read(SharedFolder(path, **options))
    if values is None:
        raise StorageError(
            f"The field of {payload['neuron']} in {payload['file']!r} is missing or damaged; "
            f"resume the sweep."
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
