"""``closedform report``: the page of a saved interpretation."""

from pathlib import Path
from typing import Annotated

import typer

from closedform.cli.outputs import PAGE, check_outputs, deliver
from closedform.shown import shown


def report(
    result: Annotated[
        Path,
        typer.Argument(
            metavar="R.json",
            exists=True,
            dir_okay=False,
            help="What `closedform interpret --out` wrote.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="OUT.html", help="Where to write the page.")],
) -> None:
    """Write the report of a saved interpretation.

    The report is one self-contained HTML page.

    \b
    Example:
      closedform report result.json --out result.html
    """
    from closedform.interpretation.storage import load_interpretation
    from closedform.report.html import write_report

    check_outputs((out, PAGE), inputs=[result])
    found = load_interpretation(result)
    deliver(lambda: write_report(found, out))
    typer.echo(shown(out))
