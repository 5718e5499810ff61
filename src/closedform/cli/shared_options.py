"""Arguments and options that several commands have in common, each with its one help text."""

from pathlib import Path
from typing import Annotated

import typer

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="An .onnx, or weights with --builder.")
]
DataFile = Annotated[
    Path, typer.Argument(metavar="DATA.npz", help="Has `inputs` (n, d), optionally `names`.")
]
FieldFile = Annotated[
    Path,
    typer.Argument(
        metavar="FIELD.npz", exists=True, dir_okay=False, help="What `closedform extract` wrote."
    ),
]
Builder = Annotated[
    str | None, typer.Option(metavar="M:F", help="Module and function that make the network.")
]
Trust = Annotated[bool, typer.Option("--trust", help="Let torch open it: may run its code.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed; same answer unless time runs out.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ReportPage = Annotated[Path | None, typer.Option(metavar="OUT.html", help="Write a report page.")]
ResultFile = Annotated[Path | None, typer.Option(metavar="R.json", help="Write the whole answer.")]
