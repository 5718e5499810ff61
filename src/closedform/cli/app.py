"""The application: collects the commands, and turns errors into a message and an exit code."""

import os
import sys
from typing import Annotated, NoReturn

import typer

from closedform._version import __version__
from closedform.cli.added_commands import add_commands
from closedform.cli.compare_command import compare
from closedform.cli.conserved_command import conserved
from closedform.cli.doctor_command import doctor
from closedform.cli.entry import STOPPED, STOPPED_LINE
from closedform.cli.escaping_group import EscapingGroup
from closedform.cli.extract_command import extract
from closedform.cli.formula_arguments import FormulaCommand
from closedform.cli.interpret_command import interpret
from closedform.cli.layers_command import layers
from closedform.cli.outputs import BAD_CALL, FAILED
from closedform.cli.report_command import report
from closedform.cli.same_command import same
from closedform.cli.sweep_command import results, sweep
from closedform.cli.verify_command import verify
from closedform.errors import ClosedformError
from closedform.shown import shown

TRACEBACK = "CLOSEDFORM_TRACEBACK"
"""Set in the environment, it shows where an unexpected error arose."""

# Panels with frames would make the help of `extract` twice as long as a screen.
app = typer.Typer(
    cls=EscapingGroup,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (layers, extract, interpret, report):
    app.command()(command)
# Formulas may begin with a minus sign, so what looks like an unknown option is taken as an
# argument.
for command in (verify, same):
    app.command(cls=FormulaCommand, context_settings={"ignore_unknown_options": True})(command)
for command in (conserved, sweep, results, compare, doctor):
    app.command()(command)
add_commands(app)


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"closedform {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Read closed-form concepts out of trained neural networks.

    \b
    From a network to a formula:
      closedform layers net.onnx
      closedform extract net.onnx data.npz --neuron encoder.2:0 --out field.npz
      closedform interpret field.npz --report concept.html

    Results go to stdout, messages to stderr. Exit code 0: done, or yes; 1: the answer is no; 2:
    something is wrong with the call; 3: the work is done, but a file could not be written; 4:
    closedform failed; 130: stopped by Ctrl-C, with the best so far written.
    """


def main() -> None:
    """Run the command line."""
    try:
        app(prog_name="closedform")
    except ClosedformError as error:
        _end(BAD_CALL, str(error))
    except (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError) as error:
        _end(BAD_CALL, f"{error.filename} cannot be opened: {error.strerror}.")
    except MemoryError as error:
        _end(FAILED, f"There is not enough memory: {error}. Take fewer points.")
    except Exception as error:
        if _was_interrupted(error):
            typer.echo(STOPPED_LINE, err=True, nl=False)
            sys.exit(STOPPED)
        if os.environ.get(TRACEBACK):
            raise
        _end(
            FAILED,
            f"This should not have happened: {type(error).__name__}: {error}. Please report it "
            f"with the output of the same call under {TRACEBACK}=1.",
        )


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: Python wraps one that comes while a class is made."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _end(code: int, message: str) -> NoReturn:
    typer.echo(f"closedform: {shown(message)}", err=True)
    sys.exit(code)
