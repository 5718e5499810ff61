"""The application: collects the commands, also those of other packages, and turns errors into a
message and an exit code.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from closedform import __version__
from closedform.cli import STOPPED, STOPPED_LINE
from closedform.cli.answer_commands import extract, interpret, layers, report, verify
from closedform.cli.atlas_command import atlas
from closedform.cli.doctor_command import doctor
from closedform.cli.further_commands import conserved, contest, same, symmetries
from closedform.cli.shared_options import BAD_CALL, FAILED, NOT_WRITTEN, FormulaCommand
from closedform.cli.sweep_commands import compare, results, sweep
from closedform.errors import ClosedformError, MissingDependencyError, shown

# Typer's base of usage errors has no public name.
_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]

ENTRY_POINT, BENCH = "closedform.commands", "closedform-bench"
BENCH_COMMANDS = ("reproduce", "bench", "figures")
"""Asked for by documents and papers, so they are known even where their distribution is not."""

_ANY_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True}

TRACEBACK = "CLOSEDFORM_TRACEBACK"
"""Set in the environment, it shows where an unexpected error arose."""


class EscapingGroup(TyperGroup):
    """Shell patterns put names of strangers' files on the command line, and errors repeat them."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Called by Typer to read what stands before the command."""
        with _escaped():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Called by Typer to read the rest, and to run it."""
        with _escaped():
            return super().invoke(ctx)


@contextmanager
def _escaped() -> Iterator[None]:
    try:
        yield
    except _USAGE_ERROR as error:
        error.message = shown(error.message)
        raise
    except KeyboardInterrupt:
        typer.echo(STOPPED_LINE, err=True, nl=False)
        raise typer.Exit(STOPPED) from None
    except BrokenPipeError:
        # Nobody reads on, such as `| head`; what is left to flush must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(NOT_WRITTEN) from None


def add_commands(app: typer.Typer) -> None:
    """Add what is installed, and for what is not a command that says how to install it.

    A command's own name is never taken, and a distribution that is broken costs nothing but its own
    commands.
    """
    own = {
        command.name or getattr(command.callback, "__name__", "")
        for command in app.registered_commands
    }
    offered = {
        point.name: point for point in entry_points(group=ENTRY_POINT) if point.name not in own
    }
    # The order of entry points is an accident; help must not depend on it.
    for name in sorted(offered):
        try:
            app.command(name)(offered[name].load())
        except Exception as error:
            _add_refusal(app, name, _broken(offered[name], error))
    for name in BENCH_COMMANDS:
        if name not in own | offered.keys():
            message = (
                f"`closedform {name}` is part of {BENCH}, which is not installed. "
                "Install it from a checkout of the repository with: pip install ./bench"
            )
            _add_refusal(app, name, MissingDependencyError(message, name=BENCH))


def _broken(point: EntryPoint, error: Exception) -> ClosedformError:
    source = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    return ClosedformError(
        f"`closedform {shown(point.name)}` of {shown(source)} cannot be loaded: "
        f"{type(error).__name__}: {shown(error)}. "
        "Install a version of it that works with this version of closedform."
    )


def _add_refusal(app: typer.Typer, name: str, error: ClosedformError) -> None:
    """A command that takes any words, --help as well, and ends with the error."""

    def refuse(context: typer.Context) -> None:
        raise error

    refusal: Callable[[typer.Context], None] = refuse
    app.command(name, hidden=True, add_help_option=False, context_settings=_ANY_WORDS)(refusal)


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
for command in (contest, conserved, sweep, results, compare, doctor, symmetries):
    app.command()(command)
app.add_typer(atlas, name="atlas")
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
