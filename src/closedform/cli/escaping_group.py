"""The group of all commands: what usage errors quote from the command line is shown escaped, and
Ctrl-C or a closed pipe ends a command with one line.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from closedform.cli.entry import STOPPED, STOPPED_LINE
from closedform.cli.outputs import NOT_WRITTEN
from closedform.shown import shown

# Typer's base of usage errors has no public name.
_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]


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
