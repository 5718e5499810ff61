"""How far a run is: done, failed, rate, time left; told to whoever watches, on one line of the
terminal, in plain lines where there is none.
"""

import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Protocol, TextIO

from closedform.basics.progress import Live, Snapshot, duration
from closedform.errors import shown

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
