"""What a sweep has found: a table of neurons, and what each of them needs to be looked at again."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from closedform.arrays import FloatArray
from closedform.errors import StorageError
from closedform.judge.rules import MATERIAL_DEGREES
from closedform.sweeping.execution.store import ResultStore, read_table

if TYPE_CHECKING:
    import pandas

    from closedform.sweeping.family import Families, NeuronReading

COLUMNS = (
    "neuron", "status", "verdict", "concept", "complexity", "misalignment", "low", "high", "floor",
    "engine", "evaluations",
    "seconds", "same_as", "reason", "network",
)  # fmt: skip
"""Columns of the table, in this order."""

SHOWN = ("neuron", "verdict", "complexity", "misalignment", "concept")
MOST_SHOWN = 20
"""Rows of a table that people see: a screen, with what stands above and below."""

Index = Mapping[str, float] | Sequence[float] | FloatArray | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """The results of a sweep, kept in its store.

    Attributes
    ----------
    store : ResultStore
    counts : dict
        Neurons in total, done before, and from this run: verified, ambiguous, approximate, none and
        failed.
    seconds : float
        Time of this run.
    network, data : str
        Digests of what was read: a store may hold more, and the table and the families are of
        these.
    """

    store: ResultStore
    counts: dict[str, int]
    seconds: float
    network: str = ""
    data: str = ""

    def table(self, where: str = "") -> "pandas.DataFrame":
        """One row for each neuron of this network on this data in the store.

        Parameters
        ----------
        where : str
            A condition as `pandas.DataFrame.query` takes it, such as
            ``"verdict == 'verified' and complexity < 10"``.
        """
        table = sweep_table(self.store, where)
        if not self.network or "network" not in table.columns:
            return table
        own = table["network"].isna() | (
            (table["network"] == self.network) & (table["data"] == self.data)
        )
        return table.loc[own].reset_index(drop=True)

    def families(self, index: Index = None, *, degrees: float = MATERIAL_DEGREES) -> "Families":
        """The neurons grouped by form, with their constants, scaled alike, as functions of an
        index.

        Parameters
        ----------
        index : mapping, sequence or None
            What the constants are functions of: a number for each neuron by name, or for the unit
            of that number; None takes the number of the unit.
        degrees : float
            An angle too small to matter: a neuron belongs to any form within it.
        """
        from closedform.sweeping.family import group

        return group(self.readings(index), degrees=degrees)

    def readings(self, index: Index = None) -> "list[NeuronReading]":
        """What the neurons of this network were read as on this data; `index` as in `families`."""
        origin = (self.network, self.data) if self.network else None
        return stored_readings(self.store, index, origin)

    def __str__(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in self.counts.items())

    def _repr_html_(self) -> str:
        """The counts, and the simplest verified formulas; of all neurons where none is verified."""
        table = self.table()
        verified = table.loc[table["verdict"] == "verified"]
        rows = simplest(verified if len(verified) else table)
        return f"<p>{escape(str(self))}</p>{rows.to_html(index=False)}"


def simplest(table: "pandas.DataFrame") -> Any:
    """As many rows as people see, the simplest formulas first."""
    ordered = table.sort_values(["complexity", "neuron"], na_position="last")
    return ordered[list(SHOWN)].head(MOST_SHOWN)


def sweep_table(store: ResultStore, where: str = "") -> "pandas.DataFrame":
    """The table of a store that sweeps have written; `where` as in `Sweep.table`."""
    store.check_exists()
    table: Any = read_table(store, where)
    table = table.reindex(
        columns=[*COLUMNS, *(name for name in table.columns if name not in COLUMNS)]
    )
    order = sorted(range(len(table)), key=lambda row: _place(str(table["neuron"].iloc[row])))
    return table.iloc[order].reset_index(drop=True)


def _place(neuron: str) -> tuple[tuple[str, int], ...]:
    """Neurons in the order of their numbers: fc:2 before fc:10."""
    # Texts and numbers by turns, beginning and ending with a text.
    pieces = re.split(r"(\d+)", neuron)
    numbers = [*map(int, pieces[1::2]), 0]
    return tuple(zip(pieces[::2], numbers, strict=True))


def stored_readings(
    store: ResultStore, index: Index = None, origin: tuple[str, str] | None = None
) -> "list[NeuronReading]":
    """The readings of a store, in the order of their neurons.

    `index` is as in `Sweep.families`, `origin` the digests of the network and of the data that are
    meant; by default there may be only one.
    """
    from closedform.expressions.parse import parse
    from closedform.sweeping.family import NeuronReading
    from closedform.sweeping.neuron_task import load_neuron

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
        field = load_neuron([store.path, store.options], row["neuron"], row["field"])
        is_read = row["verdict"] != "none" and isinstance(row["concept"], str)
        concept = parse(row["concept"], names=list(field.names)) if is_read else None
        place = _index(row["neuron"], index, len(found))
        misalignment = float(row["misalignment"]) if is_read else 1.0
        found.append(NeuronReading(row["neuron"], place, field, concept, misalignment))
    if not found and count:
        raise StorageError(
            f"The store {store.path!r} holds {count} results and no fields; sweep again with "
            f"this version and without dropping fields."
        )
    return sorted(found, key=lambda one: (one.label.rpartition(":")[0], one.index))


def _index(neuron: str, index: Any, count: int) -> float:
    if isinstance(index, Mapping):
        return float(index[neuron])
    last = neuron.rpartition(":")[2].split(",")[0]
    unit = int(last) if last.lstrip("-").isdecimal() else count
    return float(unit if index is None else index[unit])
