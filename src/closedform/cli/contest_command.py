"""``closedform contest``: which of several theories does a field follow?"""

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform.cli.outputs import JSON, PAGE, check_outputs, deliver, tell
from closedform.cli.shared_options import AsJson, FieldFile, JsonFile, ReportPage, Seed
from closedform.errors import ClosedformError

KEYS = ("theories", "free", "given")


def contest(
    field: FieldFile,
    theories: Annotated[
        Path,
        typer.Argument(
            metavar="THEORIES.toml",
            exists=True,
            dir_okay=False,
            help="Formulas under [theories]; free constants under [free].",
        ),
    ],
    budget: Annotated[
        float | None,
        typer.Option(metavar="S", help="Also search for other formulas, so many seconds."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    report: ReportPage = None,
    out: JsonFile = None,
) -> None:
    """Tell which of several theories a field follows.

    Also by how many degrees, with which constants, and where each fails. Exit code 0 if it follows
    one of them, 1 if it follows none.

    \b
    Examples:
      closedform contest field.npz theories.toml
      closedform contest field.npz theories.toml --report contest.html --json

    \b
    theories.toml:
      given = ["q"]               # inputs that are held; may be left out
      [theories]
      "total spin" = "s1 + s2/q**2"
      "mixed" = "s1*(1 + a/q) + s2*(1/q**2 + a/q)"
      [free]
      a = [0.5, 0, 1]             # start, low and high; or a = 0.5
    """
    from closedform.basics.optional import require
    from closedform.field.field_file import load_field
    from closedform.reading.theories.contest_stage import contest_field

    check_outputs((out, JSON), (report, PAGE), inputs=[field, theories])
    if report is not None:
        require("jinja2", extra="report")  # an error now, not after the work
    content = read_theory_file(theories)
    found = contest_field(
        load_field(field),
        content["theories"],
        free=content.get("free", ()),
        given=content.get("given", ()),
        budget=budget,
        rng=seed,
        progress=False if as_json else None,
        title=field.stem,
    )
    deliver((tell(found, as_json), out), (found.report, report))
    raise typer.Exit(0 if found.winner is not None else 1)


def read_theory_file(path: Path) -> dict[str, Any]:
    """The theories of a file, with what it says of free and held names."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClosedformError(
            f"{path} is not a TOML file: {error}. Write formulas under [theories], each as "
            f'"name" = "formula".'
        ) from error
    unknown = [key for key in content if key not in KEYS]
    theories = content.get("theories")
    if unknown or not isinstance(theories, dict) or not theories:
        told = f"has {unknown[0]!r}" if unknown else "has no table [theories]"
        raise ClosedformError(
            f'{path} {told}. It holds [theories], each as "name" = "formula", and optionally '
            f"[free] and given = [...]."
        )
    return content
