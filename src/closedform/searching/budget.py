"""Budget: how long a search may take, in seconds, in evaluations, or until a target is met."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, cast

from closedform.basics.keywords import checked_constructor
from closedform.errors import BudgetError

StopReason = Literal["time", "evaluations", "target"]

_now: ContextVar[Callable[[], float]] = ContextVar("now", default=time.perf_counter)


@contextmanager
def processor_seconds() -> Iterator[None]:
    """Let every budget inside the block count seconds of the processor, so that what else runs on
    the machine does not decide.

    Examples
    --------
    >>> with processor_seconds():
    ...     clock = Budget(seconds=1).start()
    ...     time.sleep(0.2)
    ...     clock.seconds < 0.1
    True
    """
    token = _now.set(time.process_time)
    try:
        yield
    finally:
        _now.reset(token)


def _told(value: object) -> str:
    # Python refuses to write integers of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 1000:
        return f"an integer of {value.bit_length()} bits"
    return f"{value!r:.60}"


def _is_amount(value: Any) -> bool:
    """Whether a limit can be computed with: text, 0, nan and 10**400 cannot."""
    amount = cast("Any", value)  # numbers.Real knows no comparison from the left
    return isinstance(value, Real) and (0 < amount < 1e300 or amount == float("inf"))


@checked_constructor
@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a search; whichever is met first ends it.

    Attributes
    ----------
    seconds : float or None
        Time, after compilation. Results then depend on the machine's speed.
    evaluations : int or None
        Number of candidate expressions judged. Results are then the same for the same seed.
    target : float or None
        A misalignment that is good enough to stop at.

    Examples
    --------
    >>> Budget(evaluations=1000)
    Budget(seconds=None, evaluations=1000, target=None)
    """

    seconds: float | None = None
    evaluations: int | None = None
    target: float | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "evaluations", "target"):
            value = getattr(self, name)
            if value is not None and not _is_amount(value):
                raise BudgetError(
                    f"The budget's {name} must be positive and below 1e300; got {_told(value)}."
                )
        if self.seconds is None and self.evaluations is None:
            raise BudgetError("A budget needs a limit: pass seconds or evaluations.")

    def __str__(self) -> str:
        """The limits in words."""
        parts = [f"{self.seconds:g} s"] if self.seconds is not None else []
        return " or ".join(
            [*parts, *([f"{self.evaluations} evaluations"] if self.evaluations is not None else [])]
        )

    def start(self) -> "Clock":
        """Start counting."""
        return Clock(self)

    def share(self, fraction: float) -> "Budget":
        """A part of the budget, with the same target."""
        seconds = None if self.seconds is None else self.seconds * fraction
        evaluations = (
            None if self.evaluations is None else max(1, round(self.evaluations * fraction))
        )
        return Budget(seconds, evaluations, self.target)

    def within(self, other: "Budget") -> "Budget":
        """The smaller of two budgets in each of their limits, with this one's target.

        Examples
        --------
        >>> Budget(seconds=3).within(Budget(seconds=2, evaluations=100))
        Budget(seconds=2, evaluations=100, target=None)
        """
        seconds = [b.seconds for b in (self, other) if b.seconds is not None]
        evaluations = [b.evaluations for b in (self, other) if b.evaluations is not None]
        return Budget(min(seconds, default=None), min(evaluations, default=None), self.target)


LEAST = 1e-3
"""Seconds that are left of a budget which is used up: every step looks at the clock and ends."""

UNHURRIED = Budget(evaluations=1)
"""No limit of time, for what counts no evaluations."""


def as_budget(budget: float | Budget) -> Budget:
    """A budget from seconds, or the budget itself.

    Raises
    ------
    BudgetError
        If it is something else, or not positive.
    """
    if isinstance(budget, Budget):
        return budget
    if isinstance(budget, bool) or not isinstance(budget, Real):
        raise BudgetError(
            f"The budget is {_told(budget)}; pass seconds, or closedform.Budget(evaluations=...)."
        )
    return Budget(seconds=float(budget) if _is_amount(budget) else budget)


@dataclass(slots=True)
class Clock:
    """Counts what a search has used."""

    budget: Budget
    started: float = field(default_factory=lambda: _now.get()())
    evaluations: int = 0

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return _now.get()() - self.started

    @property
    def used(self) -> float:
        """Share of the budget that is used up; 1 or more when it is over."""
        shares = [0.0]
        if self.budget.seconds is not None:
            shares.append(self.seconds / self.budget.seconds)
        if self.budget.evaluations is not None:
            shares.append(self.evaluations / self.budget.evaluations)
        return max(shares)

    def stop_reason(self, best: float = 1.0) -> StopReason | None:
        """Why to stop now, given the lowest misalignment so far; None to go on."""
        if self.budget.target is not None and best <= self.budget.target:
            return "target"
        if self.budget.evaluations is not None and self.evaluations >= self.budget.evaluations:
            return "evaluations"
        if self.budget.seconds is not None and self.seconds >= self.budget.seconds:
            return "time"
        return None

    def remaining(self) -> Budget:
        """What is left, at least a sliver."""
        seconds, evaluations = self.budget.seconds, self.budget.evaluations
        return Budget(
            None if seconds is None else max(seconds - self.seconds, LEAST),
            None if evaluations is None else max(evaluations - self.evaluations, 1),
            self.budget.target,
        )
