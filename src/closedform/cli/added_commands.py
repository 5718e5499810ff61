"""Commands that other distributions add under the entry point ``closedform.commands``: each is a
function for Typer.
"""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

import typer

from closedform.errors import ClosedformError, MissingDependencyError
from closedform.shown import shown

ENTRY_POINT = "closedform.commands"

BENCH = "closedform-bench"
BENCH_COMMANDS = ("reproduce", "bench", "figures")
"""Asked for by documents and papers, so they are known even where their distribution is not."""

_ANY_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True}


def add_commands(app: typer.Typer) -> None:
    """Add what is installed, and for what is not a command that says how to install it.

    A command's own name is never taken, and a distribution that is broken costs nothing but its own
    commands.

    Parameters
    ----------
    app : typer.Typer
        With the commands of the package.
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
            _add_refusal(app, name, missing_bench(name))


def missing_bench(name: str) -> MissingDependencyError:
    """What a command says whose distribution is not installed.

    Examples
    --------
    >>> str(missing_bench("bench")).partition(", ")[0]
    '`closedform bench` is part of closedform-bench'
    """
    message = (
        f"`closedform {name}` is part of {BENCH}, which is not installed. "
        "Install it from a checkout of the repository with: pip install ./bench"
    )
    return MissingDependencyError(message, name=BENCH)


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
