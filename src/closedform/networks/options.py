"""How to extract: everything besides the model, the data and the neuron; and which numbers of the
inputs become the coordinates of a point (``wrt``).
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.keywords import KeywordError, checked_constructor, suggestion
from closedform.errors import ExtractionError
from closedform.networks.rows import Key, Rows, as_numpy, as_parts, own_copy

Kind = Literal["auto", "torch", "jax", "function"]
Precision = Literal["auto", "double", "native"]


class OptionKeywords(TypedDict, total=False):
    """The keywords that `Options` takes."""

    batch_size: int
    precision: Precision
    transform: Any
    wrt: Any
    fixed: Mapping[int | str, Any] | None
    prepare: Callable[[Any], Any] | None
    batched: bool | None
    step: float | None
    kind: Kind


@checked_constructor
@dataclass(frozen=True, slots=True)
class Options:
    """How a network is evaluated.

    Attributes
    ----------
    batch_size : int
        Points in one pass.
    precision : str
        ``double`` evaluates a copy of the network in float64, ``native`` the network as it is.
        ``auto`` tries the copy and says so when it falls back.
    transform : callable, module or fitted scaler, optional
        What stands in front of the network: ``model(transform(inputs))``. Formulas come back in the
        coordinates before it. A scikit-learn transformer is accepted if it is affine.
    wrt : optional
        What to differentiate with respect to: an input by position or name, ``(which, index)`` for
        a slice of it (the index counts the axes of one point), or a list of these. Of the only
        input the index is enough, ``np.s_[-1, :]``; of one table also columns: ``["A", "dT"]``,
        ``[3, 4, 5]``, ``np.s_[3:]``. Default: every input that holds real numbers.
    fixed : mapping, optional
        Further arguments of the network that stay the same: position or name to value. A callable
        value is called with the number of points in a batch.
    prepare : callable, optional
        From what a data set yields to the network's inputs: an array, a tuple of positional inputs,
        or a dictionary. Default: the first entry of a tuple, since labels follow it.
    batched : bool, optional
        Whether the network takes many points at once. Default: yes for torch, found out for JAX and
        functions.
    step : float, optional
        Step of finite differences, relative to the spread of each input.
    kind : str
        ``torch``, ``jax`` or ``function``, where ``auto`` would decide wrongly.

    Examples
    --------
    >>> Options(batch_size=256).precision
    'auto'
    """

    batch_size: int = 1024
    precision: Precision = "auto"
    transform: Any = None
    wrt: Any = None
    fixed: Mapping[int | str, Any] | None = None
    prepare: Callable[[Any], Any] | None = None
    batched: bool | None = None
    step: float | None = None
    kind: Kind = "auto"

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise KeywordError(
                f"A batch needs at least one point; got batch_size={self.batch_size}."
            )
        for name, known in (
            ("precision", ("auto", "double", "native")),
            ("kind", ("auto", "torch", "jax", "function")),
        ):
            value = getattr(self, name)
            if value not in known:
                hint = suggestion(str(value), known) or "."
                raise KeywordError(f"{name}={value!r} is not one of {', '.join(known)}{hint}")


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A run of columns of a point, and where in the inputs it lives."""

    key: Key  # the input
    index: tuple[Any, ...] | None  # index into the axes of one point; None for all of it
    shape: tuple[int, ...]  # shape of the block for one point
    columns: slice  # columns of the points that hold it


def make_blocks(rows: Rows, wrt: Any) -> tuple[Block, ...]:
    """Read the ``wrt`` option."""
    columns = _columns(rows, wrt)
    if columns is not None:
        wrt = (next(iter(rows.parts)), np.array(columns))
    elif len(rows.parts) == 1 and isinstance(wrt, tuple):
        wrt = _of_the_only(rows, wrt)
    choices = wrt if isinstance(wrt, list) else [wrt] if wrt is not None else _real(rows)
    blocks: list[Block] = []
    start = 0
    for choice in choices:
        key, index = _choice(rows, choice)
        part = rows.parts[key]
        if not _is_real(part):
            raise ExtractionError(
                f"Input {key!r} holds {part.dtype}, which has no gradient. Pass real "
                f"numbers, or choose another input with wrt=."
            )
        try:
            shape = (
                tuple(part.shape[1:])
                if index is None
                else np.empty(part.shape[1:], dtype=bool)[index].shape
            )
        except (IndexError, TypeError) as error:
            raise ExtractionError(
                f"wrt={choice!r} does not fit input {key!r}, of which one point has the shape "
                f"{tuple(part.shape[1:])}: the index counts the axes of one point."
            ) from error
        size = int(np.prod(shape))
        blocks.append(Block(key, index, shape, slice(start, start + size)))
        start += size
    if start == 0:
        raise ExtractionError("No input is left to differentiate with respect to; check wrt=.")
    return tuple(blocks)


def points_of(rows: Rows, blocks: tuple[Block, ...]) -> FloatArray:
    """The chosen coordinates of all points, shape (n_points, n_inputs)."""
    n_points = len(rows)
    columns = []
    for block in blocks:
        part = rows.parts[block.key]
        # Of a large input only the slice is made float64.
        values = part if block.index is None else part[(slice(None), *block.index)]
        if hasattr(values, "detach"):
            values = values.detach().double().cpu().numpy()
        columns.append(np.asarray(values, dtype=np.float64).reshape(n_points, -1))
    return np.concatenate(columns, axis=1)


