"""The application: collects the commands, and turns errors into a message and exit code 2."""

import sys
from typing import Annotated

import typer

from closedform._version import __version__
from closedform.cli.bench import bench
from closedform.cli.doctor import doctor
from closedform.cli.extract import extract
from closedform.cli.interpret import interpret
from closedform.cli.report import report
from closedform.cli.reproduce import reproduce
from closedform.cli.same import same
from closedform.errors import ClosedformError

app = typer.Typer(
    help="Read closed-form concepts out of trained neural networks.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
# Formulas may begin with a minus sign, so what looks like an unknown option is taken as an argument.
app.command(context_settings={"ignore_unknown_options": True})(same)
for command in (extract, interpret, report, reproduce, bench, doctor):
    app.command()(command)


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"closedform {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Read closed-form concepts out of trained neural networks."""


def main() -> None:
    """Run the command line."""
    try:
        app()
    except ClosedformError as error:
        typer.echo(f"closedform: {error}", err=True)
        sys.exit(2)
