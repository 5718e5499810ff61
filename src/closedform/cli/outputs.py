"""What a command writes: checked before the work, and told even if it cannot be written."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from closedform.basics.files import check_output, write_text
from closedform.basics.optional import require
from closedform.errors import ClosedformError, SaveError

BAD_CALL = 2
"""Exit code when something is wrong with the call or with a file that it names."""

NOT_WRITTEN = 3
"""Exit code when the work is done, and a file that was asked for could not be written."""

FAILED = 4
"""Exit code when closedform itself fails."""


JSON = (".json",)
PAGE = (".html", ".htm")
FIELD = (".npz",)
PICTURE = (".png", ".svg", ".pdf")
TABLE = (".csv", ".parquet")


def check_outputs(*outputs: tuple[Path | None, Sequence[str]], inputs: Sequence[Path] = ()) -> None:
    """Raise a SaveError before the work if a file cannot be written, ends otherwise than in its
    endings, or would take the place of another or of an input.
    """
    taken = {path.resolve() for path in inputs}
    for path, endings in outputs:
        if path is None:
            continue
        check_output(path, endings)
        # An error now, not after the work.
        if endings is PAGE:
            require("jinja2", extra="report")
        if path.suffix.lower() == ".parquet":
            require("pyarrow", extra="cluster")
        place = path.resolve()
        if place.is_file() or not place.exists():
            if place in taken:
                raise SaveError(
                    f"{path} cannot be written: it is also an input, or another output has the "
                    "same name. Name another file."
                )
            taken.add(place)


def deliver(*saves: tuple[Callable[[Path], object], Path | None]) -> None:
    """Write the files that were asked for when the answer is on the screen already; what fails does
    not stop the others, and makes the exit code 3.
    """
    failed = False
    for save, path in saves:
        try:
            if path is not None:
                save(path)
        except (ClosedformError, OSError) as error:
            typer.echo(f"closedform: {error}", err=True)
            failed = True
    if failed:
        raise typer.Exit(NOT_WRITTEN)


def tell(found: Any, as_json: bool) -> Callable[[Path], None]:
    """Print what was found, as text or as one JSON object, and return what writes the latter."""
    text = json.dumps(found.summary())
    typer.echo(text if as_json else str(found))
    return partial(write_text, text=text)


def save_picture(draw: Callable[[], Any], path: Path) -> None:
    """Draw Axes, and write their figure as a paper needs it."""
    draw().figure.savefig(path, dpi=200, bbox_inches="tight")
