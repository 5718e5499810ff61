"""Which points of the user's data are looked at: chosen by the seed, and only those brought into
memory. Data sets are read by index where there is one, else by reservoir sampling.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from closedform.errors import ExtractionError, ShapeError

CHUNK = 1024
"""Items of a data set that are put together at a time."""

Key = int | str
"""An input of the network: its position, or its name."""

Parts = dict[Key, Any]
Prepare = Callable[[Any], Any] | None
Notes = tuple[str, ...]


def _choose(
    total: int, max_points: int | None, rng: np.random.Generator
) -> tuple[np.ndarray | None, Notes]:
    """Which of so many points, or None for all of them, and a note."""
    if max_points is None or total <= max_points:
        return None, ()
    # Sorted, since files on disk are read in order, and some libraries demand it.
    return np.sort(rng.choice(total, max_points, replace=False)), _subsampled(max_points, total)


def _subsampled(kept: int, total: int) -> Notes:
    return (f"{kept:,} of {total:,} points were taken at random.",) if kept < total else ()


def in_memory(value: Any) -> Any:
    """A tensor as it is, anything else as a NumPy array in the machine's order of bytes."""
    if hasattr(value, "detach"):
        return value
    if np.ma.is_masked(value):
        hidden = int(np.ma.count_masked(value))
        raise ExtractionError(f"{hidden} entries of the inputs are masked; remove their rows.")
    array = np.asarray(value)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def as_numpy(part: Any) -> np.ndarray:
    """A tensor, or anything else, as a NumPy array."""
    return part.detach().cpu().numpy() if hasattr(part, "detach") else np.asarray(part)


def read_dataset(
    data: Any, max_points: int | None, rng: np.random.Generator, prepare: Prepare
) -> tuple[Parts, Notes]:
    """The network's inputs at points chosen from a data set, a loader or an iterable of batches."""
    with _random_state_kept(data, rng):
        found = _indexed(data)
        if found is not None:
            return _from_items(*found, max_points, rng, prepare)
        return _from_stream(_batches(data), max_points, rng, prepare)


def stack(items: Sequence[Any]) -> Any:
    """Put items together along a new first axis, inside tuples and dictionaries too."""
    first = items[0]
    if isinstance(first, Mapping):
        return {key: stack([item[key] for item in items]) for key in first}
    if isinstance(first, tuple | list):
        return tuple(stack([item[place] for item in items]) for place in range(len(first)))
    if hasattr(first, "detach"):
        return sys.modules["torch"].stack(list(items))
    return np.stack([in_memory(item) for item in items])


def _random_state_kept(data: Any, rng: np.random.Generator) -> AbstractContextManager[None]:
    """Data sets draw random numbers of their own: seed them, and give the state back."""
    seed = int(rng.integers(2**63 - 1))
    if "torch" not in sys.modules:
        return nullcontext()
    from closedform.networks.torch_state import random_state_kept

    generators = [
        getattr(data, "generator", None),
        getattr(getattr(data, "sampler", None), "generator", None),
    ]
    return random_state_kept(seed, generators)


def _torch_data() -> Any | None:
    """torch.utils.data, if torch is loaded: data that come from it cannot exist otherwise."""
    torch = sys.modules.get("torch")
    return None if torch is None else torch.utils.data


def _indexed(data: Any) -> tuple[Any, Callable[[list[Any]], Any]] | None:
    """A data set whose items can be fetched one by one, and how to put items together."""
    library = _torch_data()
    if library is not None and isinstance(data, library.DataLoader):
        if isinstance(data.dataset, library.IterableDataset) or not _is_plain(data, library):
            return None
        return data.dataset, stack if data.batch_size is None else data.collate_fn
    if hasattr(data, "__len__") and hasattr(data, "__getitem__"):
        return data, stack
    return None


def _is_plain(loader: Any, library: Any) -> bool:
    """Whether a loader visits each item once; a sampler of the user's own may weigh them."""
    if isinstance(loader.sampler, library.SequentialSampler):
        return True
    sampler = loader.sampler
    return (
        isinstance(sampler, library.RandomSampler)
        and not sampler.replacement
        and sampler.num_samples == len(loader.dataset)
    )


def _batches(data: Any) -> Iterator[Any]:
    library = _torch_data()
    if library is not None and isinstance(data, library.IterableDataset):
        items = iter(data)
        return (stack(chunk) for chunk in iter(lambda: list(islice(items, CHUNK)), []))
    if isinstance(data, Iterable):
        return iter(data)
    raise ExtractionError(
        f"Inputs of type {type(data).__name__} cannot be read. Pass an array (n_points, n_inputs), "
        "a tuple or dictionary of arrays, a data set, a loader, or an iterable of batches."
    )


def _from_items(
    dataset: Any,
    collate: Callable[[list[Any]], Any],
    max_points: int | None,
    rng: np.random.Generator,
    prepare: Prepare,
) -> tuple[Parts, Notes]:
    total = len(dataset)
    if total == 0:
        raise ShapeError("The data set is empty: at least one point is needed.")
    chosen, notes = _choose(total, max_points, rng)
    places = range(total) if chosen is None else chosen.tolist()
    chunks = [places[start : start + CHUNK] for start in range(0, len(places), CHUNK)]
    pieces = [_parts(collate([dataset[place] for place in chunk]), prepare) for chunk in chunks]
    is_torch = {key: hasattr(part, "detach") for key, part in pieces[0][0].items()}
    parts = {
        key: (sys.modules["torch"].cat if of_torch else np.concatenate)(
            [piece[key] for piece, _ in pieces]
        )
        for key, of_torch in is_torch.items()
    }
    return parts, (*notes, *pieces[0][1])


