"""``closedform verify``: is this formula what the network computes?"""

import json
import shlex
import sys
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from closedform.cli.interpret_command import show, summary
from closedform.cli.outputs import JSON, PAGE, check_outputs, deliver, leave
from closedform.cli.shared_options import AsJson, FieldFile, ReportPage, ResultFile, Seed


def verify(
    field: FieldFile,
    formula: Annotated[
        str,
        typer.Argument(metavar="FORMULA", help="Such as 'v**2/2 + sin(x)', constants as given."),
    ],
    search: Annotated[bool, typer.Option(help="Look for other formulas that fit as well.")] = True,
    engine: Annotated[
        str, typer.Option(metavar="E", help="Engine of that search: auto, terms, ...")
    ] = "auto",
    budget: Annotated[
        float, typer.Option(metavar="S", help="Seconds for the search, after compilation.")
    ] = 60.0,
    seed: Seed = 0,
    as_json: AsJson = False,
    report: ReportPage = None,
    out: ResultFile = None,
) -> None:
    """Judge your own formula on all points of a field.

    Exit code 0 if it is verified, 1 if it is not.

    \b
    Examples:
      closedform verify field.npz "v**2/2 + sin(x)"
      closedform verify field.npz "x**2 + v**2" --no-search --json
    """
    from closedform.field.field_file import load_field
    from closedform.judge.verify_stage import verify as judge
    from closedform.optional import require

    check_outputs((out, JSON), (report, PAGE), inputs=[field])
    if report is not None:
        require("jinja2", extra="report")  # an error now, not after the search
    judged = partial(judge, formula, load_field(field), engine=engine, budget=budget, rng=seed)
    try:
        found = judged(rivals="auto" if search else None, progress=False if as_json else None)
    except KeyboardInterrupt:
        # The first interrupt ends the searching, and what is known without it is told.
        found = judged(rivals=None, progress=False)
        found = replace(found, provenance=replace(found.provenance, status="interrupted"))
    command = shlex.join(["closedform", *sys.argv[1:]])
    found = replace(found, provenance=replace(found.provenance, title=field.stem, command=command))
    typer.echo(json.dumps(summary(found)) if as_json else show(found))
    saves = [(found.save, out), (found.report, report)]
    deliver(*(partial(save, path) for save, path in saves if path is not None))
    leave(found)
