"""Which points of the user's data are looked at: chosen by the seed, and only those brought into
memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.errors import ShapeError
from closedform.networks.datasets import (
    Key,
    Notes,
    Parts,
    Prepare,
    choose,
    in_memory,
    read_dataset,
    subsampled,
)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The chosen points: one array per input of the network, points along the first axis.

    Attributes
    ----------
    parts : dict
        Position or name of an input to its array, in the framework it came in.
    names : tuple of str or None
        Names of the columns, where a table carried them.
    notes : tuple of str
        What was decided.
    """

    parts: dict[Key, Any]
    names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))


def gather_rows(
    inputs: Any, *, max_points: int | None, rng: np.random.Generator, prepare: Prepare = None
) -> Rows:
    """Choose points, and bring them and nothing else into memory.

    Parameters
    ----------
    inputs : array, table, tuple, dict, data set, loader or iterable of batches
        A tuple holds several positional inputs, a dictionary named ones. Anything with a shape and
        an index is an array, files that are mapped into memory included.
    max_points : int or None
        How many points; None for all.
    prepare : callable, optional
        From a batch of a data set to the inputs of the network.

    Examples
    --------
    >>> rows = gather_rows(
    ...     np.arange(20.0).reshape(10, 2), max_points=4, rng=np.random.default_rng(0)
    ... )
    >>> rows.parts[0].shape
    (4, 2)
    """
    if max_points is not None and max_points < 1:
        raise ValueError(f"At least one point is needed; got max_points={max_points}.")
    arrays = _arrays(inputs)
    if arrays is None:
        parts, notes = read_dataset(inputs, max_points, rng, prepare)
        return Rows(parts, None, notes)
    parts, notes = _from_arrays(arrays, max_points, rng)
    names = tuple(str(name) for name in inputs.columns) if _is_table(inputs) else None
    return Rows(parts, names, notes)


def _is_table(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "to_numpy")


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "__getitem__")


def _arrays(inputs: Any) -> Parts | None:
    """The inputs as arrays, or None if they are a data set or a stream."""
    if _is_table(inputs):
        return {0: inputs.to_numpy()}
    if _is_array(inputs):
        return {0: inputs}
    if isinstance(inputs, Mapping):
        return {str(key): _array(value) for key, value in inputs.items()}
    if isinstance(inputs, tuple):
        return {place: _array(value) for place, value in enumerate(inputs)}
    if isinstance(inputs, list):
        return {0: np.asarray(inputs, dtype=float)}
    return None


def _array(value: Any) -> Any:
    return value if _is_array(value) else np.asarray(value, dtype=float)


def _from_arrays(
    arrays: Parts, max_points: int | None, rng: np.random.Generator
) -> tuple[Parts, Notes]:
    lengths = {key: value.shape[0] if value.shape else 0 for key, value in arrays.items()}
    total = next(iter(lengths.values()), 0)
    if total == 0 or len(set(lengths.values())) != 1:
        raise ShapeError(
            f"Each input needs the same number of points, at least one, along its first "
            f"axis; got {lengths}."
        )
    chosen = choose(total, max_points, rng)
    # Whether entries are masked must not depend on which points are chosen.
    if chosen is None or any(map(np.ma.is_masked, arrays.values())):
        return {key: in_memory(value[:]) for key, value in arrays.items()}, ()
    return {key: in_memory(value[chosen]) for key, value in arrays.items()}, (
        subsampled(len(chosen), total),
    )
