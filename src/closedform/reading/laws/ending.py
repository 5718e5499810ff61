"""When the work ends before it is done: the budget is used up, or someone pressed Ctrl-C."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from closedform.searching.budget import Clock

Result = TypeVar("Result")

TIME = "Time ended the search; a larger budget may find more laws."
INTERRUPTED = "Interrupted: these are the laws found until then."


@dataclass(slots=True)
class Ending:
    """The clock of a call, and whether it was interrupted."""

    clock: Clock
    is_interrupted: bool = False

    def is_due(self, share: float) -> bool:
        """Whether to go on with what there is: so much of the budget is used up."""
        return self.is_interrupted or self.clock.used >= share

    def unless_interrupted(self, work: Callable[[], Result]) -> Result | None:
        """Do a piece of work. Ctrl-C ends it and what would follow, not the call: a second one
        ends that.
        """
        try:
            return None if self.is_interrupted else work()
        except KeyboardInterrupt:
            if self.is_interrupted:
                raise
            self.is_interrupted = True
            return None
