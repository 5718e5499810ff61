"""What the neurons of a store were read as, with their fields."""

from collections.abc import Mapping, Sequence
from typing import Any

from closedform.arrays import FloatArray
from closedform.errors import StorageError
from closedform.expressions.parse import parse
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.family import NeuronReading
from closedform.sweeping.neuron_task import FIELD_PARTS, load_neuron

Index = Mapping[str, float] | Sequence[float] | FloatArray | None


def stored_readings(
    store: ResultStore, index: Index = None, origin: tuple[str, str] | None = None
) -> list[NeuronReading]:
    """The readings of a store, in the order of their neurons.

    Parameters
    ----------
    store : ResultStore
    index : mapping, sequence or None
        Each neuron's place on the axis of a family: by name, or for the unit of that number; None
        takes the number itself.
    origin : tuple of str, optional
        Digests of the network and of the data that are meant; by default there may be only one.

    Raises
    ------
    StorageError
        If there is no such store, a field is no longer in it, or it holds several networks or
        sets of data and nothing says which is meant.
    """
    store.check_exists()
    found, count, origins = [], 0, set()
    for _, row in store.records():
        count += 1
        if row.get("status") not in ("done", "same") or "field" not in row:
            continue
        own = (row.get("network", ""), row.get("data", row["field"]["inputs"]))
        if origin is not None and own != origin and row.get("network"):
            continue
        origins.add(own)
        if origin is None and len(origins) > 1:
            raise StorageError(
                f"The store {store.path!r} holds readings of several networks, or of one on "
                f"several sets of data; pass what closedform.sweep returned, or keep each in a "
                f"store of its own."
            )
        field = load_neuron(
            {"neuron": row["neuron"], "store": [store.path, store.options]}
            | {name: row["field"][name] for name in FIELD_PARTS}
        )
        is_read = row["verdict"] != "none" and isinstance(row["concept"], str)
        concept = parse(row["concept"], names=list(field.names)) if is_read else None
        place = _place(row["neuron"], index, len(found))
        misalignment = float(row["misalignment"]) if is_read else 1.0
        found.append(NeuronReading(row["neuron"], place, field, concept, misalignment))
    if not found and count:
        raise StorageError(
            f"The store {store.path!r} holds {count} results and no fields; sweep again with "
            f"this version and without dropping fields."
        )
    return sorted(found, key=lambda reading: (_layer(reading.label), reading.index))


def _place(neuron: str, index: Any, count: int) -> float:
    if isinstance(index, Mapping):
        return float(index[neuron])
    last = neuron.rpartition(":")[2].split(",")[0]
    unit = int(last) if last.lstrip("-").isdecimal() else count
    return float(unit if index is None else index[unit])


def _layer(neuron: str) -> str:
    return neuron.rpartition(":")[0]
