"""While a file is opened, a pickle in that thread cannot look anything up, whoever opens it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from closedform.networks.errors import ModelFileError

_forbidden: ContextVar[bool] = ContextVar("closedform_unpickling_forbidden", default=False)


@contextmanager
def no_unpickling() -> Iterator[None]:
    """A block in which a pickle cannot look up a class or a function, and so runs nothing.

    It is the second line: what is opened in it holds no pickle.
    """
    _install()
    token = _forbidden.set(True)
    try:
        yield
    finally:
        _forbidden.reset(token)


@cache
def _install() -> None:
    # Python has no way to remove an audit hook; outside the block this one costs a comparison.
    sys.addaudithook(_watch)


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if event == "pickle.find_class" and _forbidden.get():
        name = ".".join(map(str, args))
        raise ModelFileError(f"A pickle in a model file asked for {name:.200}; it was stopped.")