def held_values(rows: Rows, blocks: tuple[Block, ...]) -> FloatArray | None:
    """What is not differentiated at each point, (n_points, n_held); None where all are alike."""
    kept = []
    for key, part in rows.parts.items():
        values = as_numpy(part)
        is_held = np.ones(values.shape[1:], dtype=bool)
        for block in blocks:
            if block.key == key:
                is_held[... if block.index is None else block.index] = False
        kept.append(values[:, is_held])
    every = np.concatenate([np.asarray(part, dtype=np.float64) for part in kept], axis=1)
    every = every[:, (every != every[:1]).any(axis=0)]
    return every if every.shape[1] else None


def column_names(rows: Rows, blocks: tuple[Block, ...]) -> tuple[str, ...] | None:
    """Names of the coordinates, where the data carry any."""
    if rows.names is not None:
        kept = [np.asarray(rows.names)[block.index or slice(None)].ravel() for block in blocks]
        return tuple(str(name) for name in np.concatenate(kept))
    if not any(isinstance(block.key, str) for block in blocks):
        return None
    names: list[str] = []
    for block in blocks:
        size = block.columns.stop - block.columns.start
        names += [str(block.key)] if size == 1 else [f"{block.key}{place}" for place in range(size)]
    return tuple(names) if len(set(names)) == len(names) else None


def fill(
    parts: dict[Key, Any],
    points: Any,
    blocks: tuple[Block, ...],
    write: Callable[[Any, tuple[Any, ...], Any], Any],
) -> dict[Key, Any]:
    """The inputs with the coordinates of points, (n_points, n_inputs), put in their places."""
    filled = dict(parts)
    for block in blocks:
        values = points[:, block.columns].reshape((len(points), *block.shape))
        if block.index is None:
            filled[block.key] = values
        else:
            filled[block.key] = write(filled[block.key], (slice(None), *block.index), values)
    return filled


def arguments(parts: dict[Key, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and named arguments for a call."""
    places = sorted(key for key in parts if isinstance(key, int))
    return tuple(parts[place] for place in places), {
        key: value for key, value in parts.items() if isinstance(key, str)
    }


def tried(model: Any, parts: dict[Key, Any]) -> Any:
    """What a function returns for arrays, or else for tensors; None if it takes neither."""
    torch = sys.modules.get("torch")
    for convert in (lambda part: part, *([] if torch is None else [torch.as_tensor])):
        positional, named = arguments({key: convert(own_copy(part)) for key, part in parts.items()})
        # A function of tensors, or of one point, may raise anything on an array of points.
        with suppress(Exception):
            return model(*positional, **named)
    return None


def transformed(transform: Any, parts: dict[Key, Any]) -> dict[Key, Any]:
    """The inputs after the step before the network: an array, a tuple or a dictionary."""
    if transform is None:
        return parts
    positional, named = arguments(parts)
    result = transform(*positional, **named)
    if isinstance(result, Mapping | tuple):
        return as_parts(result)
    return {next(iter(parts)) if len(parts) == 1 else 0: result}


def as_inputs(parts: dict[Key, Any]) -> Any:
    """What a function of (model, inputs) is given: an array, a tuple or a dictionary."""
    positional, named = arguments(parts)
    if named:
        return named if not positional else dict(enumerate(positional)) | named
    return positional[0] if len(positional) == 1 else positional


def _real(rows: Rows) -> list[Key]:
    found = [key for key, part in rows.parts.items() if _is_real(part)]
    if not found:
        kinds = {key: str(part.dtype) for key, part in rows.parts.items()}
        raise ExtractionError(
            f"No input holds real numbers ({kinds}), so there is nothing to differentiate. Pass "
            "whole numbers as floats: inputs.astype(float). For token or class numbers, pass the "
            "embedded vectors to the part of the network after the embedding."
        )
    return found


def _is_real(part: Any) -> bool:
    kind = str(part.dtype)
    return "float" in kind and "complex" not in kind


def _columns(rows: Rows, wrt: Any) -> list[int] | None:
    """Columns of the only input, if ``wrt`` speaks of these."""
    if len(rows.parts) != 1:
        return None
    ((key, part),) = rows.parts.items()
    is_whole = isinstance(wrt, str | list) and wrt in (key, [key])
    if part.ndim != 2 or is_whole:
        return None
    return chosen_columns(wrt, rows.names, part.shape[1])


def _of_the_only(rows: Rows, wrt: tuple[Any, ...]) -> tuple[Any, ...]:
    """A choice from the only input: ``np.s_[-1, :]`` counts the axes of one of its points."""
    (key,) = rows.parts
    if len(wrt) == 2 and isinstance(wrt[0], int | str) and wrt[0] == key:
        if isinstance(wrt[1], slice) and wrt[1] == slice(None) and rows.parts[key].ndim > 2:
            raise ExtractionError(
                f"wrt={wrt!r} may mean the whole input {key!r} or entry {key!r} of its first axis. "
                f"Write wrt={key!r} for the input, or wrt=({key!r}, np.s_[{key!r}, :])."
            )
        return wrt
    return wrt if len(wrt) == 2 and isinstance(wrt[0], str) else (key, wrt)


def _choice(rows: Rows, choice: Any) -> tuple[Key, tuple[Any, ...] | None]:
    key, index = choice if isinstance(choice, tuple) and len(choice) == 2 else (choice, None)
    if not isinstance(key, int | str) or key not in rows.parts:
        raise ExtractionError(
            f"wrt={choice!r}: there is no input {key!r}; the inputs are "
            f"{', '.join(map(repr, rows.parts))}. To choose columns of an array by name, pass the "
            "names of all of them as names=."
        )
    if index is None:
        return key, None
    return key, tuple(index) if isinstance(index, tuple) else (index,)


def chosen_columns(wrt: Any, names: Sequence[str] | None, count: int) -> list[int] | None:
    """The columns that ``wrt`` means in a table of so many; None if it does not speak of columns: a
    single number means a whole input, as does a list of the number 0 alone.
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
