"""What a sweep has found: a table of neurons, and what each of them needs to be looked at again."""

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from closedform.execution.store import ResultStore
from closedform.execution.table import read_table
from closedform.judge.rules import MATERIAL_DEGREES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas

    from closedform.arrays import FloatArray
    from closedform.families.family import Families

COLUMNS = (
    "neuron", "status", "verdict", "concept", "complexity", "misalignment", "low", "high", "floor",
    "engine", "evaluations",
    "seconds", "same_as", "reason",
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
    """

    store: ResultStore
    counts: dict[str, int]
    seconds: float

    def table(self, where: str = "") -> "pandas.DataFrame":
        """One row for each neuron in the store.

        Parameters
        ----------
        where : str
            Conditions that must all hold, such as ``"verdict = verified, complexity < 10"``.
        """
        return sweep_table(self.store, where)

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
        from closedform.families.family import group
        from closedform.sweeping.stored_readings import stored_readings

        return group(stored_readings(self.store, index), degrees=degrees)

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
    return table.reindex(
        columns=[*COLUMNS, *(name for name in table.columns if name not in COLUMNS)]
    )
