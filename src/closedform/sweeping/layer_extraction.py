"""Fields of a layer in blocks: one forward pass and one vectorised backward pass for many neurons,
in bounded memory.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.basics.files import read_arrays, read_header, reading
from closedform.errors import StorageError
from closedform.field.tangent import StatedConstraint, choose_tangent
from closedform.field.tangent_space import TangentSpace, robust_spread
from closedform.networks.extract import open_source
from closedform.networks.options import OptionKeywords, as_inputs
from closedform.networks.rows import gather_rows
from closedform.networks.samples import Samples, smooth_samples
from closedform.networks.whole_network import behaviour, fingerprint
from closedform.sweeping.execution.shared_folder import SharedFolder, checksum
from closedform.sweeping.execution.task import content_key
from closedform.sweeping.likeness import Likeness, describe

INPUTS, FIELDS, PLANS = "inputs", "fields", "plans"
BLOCK = 256
"""Neurons that are extracted together."""

AT_ONCE = 2**14
"""Points times neurons in one vectorised backward pass: as much memory as a forward pass of so many
points.
"""


@dataclass(frozen=True, slots=True, eq=False)
class SweepInputs:
    """What all fields of a sweep share; computed once, and read by every worker."""

    points: FloatArray
    names: tuple[str, ...]
    tangent: TangentSpace

    def save(self, folder: SharedFolder) -> str:
        """Write the file, unless it is there; its name is a checksum."""
        space = self.tangent
        kept = {
            "points": self.points,
            "spectrum": space.spectrum,
            "basis": space.basis,
            "is_defined": space.is_defined,
        }
        arrays = {name: array for name, array in kept.items() if array is not None}
        header = {
            "names": self.names,
            "kind": space.kind,
            "rank": space.rank,
            "local_rank": space.local_rank,
        }
        stream = io.BytesIO()
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        np.savez(stream, header=text, **arrays)
        # The content alone: an archive also holds the time at which it was written.
        parts = [text.tobytes()]
        for name, array in arrays.items():
            parts.append(f"{name}{array.dtype.str}{array.shape}".encode())
            parts.append(np.ascontiguousarray(array).tobytes())
        content = b"\n".join(parts)
        name = f"{INPUTS}/{checksum(content)}.npz"
        if not folder.exists(name):
            folder.write(name, stream.getvalue())
        return name


@lru_cache(maxsize=4)
def load_inputs(path: str, options: tuple[tuple[str, Any], ...], name: str) -> SweepInputs:
    """Read what `SweepInputs.save` wrote; a process keeps the last few."""
    content = SharedFolder(path, **dict(options)).read(name)
    place = f"{path}/{name}"
    if content is None:
        raise StorageError(f"The sweep's inputs {place} are missing; resume it.")
    arrays = read_arrays(place, remedy="resume the sweep", content=content)
    with reading(place, "resume the sweep"):
        header = read_header(arrays)
        defined = arrays.get("is_defined")
        if defined is not None:
            defined.flags.writeable = False
        space = TangentSpace(
            header["kind"],
            header["rank"],
            frozen(arrays["basis"]) if "basis" in arrays else None,
            frozen(arrays["spectrum"]),
            defined,
            header["local_rank"],
        )
        return SweepInputs(frozen(arrays["points"]), tuple(header["names"]), space)


@dataclass(frozen=True, slots=True)
class FieldReference:
    """Where a neuron's field lies."""

    neuron: str
    file: str  # under the store's path
    place: int  # among the fields of the file
    shape: tuple[int, ...]
    """Points, and inputs plus one: gradients with the value in the last column."""
    checksum: str  # of its bytes
    likeness: Likeness


def read_values(folder: SharedFolder, where: Mapping[str, Any]) -> FloatArray | None:
    """Gradients and values of a neuron, in their last column, from what a reference to its field
    says; None where they are missing or damaged.
    """
    rows, columns = where["shape"]
    start, size = where["place"] * 8 * rows * columns, 8 * rows * columns
    content = folder.read_range(where["file"], start, start + size)
    if content is None or len(content) != size or checksum(content) != where["checksum"]:
        return None
    return np.frombuffer(content, dtype="<f8").reshape(rows, columns)


