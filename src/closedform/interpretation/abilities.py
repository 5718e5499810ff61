"""What an answer can do beyond holding data: report, plots, extension.

The answer is a lower layer than the rooms that draw it or go on searching, so it does not know
them. They put their functions into this table when they are imported, and the answer's methods look
there.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from closedform.errors import ClosedformError

F = TypeVar("F", bound=Callable[..., Any])

_ABILITIES: dict[str, Callable[..., Any]] = {}


class AbilityError(ClosedformError, RuntimeError):
    """The room that would do what is asked for has not been imported."""


def ability(name: str) -> Callable[[F], F]:
    """Register a function under the name of the answer's method that calls it."""

    def register(function: F) -> F:
        _ABILITIES[name] = function
        return function

    return register


def perform(name: str, *arguments: Any, **keywords: Any) -> Any:
    """Call what is registered under a name."""
    if name not in _ABILITIES:
        raise AbilityError(
            f"answer.{name} needs a module that is not imported yet; run: import "
            "closedform.reading.one_field, closedform.reading.replacing, closedform.report."
        )
    return _ABILITIES[name](*arguments, **keywords)
