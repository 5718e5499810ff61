"""What is sent to a worker, and what comes back: small things that any executor can carry."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from closedform.errors import ClosedformError

Function = Callable[[dict[str, Any]], dict[str, Any]]


class TaskError(ClosedformError, ValueError):
    """A task or its limits cannot be used."""


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work.

    Attributes
    ----------
    key : str
        Of its result in the store.
    function : str
        ``"package.module:function"``, called with the payload; it returns the record. A name and
        not a function, so that nothing but text travels.
    payload : mapping
        What JSON can hold; large arrays stay on shared storage and are named here.
    about : mapping
        Goes into the record of a task that failed, where there is no other.
    label : str
        The entry of the record that progress counts.
    """

    key: str
    function: str
    payload: Mapping[str, Any]
    about: Mapping[str, Any] = field(default_factory=dict)
    label: str = "status"

    def __str__(self) -> str:
        return (
            " ".join(str(value) for value in self.about.values() if value is not None) or self.key
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """What a task may use before it is stopped and recorded as failed.

    Attributes
    ----------
    seconds : float or None
        Time of one attempt. It only stops what hangs: effort is limited by what the task itself
        counts.
    memory : int or None
        Bytes of resident memory.
    attempts : int
        How often a task that fails, dies or exceeds a limit is tried.
    losses : int
        How often a task is sent again if its worker is lost, which is seldom the task's fault.
    patience : float
        Seconds that a run waits while a cluster has no workers at all, as an adaptive one may for
        a while.

    Examples
    --------
    >>> Limits(seconds=60.0).attempts
    2
    """

    seconds: float | None = 1800.0
    memory: int | None = 4 * 2**30
    attempts: int = 2
    losses: int = 10
    patience: float = 600.0

    def __post_init__(self) -> None:
        for name in ("seconds", "memory", "attempts", "losses", "patience"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise TaskError(f"The limit on {name} must be positive; got {value}.")


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What a worker says about a task; the record itself is in the store.

    Attributes
    ----------
    key : str
    label : str
        From the record; empty if there is none.
    fault : str or None
        Why there is no record.
    seconds : float
        Spent on it.
    is_of_store : bool
        Whether the store is at fault and not the task.
    """

    key: str
    label: str = ""
    fault: str | None = None
    seconds: float = 0.0
    is_of_store: bool = False


def resolve(function: str) -> Function:
    """Import a function by name.

    Raises
    ------
    TaskError
        If there is no such function.

    Examples
    --------
    >>> resolve("json:dumps")({})
    '{}'
    """
    module, _, name = function.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        message = (
            f"The function {function!r} cannot be imported ({error}); is the same closedform "
            f"installed on every worker?"
        )
        raise TaskError(message) from error
