"""What a command writes: checked before the work, and told even if it cannot be written."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from closedform.basics.files import check_output
from closedform.cli.entry import STOPPED
from closedform.errors import ClosedformError, SaveError

if TYPE_CHECKING:
    from closedform.interpretation.answer import Interpretation

BAD_CALL = 2
"""Exit code when something is wrong with the call or with a file that it names."""

NOT_WRITTEN = 3
"""Exit code when the work is done, and a file that was asked for could not be written."""

FAILED = 4
"""Exit code when closedform itself fails."""


JSON = (".json",)
PAGE = (".html", ".htm")
FIELD = (".npz",)
TABLE = (".csv", ".parquet")


def check_outputs(*outputs: tuple[Path | None, Sequence[str]], inputs: Sequence[Path] = ()) -> None:
    """See whether files can be written, before the work.

    Parameters
    ----------
    *outputs : tuple of Path or None, and of endings
    inputs : sequence of Path
        What the command reads; no output may take its place.

    Raises
    ------
    SaveError
        If one cannot be written, or two are the same.
    """
    taken = {path.resolve() for path in inputs}
    for path, endings in outputs:
        if path is None:
            continue
        check_output(path, endings)
        place = path.resolve()
        if place.is_file() or not place.exists():
            if place in taken:
                raise SaveError(
                    f"{path} cannot be written: it is also an input, or another output has the "
                    "same name. Name another file."
                )
            taken.add(place)


def deliver(*saves: Callable[[], object]) -> None:
    """Write files when the answer is on the screen already; what fails does not stop the others.

    Raises
    ------
    typer.Exit
        With code 3 if one could not be written.
    """
    failed = False
    for save in saves:
        try:
            save()
        except (ClosedformError, OSError) as error:
            typer.echo(f"closedform: {error}", err=True)
            failed = True
    if failed:
        raise typer.Exit(NOT_WRITTEN)


def leave(found: "Interpretation") -> NoReturn:
    """End a command whose answer is told and written.

    Raises
    ------
    typer.Exit
        With code 0 if it is verified, 1 if not, and 130 if somebody stopped it.
    """
    if found.provenance.status == "interrupted":
        raise typer.Exit(STOPPED)
    raise typer.Exit(0 if found.verdict.status == "verified" else 1)
