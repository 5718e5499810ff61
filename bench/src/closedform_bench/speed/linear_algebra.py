"""Records what a run asks of LAPACK, and asks it again alone."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from closedform.searching.terms import exact_sums

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A function of LAPACK and what it was called with."""

ASKED: tuple[tuple[Any, str], ...] = (
    (np.linalg, "eigh"),
    (np.linalg, "qr"),
    (np.linalg, "svd"),
    (exact_sums, "eigh"),
)
"""Where the term search finds them."""


@contextmanager
def recorded() -> Iterator[list[Call]]:
    """The calls that are made inside the block.

    Examples
    --------
    >>> with recorded() as calls:
    ...     values, _ = np.linalg.eigh(np.eye(2))
    >>> len(calls), calls[0][1][0].shape
    (1, (2, 2))
    """
    calls: list[Call] = []

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arrays: Any, **options: Any) -> Any:
            calls.append((function, tuple(np.array(array) for array in arrays), options))
            return function(*arrays, **options)

        return call

    with ExitStack() as stack:
        for place, name in ASKED:
            stack.enter_context(patch.object(place, name, watched(getattr(place, name))))
        yield calls


def repeat(calls: list[Call]) -> None:
    """Make recorded calls once more."""
    for function, arrays, options in calls:
        function(*arrays, **options)


def count_problems(calls: list[Call]) -> tuple[int, int]:
    """How many matrices there are, and the size of the largest."""
    shapes = [arrays[0].shape for _, arrays, _ in calls]
    number = sum(int(np.prod(shape[:-2])) for shape in shapes)
    return number, max((max(shape[-2:]) for shape in shapes), default=0)
