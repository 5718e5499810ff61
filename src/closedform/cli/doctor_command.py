"""``closedform doctor``: what is installed, which engines work, a short search; or a file."""

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from closedform._version import __version__
from closedform.shown import shown

PACKAGES = (
    "numpy", "scipy", "numba", "sympy", "pandas", "scikit-learn", "pyoperon", "torch", "onnx",
    "jax", "matplotlib", "jinja2", "distributed",
)  # fmt: skip


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
        from closedform.cli.file_content import show_file

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
    from closedform.searching.registry import engine_names

    typer.echo(f"engines: {', '.join(map(shown, engine_names()))}")
    found, compiling, seconds = _self_test()
    typer.echo(
        f"self-test: {'found' if found else 'NOT found'} in {seconds:.1f} s (compilation "
        f"{compiling:.1f} s)"
    )
    raise typer.Exit(0 if found else 1)


def _warm() -> None:
    """Compile all that readings use, and say where it is kept."""
    from closedform.expressions.kernel import point_status
    from closedform.live_progress import choose_progress
    from closedform.reading.one_field import compile_ahead

    began = time.perf_counter()
    compile_ahead(choose_progress(None))
    # Without a folder of its own numba uses __pycache__ beside each file, or the user's cache.
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

    from closedform.equivalence.same_concept import same_concept
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
