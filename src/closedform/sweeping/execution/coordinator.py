"""A run: tasks go out, a few for each worker at a time, come back, are counted, and are sent again
where that helps.
"""

import logging
import queue
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from typing import Protocol, TextIO

from closedform.basics.progress import Live, Snapshot, duration
from closedform.errors import StorageError, shown
from closedform.sweeping.execution.store import ROWS_PER_PART, ResultStore
from closedform.sweeping.execution.task import Limits, Task, TaskOutcome
from closedform.sweeping.execution.workers import ASK_SECONDS, Workers, WorkersLostError

RECENT = 200
"""Finished tasks over which the rate is taken."""

DRAW_SECONDS, WRITE_SECONDS = 0.2, 30.0
"""Between two drawings for a person, and between two lines of a log file, which keeps them all."""


@dataclass(slots=True)
class Tally:
    """Counts of a run."""

    total: int  # what there is to do, that which was done before included
    before: int = 0  # done before this run
    done: int = 0  # by this run, failed ones among the done
    failed: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    """What finished records say of themselves, such as ``verified``."""
    began: float = field(default_factory=lambda: time.monotonic())
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def add(self, label: str, *, failed: bool = False) -> None:
        """Count a task that is over."""
        self.done += 1
        self.failed += failed
        self.labels[label] += 1
        self._times.append(time.monotonic())

    @property
    def share(self) -> float:
        """What is done, between 0 and 1."""
        return min((self.before + self.done) / self.total, 1.0) if self.total else 1.0

    @property
    def rate(self) -> float | None:
        """Tasks per second, lately."""
        if len(self._times) < 2:
            return None
        since = self.began if len(self._times) < RECENT else self._times[0]
        return len(self._times) / max(time.monotonic() - since, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """At this rate."""
        rate = self.rate
        return None if not rate else max(self.total - self.before - self.done, 0) / rate


class Watcher(Protocol):
    """Whoever wants to know how far a run is."""

    def update(self, tally: Tally) -> None:
        """Take the latest counts; called for every task."""
        ...

    def close(self) -> None:
        """The run is over."""
        ...


class TerminalWatcher:
    """A live line of counts on the standard error; where that is not a terminal, a line every half
    minute and one at the end.
    """

    def __init__(self, step: str, *, stream: TextIO | None = None) -> None:
        self._step, self._stream = step, sys.stderr if stream is None else stream
        self._line = Live(self._stream)
        self._latest: Tally | None = None
        self._told = 0.0

    def update(self, tally: Tally) -> None:
        """Tell the latest counts, a few times a second at most."""
        self._latest, now = tally, time.monotonic()
        if now - self._told >= (DRAW_SECONDS if self._stream.isatty() else WRITE_SECONDS):
            self._told = now
            self._tell(tally)

    def close(self) -> None:
        """Leave the last counts standing."""
        if self._latest is not None:
            self._tell(self._latest)
        self._line.close()

    def _tell(self, tally: Tally) -> None:
        if self._stream.isatty():
            self._line.show(Snapshot(self._step, tally.share, None, (("", counts(tally)),)))
        else:
            self._stream.write(f"{self._step}: {counts(tally)}\n")
            self._stream.flush()


def counts(tally: Tally) -> str:
    """Done, labels, failed, rate and time left in a line."""
    parts = [f"{tally.before + tally.done} of {tally.total} done"]
    parts += [
        f"{count} {shown(label)}"
        for label, count in sorted(tally.labels.items())
        if label != "failed"
    ]
    parts.append(f"{tally.failed} failed")
    if tally.before:
        parts.append(f"{tally.before} from before")
    rate, left = tally.rate, tally.seconds_left
    parts += [f"{rate:.3g}/s"] if rate is not None else []
    parts += [f"{duration(left)} left"] if left else []
    return ", ".join(parts)


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
