"""What a sweep has found: a table of neurons, and what each of them needs to be looked at again."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from closedform.execution.store import ResultStore
from closedform.execution.table import read_table

if TYPE_CHECKING:
    import pandas

COLUMNS = (
    "neuron", "status", "verdict", "concept", "complexity", "misalignment", "low", "high", "floor",
    "engine", "evaluations",
    "seconds", "same_as", "reason",
)  # fmt: skip
"""Columns of the table, in this order."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """The results of a sweep, which are in its store.

    Attributes
    ----------
    store : ResultStore
    counts : dict
        Neurons in all, done before, and by this run: verified, ambiguous, approximate, none and
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

    def __str__(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in self.counts.items())


def sweep_table(store: ResultStore, where: str = "") -> "pandas.DataFrame":
    """The table of a store that sweeps have written.

    Parameters
    ----------
    store : ResultStore
    where : str
        As in `Sweep.table`.
    """
    table: Any = read_table(store, where)
    return table.reindex(
        columns=[*COLUMNS, *(name for name in table.columns if name not in COLUMNS)]
    )