class LayerExtraction:
    """Extracts blocks of neurons at the same points, into a folder; `seed` chooses the points, the
    rest is as in `closedform.extract_field`.
    """

    def __init__(
        self,
        folder: SharedFolder,
        model: Any,
        inputs: Any,
        *,
        names: Sequence[str] | None,
        tangent: str | TangentSpace,
        constraints: Sequence[StatedConstraint],
        max_points: int | None,
        smoothing: float,
        seed: int,
        options: OptionKeywords,
    ) -> None:
        self._folder, self._model, self._smoothing, self._seed = folder, model, smoothing, seed
        rng = np.random.default_rng(seed)
        rows = gather_rows(inputs, max_points=max_points, rng=rng, prepare=options.get("prepare"))
        self.points_of_network = as_inputs(rows.parts)
        self.few_points = as_inputs({key: part[:2] for key, part in rows.parts.items()})
        # The rows are chosen and prepared, once for all blocks.
        self.options = cast(
            OptionKeywords, {name: value for name, value in options.items() if name != "prepare"}
        )
        self._given_names = names if names is not None else rows.names
        self._tangent, self._constraints = tangent, constraints
        self._fingerprint = fingerprint(model)
        self.network = self._fingerprint or behaviour(model, self.few_points)
        self._inputs: SweepInputs | None = None
        self._scale: FloatArray = np.ones(0)
        self.inputs_file = ""

    def prepare(self, neuron: str) -> SweepInputs:
        """Points, names and tangent space, from a look at one neuron."""
        if self._inputs is None:
            source = self._source(neuron, self.options)
            points = source.points
            labels = self._given_names
            if labels is None:
                labels = source.evaluate(points).names or [
                    f"x{place}" for place in range(points.shape[1])
                ]
            self._scale = robust_spread(points)
            space = self._tangent
            if not isinstance(space, TangentSpace):
                space = choose_tangent(points, self._scale, space, self._constraints, tuple(labels))
            self._inputs = SweepInputs(points, tuple(labels), space)
            self.inputs_file = self._inputs.save(self._folder)
        return self._inputs

    def block(self, neurons: Sequence[str]) -> list[FieldReference]:
        """References to the fields of some neurons: those of an earlier run, if the network is the
        same, or new ones.
        """
        inputs = self.prepare(neurons[0])
        plan = self._plan_file(neurons)
        known = None if plan is None else self._folder.read(plan)
        references = [] if known is None else _read_plan(known)
        if references:
            return references
        samples = self._samples(neurons, inputs)
        # Neuron by neuron, so that a worker reads the bytes of its own alone.
        rows = np.concatenate(
            [samples.jacobians.swapaxes(0, 1), samples.latents.T[:, :, None]], axis=2
        ).astype("<f8")
        likenesses = describe(rows[:, :, :-1], rows[:, :, -1], inputs.tangent, self._scale)
        content = rows.tobytes()
        name = _field_file(content)
        self._folder.write(name, content)
        references = [
            FieldReference(neuron, name, place, rows.shape[1:], checksum(row.tobytes()), likeness)
            for place, (neuron, row, likeness) in enumerate(
                zip(neurons, rows, likenesses, strict=True)
            )
        ]
        if plan is not None:
            self._folder.write(plan, _write_plan(references))
        return references

    def restore(self, references: Sequence[FieldReference]) -> list[FieldReference]:
        """The same references, if their file is whole; otherwise those of fields that are extracted
        again.
        """
        content = self._folder.read(references[0].file)
        if content is not None and references[0].file == _field_file(content):
            return list(references)
        neurons = [reference.neuron for reference in references]
        plan = self._plan_file(neurons)
        if plan is not None:
            self._folder.remove(plan)
        return self.block(neurons)

    def _source(self, neuron: str | list[str], options: OptionKeywords) -> Any:
        points = self.points_of_network
        return open_source(self._model, points, neuron, max_points=None, rng=self._seed, **options)

    def _samples(self, neurons: Sequence[str], inputs: SweepInputs) -> Samples:
        # Vectorised passes hold every neuron's gradient in every layer, for all points of a batch.
        size = min(self.options.get("batch_size", AT_ONCE), max(AT_ONCE // len(neurons), 1))
        options = cast(OptionKeywords, {**self.options, "batch_size": size})
        source = self._source(list(neurons), options)
        samples = source.evaluate(source.points)
        if not self._smoothing:
            return samples
        return smooth_samples(
            source,
            samples,
            radius=self._smoothing,
            rng=self._seed,
            scale=self._scale,
            tangent=inputs.tangent,
        )

    def _plan_file(self, neurons: Sequence[str]) -> str | None:
        """Named by all that decides about the fields; None for networks that cannot be told
        apart.
        """
        given = {name: value for name, value in self.options.items() if value is not None}
        if self._fingerprint is None or not all(
            isinstance(value, str | int | float | bool) for value in given.values()
        ):
            return None
        content = {
            "network": self._fingerprint,
            "inputs": self.inputs_file,
            "neurons": list(neurons),
            "smoothing": self._smoothing,
            "seed": self._seed,
            "options": given,
        }
        return f"{PLANS}/{content_key(content)}.json"


def _field_file(content: bytes) -> str:
    return f"{FIELDS}/{checksum(content)}.f8"


def _write_plan(references: Sequence[FieldReference]) -> bytes:
    """The references of a block, column by column, with a checksum in front."""
    first = references[0]
    columns = {
        "file": first.file,
        "shape": first.shape,
        "neurons": [reference.neuron for reference in references],
        "checksums": [reference.checksum for reference in references],
        "zero_shares": [reference.likeness.zero_share for reference in references],
        "directions": [reference.likeness.directions for reference in references],
        "orders": [reference.likeness.order for reference in references],
        "n_inputs": [reference.likeness.n_inputs for reference in references],
    }
    text = json.dumps(columns)
    return f"{checksum(text.encode())}\n{text}".encode()


def _read_plan(content: bytes) -> list[FieldReference]:
    """What `_write_plan` wrote, or nothing where it is damaged."""
    first, _, text = content.partition(b"\n")
    if first.decode(errors="replace") != checksum(text):
        return []
    plan = json.loads(text)
    likenesses = [
        Likeness(share, tuple(directions), tuple(order), count)
        for share, directions, order, count in zip(
            plan["zero_shares"],
            plan["directions"],
            plan["orders"],
            # Plans of earlier versions do not have it.
            plan.get("n_inputs", [0] * len(plan["orders"])),
            strict=True,
        )
    ]
    rows = zip(plan["neurons"], plan["checksums"], likenesses, strict=True)
    return [
        FieldReference(neuron, plan["file"], place, tuple(plan["shape"]), sum_, likeness)
        for place, (neuron, sum_, likeness) in enumerate(rows)
    ]
