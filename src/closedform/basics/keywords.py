"""Misspelt keywords and words get an answer that names the nearest right one, before any work
begins.
"""

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints

from closedform.errors import ClosedformError

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)


class KeywordError(ClosedformError, TypeError):
    """A call has a keyword that does not exist, or a value of the wrong kind."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """A hint for a misspelt word.

    Examples
    --------
    >>> suggestion("steepest_dorp", ["evidence", "steepest_drop"])
    "; did you mean 'steepest_drop'?"
    """
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def checked_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function refuse a keyword that it does not have, with the nearest one that it has.

    Examples
    --------
    >>> @checked_keywords
    ... def search(*, budget=60): ...
    >>> search(bugdet=1)
    Traceback (most recent call last):
        ...
    closedform.basics.keywords.KeywordError: search() has no keyword 'bugdet'; did you
    mean 'budget'?
    """
    known: list[str] = []

    @wraps(function)
    def checked(*args: P.args, **keywords: P.kwargs) -> R:
        if not known:
            known.extend(_keywords(function))
        for name in keywords:
            if name not in known:
                hint = suggestion(name, known) or f". It has {', '.join(known)}."
                raise KeywordError(
                    f"{function.__qualname__.removesuffix('.__init__')}() has no keyword "
                    f"{name!r}{hint}"
                )
        return function(*args, **keywords)

    return checked


def checked_constructor(kind: C) -> C:
    """The same for the constructor of a class."""
    kind.__init__ = checked_keywords(kind.__init__)
    return kind


def required_kind(value: Any, kind: type | tuple[type, ...], name: str, hint: str) -> None:
    """Refuse a value of the wrong kind, with a hint that says what to pass."""
    if not isinstance(value, kind):
        raise KeywordError(f"{name} is {value!r:.80}, a {type(value).__name__}; {hint}.")


def _keywords(function: Callable[..., Any]) -> list[str]:
    """The names that a function takes by keyword, those of a typed dictionary behind ** among
    them.
    """
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            (unpacked,) = get_args(get_type_hints(function)[name])
            found += list(unpacked.__annotations__)
        elif parameter.kind is not inspect.Parameter.POSITIONAL_ONLY and name not in (
            "self",
            "cls",
        ):
            found.append(name)
    return found
