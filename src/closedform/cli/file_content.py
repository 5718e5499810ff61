"""What ``closedform doctor FILE`` prints: what a file holds, and whether closedform opens it.

A file is opened by the reader that every other command uses, so that the two always agree. None of
them runs anything in the file. A process of its own opens it, which is ended at the limits.
"""

from collections import Counter
from contextlib import suppress
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from closedform import limits
from closedform.errors import ClosedformError

LONGEST_LIST = 40
"""Parts of a file that are listed; networks have thousands."""

MOST_RECORDS = 1000
"""Of a store; sweeps have millions."""

_NEEDED = {
    ".onnx": "closedform.networks.onnx_network",
    ".safetensors": "safetensors.torch",
    ".npz": "closedform.field.field_file",
    ".json": "closedform.judge.select_stage",
}

Parts = list[tuple[str, str]]
"""Names, and what there is to say of each."""


def show_file(path: Path) -> int:
    """Print what a file or a store holds; 0 if closedform opens it, 1 if it does not.

    Raises
    ------
    ModelFileError
        If there is no such file.
    """
    from closedform.networks.errors import ModelFileError

    if not path.is_file() and not path.is_dir():
        raise ModelFileError(f"There is no file {str(path)!r}.", path=str(path))
    size = "" if path.is_dir() else f", {path.stat().st_size:,} bytes"
    found = _looked_into(path)
    if "refused" in found:
        typer.echo(f"{_plain(path.name)}{size}")
        typer.echo(f"closedform refuses it: {_plain(found['refused'])}")
        return 1
    typer.echo(f"{_plain(path.name)}: {found['kind']}{size}")
    _show(found["parts"])
    typer.echo("closedform opens it")
    return 0


def look(payload: dict[str, str]) -> dict[str, Any]:
    """What the file at `path` holds, or why it is refused, with at most a few parts; a task."""
    try:
        kind, parts = _opened(Path(payload["path"]))
    except ClosedformError as error:
        return {"refused": str(error)}
    shown = [(name[:500], detail) for name, detail in parts[:LONGEST_LIST]]
    more = [(f"and {len(parts) - len(shown):,} more", "")] if len(parts) > len(shown) else []
    return {"kind": kind, "parts": shown + more}


def prepare(payload: dict[str, str]) -> dict[str, Any]:
    """Import what the file at `path` needs, so that this does not count as its time; a task."""
    # What is missing is missed, and named, by the reader.
    with suppress(ImportError):
        import_module(
            _NEEDED.get(Path(payload["path"]).suffix.lower(), "closedform.execution.store")
        )
    return {}


def _looked_into(path: Path) -> dict[str, Any]:
    from closedform.execution.supervisor import TaskFault, run_in_child
    from closedform.execution.task import Limits, Task

    scale = limits.scale(path.stat().st_size)
    bounds = Limits(seconds=scale * limits.SECONDS, memory=round(scale * limits.MEMORY))
    payload = {"path": str(path)}
    try:
        run_in_child(Task("prepare", f"{__name__}:prepare", payload), Limits())
        return run_in_child(Task("look", f"{__name__}:look", payload), bounds)
    except TaskFault as fault:
        return {"refused": str(fault)}


def _opened(path: Path) -> tuple[str, Parts]:
    ending = path.suffix.lower()
    if path.is_dir():
        return _store(path)
    if ending == ".safetensors":
        return _weights(path)
    if ending == ".npz":
        return _arrays(path)
    if ending == ".json":
        return _json(path)
    return _network(path)


def _network(path: Path) -> tuple[str, Parts]:
    from closedform.networks.model_files import load_network

    loaded = load_network(path)
    from closedform.networks.layer_list import list_layers

    layers = [(layer.name, f"{layer.kind} {layer.units}") for layer in list_layers(loaded)]
    return "network", [*layers, *((note, "") for note in loaded.notes)]


def _weights(path: Path) -> tuple[str, Parts]:
    from closedform.networks.model_files import read_safetensors

    parts = [
        (name, f"{_size(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}")
        for name, tensor in read_safetensors(path).items()
    ]
    return "weights, for a --builder", parts


def _arrays(path: Path) -> tuple[str, Parts]:
    from closedform.array_files import read_arrays
    from closedform.field.field_file import load_field
    from closedform.networks.model_files import load_inputs

    arrays = read_arrays(path)
    parts = [(name, f"{_size(array.shape)} {array.dtype}") for name, array in arrays.items()]
    if "header" not in arrays:
        load_inputs(path)
        return "data", parts
    return f"gradient field, {load_field(path).n_points:,} points", parts


def _json(path: Path) -> tuple[str, Parts]:
    from closedform.expressions.json_files import stated_format
    from closedform.interpretation.storage import load_interpretation
    from closedform.judge.select_stage import Selection
    from closedform.searching.result import SearchResult

    readers = {"closedform search result": SearchResult, "closedform selection": Selection}
    kind = str(stated_format(path))
    if kind in readers:
        readers[kind].load(path)
        return kind, []
    found = load_interpretation(path)
    return "closedform interpretation", [(str(found.concept), found.verdict.status)]


def _store(path: Path) -> tuple[str, Parts]:
    from closedform.execution.store import ResultStore

    store = ResultStore(path)
    store.check_exists()
    found = [str(record.get("status")) for _, record in islice(store.records(), MOST_RECORDS)]
    counts = [(status, f"{count:,}") for status, count in sorted(Counter(found).items())]
    if len(found) == MOST_RECORDS:
        counts.append((f"These are the first {MOST_RECORDS:,}.", ""))
    return "store of a sweep", counts


def _size(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "one number"


def _show(parts: Parts) -> None:
    width = min(60, max((len(name) for name, detail in parts if detail), default=0))
    for name, detail in parts:
        typer.echo(f"  {_plain(name):<{width}}  {_plain(detail)}".rstrip())


def _plain(text: str) -> str:
    """Without characters that would move the cursor or colour the terminal; the file chose them."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text[:500])
    return shown + ("..." if len(text) > 500 else "")
