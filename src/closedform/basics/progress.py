"""Progress: an object that is passed in and told how far a long step is. The default tells
nobody.
"""

from dataclasses import dataclass, replace
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How far a step is."""

    step: str  # what is being done
    done: float  # share of the budget that is used, 0 to 1
    seconds_left: float | None = None  # estimate, None if unknown
    details: tuple[tuple[str, str], ...] = ()
    """Lines to show, such as a complexity with its best expression; the latest only."""
    rate: float | None = None  # evaluations per second


class Progress(Protocol):
    """An object that is told how far a step is."""

    def show(self, snapshot: Snapshot) -> None:
        """Take the latest news; called a few times a second at most."""
        ...

    def close(self) -> None:
        """The step is over."""
        ...


@dataclass(frozen=True, slots=True)
class Silent:
    """Tells nobody."""

    def show(self, snapshot: Snapshot) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Named:
    """Tells someone else, under another name of the step."""

    progress: Progress
    step: str

    def show(self, snapshot: Snapshot) -> None:
        """Pass the news on."""
        self.progress.show(replace(snapshot, step=self.step))

    def close(self) -> None:
        """Pass it on."""
        self.progress.close()
