"""``closedform doctor``: what is installed, which engines work, a short search; or a file."""

import os
import platform
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform import __version__
from closedform.basics import limits
from closedform.errors import ClosedformError, shown

PACKAGES = (
    "numpy", "scipy", "numba", "sympy", "pandas", "scikit-learn", "pyoperon", "torch", "onnx",
    "jax", "matplotlib", "jinja2", "distributed",
)  # fmt: skip


_STORES = "closedform.sweeping.execution.store"

LONGEST_LIST = 40
"""Parts of a file that are listed; networks have thousands."""

MOST_RECORDS = 1000
"""Of a store; sweeps have millions."""


def doctor(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A file or a store to look into.")
    ] = None,
    warm: Annotated[
        bool, typer.Option("--warm", help="Only compile, ahead of the first search.")
    ] = False,
) -> None:
    """Check the installation, or show what a file holds.

    Without FILE it shows versions and engines, and searches a small field: exit code 0 if the
    concept is found, 1 if not. The first time, this compiles what every search needs.

    With --warm it compiles, says where the machine code is kept, and exits: for container images,
    and once before the jobs of a cluster start. Set NUMBA_CACHE_DIR to keep it elsewhere.

    For a network, its weights, data, a field, an answer or a sweep's store it shows what is in it
    and whether closedform opens it (exit code 0) or refuses it (1). Nothing in the file is run.
    """
    if file is not None:
        raise typer.Exit(show_file(file))
    if warm:
        _warm()
        raise typer.Exit(0)
    typer.echo(
        f"closedform {__version__}, Python {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}"
    )
    for name in PACKAGES:
        typer.echo(f"  {name:<14} {_version(name)}")
    from closedform.searching.engine import engine_names

    typer.echo(f"engines: {', '.join(map(shown, engine_names()))}")
    found, compiling, seconds = _self_test()
    typer.echo(
        f"self-test: {'found' if found else 'NOT found'} in {seconds:.1f} s (compilation "
        f"{compiling:.1f} s)"
    )
    raise typer.Exit(0 if found else 1)


def _warm() -> None:
    """Compile all that readings use, and say where it is kept."""
    from closedform.basics.progress import choose_progress
    from closedform.expressions.kernel import point_status
    from closedform.reading.one_field import compile_ahead

    began = time.perf_counter()
    compile_ahead(choose_progress(None))
    # Without a folder of its own numba uses __pycache__ next to each file, or the user's cache.
    folder = os.environ.get("NUMBA_CACHE_DIR") or point_status.stats.cache_path
    typer.echo(f"ready in {time.perf_counter() - began:.1f} s; machine code in {shown(folder)}")


def _version(name: str) -> str:
    try:
        return shown(version(name))
    except PackageNotFoundError:
        return "not installed"


def _self_test() -> tuple[bool, float, float]:
    """Read x**2 + v**2 from a field; whether it was found, and the seconds for compilation and for
    the search.
    """
    import numpy as np

    from closedform.canonical.same_concept import same_concept
    from closedform.field.gradient_field import GradientField
    from closedform.reading.one_field import interpret_field

    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    field = GradientField.from_arrays(points, 2 * points, names=["x", "v"])
    began = time.perf_counter()
    interpret_field(field, budget=0.5, rng=0)
    compiled = time.perf_counter()
    concept = interpret_field(field, budget=2.0, rng=0).concept
    found = concept is not None and bool(same_concept(str(concept), "x**2 + v**2", ["x", "v"]))
    return found, compiled - began, time.perf_counter() - compiled


Parts = list[tuple[str, str]]
"""Names, and what there is to say of each."""


def show_file(path: Path) -> int:
    """Print what a file or a store holds; 0 if closedform opens it, 1 if it does not."""
    from closedform.errors import ModelFileError

    if not path.is_file() and not path.is_dir():
        raise ModelFileError(f"There is no file {str(path)!r}.", path=str(path))
    size = "" if path.is_dir() else f", {path.stat().st_size:,} bytes"
    found = _looked_into(path)
    if "refused" in found:
        typer.echo(f"{_plain(path.name)}{size}")
        typer.echo(f"closedform refuses it: {_plain(found['refused'])}")
        return 1
    typer.echo(f"{_plain(path.name)}: {found['kind']}{size}")
    parts: Parts = found["parts"]
    width = min(60, max((len(name) for name, detail in parts if detail), default=0))
    for name, detail in parts:
        typer.echo(f"  {_plain(name):<{width}}  {_plain(detail)}".rstrip())
    typer.echo("closedform opens it")
    return 0