def _from_stream(
    batches: Iterator[Any], max_points: int | None, rng: np.random.Generator, prepare: Prepare
) -> tuple[Parts, Notes]:
    """Reservoir sampling: every point is kept with the same probability, in bounded memory."""
    slots: list[tuple[int, Parts]] = []
    seen = 0
    notes: Notes = ()
    for batch in batches:
        parts, notes = _parts(batch, prepare)
        count = len(next(iter(parts.values())))
        targets = (
            rng.integers(0, np.arange(seen, seen + count) + 1) if count else np.empty(0, dtype=int)
        )
        for row, target in enumerate(targets):
            number = seen + row
            if max_points is None or number < max_points:
                slots.append((number, _row(parts, row)))
            elif target < max_points:
                slots[target] = (number, _row(parts, row))
        seen += count
    if not slots:
        raise ShapeError("The stream of data is empty: at least one point is needed.")
    slots.sort(key=lambda slot: slot[0])
    parts = {key: stack([row[key] for _, row in slots]) for key in slots[0][1]}
    return parts, (*_subsampled(len(slots), seen), *notes)


def _row(parts: Parts, row: int) -> Parts:
    # A copy: a view would keep its whole batch in memory.
    return {
        key: value[row].clone() if hasattr(value, "detach") else np.array(value[row])
        for key, value in parts.items()
    }


def _parts(batch: Any, prepare: Prepare) -> tuple[Parts, Notes]:
    """The network's inputs in one batch of a data set."""
    notes: Notes = ()
    if prepare is not None:
        batch = prepare(own_copy(batch))
    elif isinstance(batch, tuple | list):
        if len(batch) > 1:
            notes = (
                f"The data set yields tuples of {len(batch)}; the first entry was taken as the "
                f"input. Use prepare= to choose another.",
            )
        batch = next(iter(batch))
    return {key: in_memory(value) for key, value in as_parts(batch).items()}, notes


def as_parts(value: Any) -> Parts:
    """Inputs by name or position, from a dictionary, a tuple, or one alone."""
    if isinstance(value, Mapping):
        return {key if isinstance(key, int) else str(key): part for key, part in value.items()}
    return dict(enumerate(value if isinstance(value, tuple | list) else (value,)))


def own_copy(value: Any) -> Any:
    """A copy of arrays and tensors, which keep their gradient, in containers too; else as it is."""
    if isinstance(value, np.ndarray):
        return np.array(value, subok=True)
    if hasattr(value, "detach") and hasattr(value, "clone"):
        return value.clone()
    if type(value) in (tuple, list):
        return type(value)(own_copy(entry) for entry in value)
    if type(value) is dict:
        return {key: own_copy(entry) for key, entry in value.items()}
    if isinstance(value, Mapping) or not hasattr(value, "to_numpy"):
        return value
    return value.copy() if hasattr(value, "copy") else value


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The chosen points: one array per input of the network, points along the first axis."""

    parts: dict[Key, Any]  # position or name of an input to its array, in the framework it came in
    names: tuple[str, ...] | None = None  # names of the columns, where a table carried them
    notes: tuple[str, ...] = ()  # what was decided

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    def as_arrays(self) -> "Rows":
        """The same with tensors as NumPy arrays."""
        return replace(self, parts={key: as_numpy(part) for key, part in self.parts.items()})


def gather_rows(
    inputs: Any, *, max_points: int | None, rng: np.random.Generator, prepare: Prepare = None
) -> Rows:
    """Choose points, or take all, and bring them and nothing else into memory. `prepare` makes the
    inputs of the network from a batch of a data set.
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
        return {0: _table_array(inputs)}
    if _is_array(inputs):
        return {0: inputs}
    if isinstance(inputs, list):
        return {0: np.asarray(inputs, dtype=float)}
    if not isinstance(inputs, Mapping | tuple):
        return None
    parts = as_parts(inputs).items()
    return {key: one if _is_array(one) else np.asarray(one, dtype=float) for key, one in parts}


def _table_array(table: Any) -> Any:
    """The numbers of a table; a column that holds anything else is named."""
    array = table.to_numpy()
    if array.ndim != 2 or array.dtype.kind not in "OUS":
        return array
    columns = []
    for name, column in zip(table.columns, array.T, strict=True):
        try:
            columns.append(np.asarray(column, dtype=np.float64))
        except (TypeError, ValueError):
            raise ExtractionError(
                f"Column {str(name)!r} of the table holds {column[0]!r:.40}, which is not a "
                "number. Leave it out (inputs.drop(columns=[...])), or encode it as columns of 0 "
                "and 1 as the network takes them, and hold these: wrt=[...] names the others."
            ) from None
    return np.stack(columns, axis=1)


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
    chosen, notes = _choose(total, max_points, rng)
    # Whether entries are masked must not depend on which points are chosen.
    if chosen is None or any(map(np.ma.is_masked, arrays.values())):
        return {key: in_memory(value[:]) for key, value in arrays.items()}, ()
    return {key: in_memory(value[chosen]) for key, value in arrays.items()}, notes
