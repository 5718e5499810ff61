"""How far a run is: done, failed, rate, time left; told to whoever watches."""

import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Protocol

RECENT = 200
"""Finished tasks over which the rate is taken."""


@dataclass(slots=True)
class Tally:
    """Counts of a run.

    Attributes
    ----------
    total : int
        What there is to do, that which was done before included.
    before : int
        Done before this run.
    done, failed : int
        By this run, failed ones among the done.
    labels : Counter
        What finished records say of themselves, such as ``verified``.

    Examples
    --------
    >>> tally = Tally(total=10, before=4)
    >>> tally.add("verified")
    >>> tally.share, tally.labels["verified"]
    (0.5, 1)
    """

    total: int
    before: int = 0
    done: int = 0
    failed: int = 0
    labels: Counter[str] = field(default_factory=Counter)
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


class Unwatched:
    """Tells nobody."""

    def update(self, tally: Tally) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
