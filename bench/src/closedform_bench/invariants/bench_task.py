"""Tasks of the benchmark: one system, one seed; kept in a store by what they are made of, and not
done twice.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from closedform import __version__
from closedform_bench.invariants.outcome import Row

Content = dict[str, Any]


class Store(Protocol):
    """What a task needs of a store of results; `ResultStore` has it."""

    def get(self, key: str) -> dict[str, Any] | None:
        """The record of a key, or None."""
        ...

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Keep a record."""
        ...


@dataclass(frozen=True, slots=True)
class BenchTask:
    """One system to be read.

    Attributes
    ----------
    content : dict
        All that decides the outcome: suite, track, tool, system, seed, noise, budget.
    run : callable
        Does it.
    """

    content: Content
    run: Callable[[], Row]

    @property
    def label(self) -> str:
        """The task in a word, for logs."""
        return f"{self.content['system']}, seed {self.content['seed']}"


def run_tasks(tasks: Sequence[BenchTask], store: Store | None = None) -> Iterator[Row]:
    """Do tasks one after another, or take their rows from a store; what is done is kept at once.

    Parameters
    ----------
    tasks : sequence of BenchTask
    store : Store, optional
    """
    for task in tasks:
        kept = None if store is None else store.get(task_key(task))
        if kept is not None:
            yield kept["row"]
            continue
        row = task.run()
        if store is not None:
            store.put(task_key(task), {**task.content, "version": __version__, "row": dict(row)})
        yield row


def task_key(task: BenchTask) -> str:
    """The name of a task in a store."""
    from closedform.sweeping.execution.task import content_key

    return content_key(task.content)
