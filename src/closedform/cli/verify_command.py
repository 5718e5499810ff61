"""``closedform verify``: is this formula what the network computes?"""

import json
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from closedform.cli.interpret_command import show, summary
from closedform.cli.outputs import JSON, PAGE, check_outputs, deliver


def verify(
    field: Annotated[
        Path,
        typer.Argument(
            metavar="FIELD.npz",
            exists=True,
            dir_okay=False,
            help="What `closedform extract` wrote.",
        ),
    ],
    formula: Annotated[
        str,
        typer.Argument(metavar="FORMULA", help="Such as 'v**2/2 + sin(x)', constants as given."),
    ],
    search: Annotated[bool, typer.Option(help="Look for other formulas that fit as well.")] = True,
    engine: Annotated[
        str, typer.Option(metavar="E", help="What looks for them: auto, terms, evolution, ...")
    ] = "auto",
    budget: Annotated[
        float, typer.Option(metavar="S", help="Seconds for that, after compilation.")
    ] = 60.0,
    seed: Annotated[
        int, typer.Option(metavar="N", help="For the same answer again, if time allows.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    report: Annotated[Path | None, typer.Option(metavar="OUT.html", help="Write a page.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="R.json", help="Write everything.")] = None,
) -> None:
    """Judge a formula of your own on a field, on all of its points.

    Exit code 0 if it is verified, 1 if it is not.

    \b
    Examples:
      closedform verify field.npz "v**2/2 + sin(x)"
      closedform verify field.npz "x**2 + v**2" --no-search --json
    """
    from closedform.field.field_file import load_field
    from closedform.optional import require
    from closedform.verification.verify_stage import verify as judge

    check_outputs((out, JSON), (report, PAGE), inputs=[field])
    if report is not None:
        require("jinja2", extra="report")  # an error now, not after the search
    found = judge(
        formula,
        load_field(field),
        rivals="auto" if search else None,
        engine=engine,
        budget=budget,
        rng=seed,
        progress=False if as_json else None,
    )
    command = shlex.join(["closedform", *sys.argv[1:]])
    found = replace(found, provenance=replace(found.provenance, title=field.stem, command=command))
    typer.echo(json.dumps(summary(found)) if as_json else show(found))
    saves = [(found.save, out), (found.report, report)]
    deliver(*(partial(save, path) for save, path in saves if path is not None))
    raise typer.Exit(0 if found.verdict.status == "verified" else 1)
