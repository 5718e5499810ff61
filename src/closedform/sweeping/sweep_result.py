"""What a sweep has found: a table of neurons, and what each of them needs to be looked at again."""

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from closedform.judge.rules import MATERIAL_DEGREES
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.table import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas

    from closedform.arrays import FloatArray
    from closedform.sweeping.family import Families, NeuronReading

COLUMNS = (
    "neuron", "status", "verdict", "concept", "complexity", "misalignment", "low", "high", "floor",
    "engine", "evaluations",
    "seconds", "same_as", "reason", "network",
)  # fmt: skip
"""Columns of the table, in this order."""

MOST_LISTED = 20
"""Rows that a notebook shows."""


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
            Conditions that must all hold, such as ``"verdict = verified, complexity < 10"``.
        """
        table = sweep_table(self.store, where)
        if not self.network or "network" not in table.columns:
            return table
        own = table["network"].isna() | (
            (table["network"] == self.network) & (table["data"] == self.data)
        )
        return table.loc[own].reset_index(drop=True)

    def families(
        self,
        index: "Mapping[str, float] | Sequence[float] | FloatArray | None" = None,
        *,
        degrees: float = MATERIAL_DEGREES,
    ) -> "Families":
        """The neurons grouped by form, with their constants, scaled alike, as functions of an
        index.

        Parameters
        ----------
        index : mapping, sequence or None
            What the constants are functions of: a number for each neuron by name, or for the unit
            of that number; None takes the number of the unit.
        degrees : float
            An angle too small to matter: a neuron belongs to any form within it.

        Returns
        -------
        Families
        """
        from closedform.sweeping.family import group

        return group(self.readings(index), degrees=degrees)

    def readings(
        self, index: "Mapping[str, float] | Sequence[float] | FloatArray | None" = None
    ) -> "list[NeuronReading]":
        """What the neurons of this network were read as on this data; `index` as in `families`."""
        from closedform.sweeping.stored_readings import stored_readings

        origin = (self.network, self.data) if self.network else None
        return stored_readings(self.store, index, origin)

    def __str__(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in self.counts.items())

    def _repr_html_(self) -> str:
        """The counts, and the simplest verified formulas; of all neurons where none is verified."""
        table = self.table()
        verified = table.loc[table["verdict"] == "verified"]
        listed = verified if len(verified) else table
        few = listed.sort_values(["complexity", "neuron"], na_position="last").head(MOST_LISTED)
        rows: Any = few[["neuron", "verdict", "complexity", "misalignment", "concept"]]
        return f"<p>{escape(str(self))}</p>{rows.to_html(index=False)}"


def sweep_table(store: ResultStore, where: str = "") -> "pandas.DataFrame":
    """The table of a store that sweeps have written.

    Parameters
    ----------
    store : ResultStore
    where : str
        As in `Sweep.table`.

    Raises
    ------
    StorageError
        If there is no such store, or a condition cannot be read.
    """
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
