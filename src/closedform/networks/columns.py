"""Columns of one table as coordinates: by place, by name, or as a slice."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from closedform.basics.keywords import suggestion
from closedform.networks.errors import ExtractionError


def chosen_columns(wrt: Any, names: Sequence[str] | None, count: int) -> list[int] | None:
    """The columns that ``wrt`` means in a table of so many; None if it does not speak of columns.

    Parameters
    ----------
    wrt : str, slice, sequence of int or str
        A single number means a whole input, as does a list of the number 0 alone.
    names : sequence of str or None
        The columns.

    Examples
    --------
    >>> chosen_columns(np.s_[3:], None, 5), chosen_columns(["b", "a"], ["a", "b", "c"], 3)
    ([3, 4], [1, 0])
    """
    if isinstance(wrt, slice):
        return list(range(count))[wrt]
    items: Any = [wrt] if isinstance(wrt, str) else wrt
    if isinstance(items, np.ndarray):
        items = items.tolist()
    if not isinstance(items, list) or not items:
        return None
    if all(isinstance(item, str) for item in items) and names is not None:
        return [_named(item, names) for item in items]
    is_places = all(isinstance(item, int) and not isinstance(item, bool) for item in items)
    if not is_places or items == [0]:
        return None
    for item in items:
        if not -count <= item < count:
            raise ExtractionError(
                f"wrt={wrt!r}: there is no column {item}; the inputs have {count}, counted from 0."
            )
    return [item % count for item in items]


def _named(name: str, names: Sequence[str]) -> int:
    if name not in names:
        hint = suggestion(name, names) or "."
        raise ExtractionError(
            f"wrt={name!r}: there is no such column{hint} The columns are {', '.join(names)}."
        )
    return list(names).index(name)