def look(payload: dict[str, str]) -> dict[str, Any]:
    """What the file at `path` holds, or why it is refused, with at most a few parts; a task."""
    try:
        kind, parts = _opened(Path(payload["path"]))
    except ClosedformError as error:
        return {"refused": str(error)}
    listed = [(name[:500], detail) for name, detail in parts[:LONGEST_LIST]]
    more = [(f"and {len(parts) - len(listed):,} more", "")] if len(parts) > len(listed) else []
    return {"kind": kind, "parts": listed + more}


def prepare(payload: dict[str, str]) -> dict[str, Any]:
    """Import what the file at `path` needs, so that this does not count as its time; a task."""
    from closedform.networks.model_files import FORMATS

    ending = Path(payload["path"]).suffix.lower()
    own = {".json": "closedform.judge.select_stage"}
    needed = FORMATS[ending].module if ending in FORMATS else own.get(ending, _STORES)
    # What is missing is missed, and named, by the reader.
    with suppress(ImportError):
        import_module(needed)
    return {}


def _looked_into(path: Path) -> dict[str, Any]:
    from closedform.sweeping.execution.supervisor import TaskFault, run_in_child
    from closedform.sweeping.execution.task import Limits, Task

    scale = limits.scale(path.stat().st_size)
    bounds = Limits(seconds=scale * limits.SECONDS, memory=round(scale * limits.MEMORY))
    payload = {"path": str(path)}
    try:
        run_in_child(Task("prepare", f"{__name__}:prepare", payload), Limits())
        return run_in_child(Task("look", f"{__name__}:look", payload), bounds)
    except TaskFault as fault:
        return {"refused": str(fault)}


def _opened(path: Path) -> tuple[str, Parts]:
    if path.is_dir():
        return _store(path)
    from closedform.networks.model_files import FORMATS

    ending = path.suffix.lower()
    if ending == ".json":
        return _json(path)
    form = FORMATS.get(ending)
    if form is None or form.holds not in ("weights", "data"):
        return _network(path)
    arrays = form.read(path)
    parts = [
        (name, f"{_size(array.shape)} {str(array.dtype).removeprefix('torch.')}")
        for name, array in arrays.items()
    ]
    return ("weights, for a --builder" if form.holds == "weights" else _data(path, arrays)), parts


def _network(path: Path) -> tuple[str, Parts]:
    from closedform.networks.model_files import load_network
    from closedform.networks.torch_layers import list_layers

    loaded = load_network(path)
    layers = [(layer.name, f"{layer.kind} {layer.units}") for layer in list_layers(loaded)]
    return "network", [*layers, *((note, "") for note in loaded.notes)]


def _data(path: Path, arrays: Mapping[str, Any]) -> str:
    from closedform.field.field_file import load_field
    from closedform.networks.model_files import load_inputs

    if "header" in arrays:
        return f"gradient field, {load_field(path).n_points:,} points"
    load_inputs(path)
    return "data"


def _json(path: Path) -> tuple[str, Parts]:
    from closedform.expressions.json_files import stated_format
    from closedform.interpretation.answer import load_interpretation
    from closedform.judge.select_stage import Selection
    from closedform.searching.engine import SearchResult

    readers = {"closedform search result": SearchResult, "closedform selection": Selection}
    kind = str(stated_format(path))
    if kind in readers:
        readers[kind].load(path)
        return kind, []
    found = load_interpretation(path)
    return "closedform interpretation", [(str(found.concept), found.verdict.status)]


def _store(path: Path) -> tuple[str, Parts]:
    from closedform.sweeping.execution.store import ResultStore

    store = ResultStore(path)
    store.check_exists()
    found = [str(record.get("status")) for _, record in islice(store.records(), MOST_RECORDS)]
    counts = [(status, f"{count:,}") for status, count in sorted(Counter(found).items())]
    if len(found) == MOST_RECORDS:
        counts.append((f"These are the first {MOST_RECORDS:,}.", ""))
    return "store of a sweep", counts


def _size(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "one number"


def _plain(text: str) -> str:
    """The file chose the text, and its length."""
    return shown(text[:500]) + ("..." if len(text) > 500 else "")
