"""``closedform doctor``: what is installed, which engines work, a short search; or a file."""

import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from closedform._version import __version__
from closedform.shown import shown

PACKAGES = (
    "numpy", "scipy", "numba", "sympy", "pandas", "scikit-learn", "pyoperon", "torch", "jax",
    "matplotlib", "jinja2",
    "distributed",
)  # fmt: skip


def doctor(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A file to look into.")
    ] = None,
) -> None:
    """Check the installation, or show what a file holds.

    Without FILE it shows versions and engines, and searches a small field: exit code 0 if the
    concept is found, 1 if not. The first time, this compiles what every search needs.

    For a model file, a data file or a result it shows the entries, the tensors, what the file
    would import, and whether closedform opens it (exit code 0) or refuses it (1). Nothing in the
    file is run.
    """
    if file is not None:
        from closedform.cli.file_content import show_file

        raise typer.Exit(show_file(file))
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
