"""A run: tasks go out, a few for each worker at a time, come back, and are sent again where
something went wrong.
"""

import logging
import queue
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field

from closedform.errors import StorageError, shown
from closedform.sweeping.execution.store import ROWS_PER_PART, ResultStore
from closedform.sweeping.execution.tally import Tally, Watcher
from closedform.sweeping.execution.task import Limits, Task, TaskOutcome
from closedform.sweeping.execution.workers import ASK_SECONDS, Workers, WorkersLostError

FAILED = "failed"
"""Status of the record of a task that was given up."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Flight:
    """A task under way, and what has happened to it."""

    task: Task
    faults: list[str] = field(default_factory=list)
    losses: int = 0


@dataclass(slots=True)
class Coordinator:
    """Runs tasks, keeps every result in a store, counts up the tally and tells the watcher."""

    workers: Workers
    store: ResultStore
    limits: Limits
    tally: Tally
    watcher: Watcher | None = None
    on_done: Callable[[TaskOutcome], None] | None = None
    """Called with the outcome of every task that has a record now, that of a failed one too."""
    _back: "queue.SimpleQueue[tuple[_Flight, Future[TaskOutcome]]]" = field(
        default_factory=queue.SimpleQueue
    )
    _in_flight: dict[int, Future[TaskOutcome]] = field(default_factory=dict)
    _until_compaction: int = ROWS_PER_PART

    def run(self, tasks: Iterable[Task]) -> None:
        """Run tasks, which are taken from the iterable as workers become free.

        If the workers are gone for good, a WorkersLostError says so; what is done is in the store.
        """
        waiting = iter(tasks)
        try:
            while self._fill(waiting) or self._in_flight:
                self._land(*self._next())
        finally:
            for future in self._in_flight.values():
                future.cancel()

    def _next(self) -> "tuple[_Flight, Future[TaskOutcome]]":
        """The next task that comes back."""
        since, patience = None, self.limits.patience
        while True:
            try:
                return self._back.get(timeout=min(ASK_SECONDS, patience))
            except queue.Empty:
                if not self.workers.are_gone():
                    since = None
                    continue
            if since is None:
                since = time.monotonic()
                logger.warning(
                    "The cluster has no workers; waiting %g s for others before giving up.",
                    patience,
                )
            if time.monotonic() - since >= patience:
                raise WorkersLostError(
                    f"The cluster has had no workers for {patience:g} s, and "
                    f"{len(self._in_flight)} tasks wait. Start workers again, then resume; "
                    f"Limits(patience=...) sets how long to wait."
                )

    def _fill(self, waiting: Iterator[Task]) -> bool:
        """Send tasks until enough are under way; whether there may be more."""
        width = self.workers.width()
        while len(self._in_flight) < width:
            task = next(waiting, None)
            if task is None:
                return False
            self._launch(_Flight(task))
        return True

    def _launch(self, flight: _Flight) -> None:
        while True:
            try:
                future = self.workers.submit(flight.task, self.store, self.limits)
                break
            except RuntimeError as error:  # a pool may break between two tasks
                self.workers.recover(error)
                flight.losses += 1
                if flight.losses > self.limits.losses:
                    raise
        self._in_flight[id(flight)] = future
        future.add_done_callback(lambda done: self._back.put((flight, done)))

    def _land(self, flight: _Flight, future: "Future[TaskOutcome]") -> None:
        self._in_flight.pop(id(flight))
        try:
            outcome = future.result()
        except (Exception, CancelledError) as error:
            self.workers.recover(error)
            flight.losses += 1
            logger.warning("The worker of %s was lost: %s", shown(flight.task), shown(repr(error)))
            if flight.losses <= self.limits.losses:
                self._launch(flight)
                return
            outcome = TaskOutcome(
                flight.task.key, fault=f"Its worker was lost {flight.losses} times: {error!r}"
            )
        else:
            if outcome.fault is not None:
                flight.faults.append(outcome.fault)
                logger.warning("%s failed: %s", shown(flight.task), shown(outcome.fault))
                if len(flight.faults) < self.limits.attempts:
                    self._launch(flight)
                    return
        self._finish(flight, outcome)

    def _finish(self, flight: _Flight, outcome: TaskOutcome) -> None:
        if outcome.fault is not None and outcome.is_of_store:
            # It says nothing about the task, which is tried again by the next run.
            if not self.store.folder.names():
                raise StorageError(
                    f"The store {self.store.path!r} is gone ({outcome.fault}). Run again to start "
                    f"it anew."
                )
        elif outcome.fault is not None:
            reason, attempts = outcome.fault, len(flight.faults) + flight.losses
            self.store.put(
                flight.task.key,
                {**flight.task.about, "status": FAILED, "reason": reason, "attempts": attempts},
            )
        self.tally.add(outcome.label or FAILED, failed=outcome.fault is not None)
        if self.on_done is not None:
            self.on_done(outcome)
        if self.watcher is not None:
            self.watcher.update(self.tally)
        self._until_compaction -= 1
        if self._until_compaction <= 0:
            self._until_compaction = ROWS_PER_PART
            self.store.compact_if_possible(minimum=ROWS_PER_PART)
