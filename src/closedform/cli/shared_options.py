"""What several commands share: options, formulas that may begin with a minus, and outputs, which
are checked before the work and told even if they cannot be written.
"""

import json
import logging
import os
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from closedform.basics.files import check_output, write_text
from closedform.basics.optional import require
from closedform.errors import ClosedformError, SaveError

if TYPE_CHECKING:
    from closedform.expressions.units import Units


def existing_file(metavar: str, said: str) -> Any:
    """An argument that names a file."""
    return typer.Argument(metavar=metavar, exists=True, dir_okay=False, help=said)


ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="An .onnx, or weights with --builder.")
]
DataFile = Annotated[
    Path, typer.Argument(metavar="DATA.npz", help="Has `inputs` (n, d), optionally `names`.")
]
FieldFile = Annotated[Path, existing_file("FIELD.npz", "What `closedform extract` wrote.")]
Builder = Annotated[
    str | None, typer.Option(metavar="M:F", help="Module and function that make the network.")
]
Trust = Annotated[bool, typer.Option("--trust", help="Let torch open it: may run its code.")]
InputNames = Annotated[
    str | None, typer.Option(metavar="x,v,..", help="Input names; default: from the file.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed; same answer unless time runs out.")]
SweepSeed = Annotated[int, typer.Option(metavar="N", help="Seed of points and searches.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ReportPage = Annotated[Path | None, typer.Option(metavar="OUT.html", help="Write a report page.")]
ResultFile = Annotated[Path | None, typer.Option(metavar="R.json", help="Write the whole answer.")]
JsonFile = Annotated[Path | None, typer.Option(metavar="F.json", help="Write the JSON object.")]
Budget = Annotated[float, typer.Option(metavar="S", help="Seconds, after compilation.")]
EngineName = Annotated[
    str, typer.Option(metavar="E", help="auto, structure, terms, evolution, ...")
]
TangentKind = Annotated[str, typer.Option(metavar="KIND", help="auto, none, linear, local, ...")]
Constraints = Annotated[
    list[str] | None, typer.Option(metavar="EXPR", help="Constant on the data; may repeat.")
]
Smoothing = Annotated[
    float, typer.Option(metavar="SHARE", help="0 to 0.05; try 0.05 for ReLU networks.")
]
Scheduler = Annotated[
    str | None, typer.Option(metavar="tcp://..", help="A Dask scheduler, or ray.")
]
Processes = Annotated[
    int | None, typer.Option(metavar="N", help="Number of local processes; default: none.")
]
TermEvaluations = Annotated[int, typer.Option(metavar="N", help="Evaluations for the term search.")]
UnitsOption = Annotated[
    str | None, typer.Option("--units", metavar="m=kg,..", help="Units of inputs: m=kg,v=m/s.")
]
ConstantOption = Annotated[
    list[str] | None,
    typer.Option(
        "--constant", metavar="c=V U", help="Known constant: 'c=299792458 m/s'; may repeat."
    ),
]
PureNumbersOption = Annotated[
    bool, typer.Option("--pure-numbers", help="Fitted constants carry no units.")
]


def split_names(text: str | None, otherwise: Sequence[str] | None = None) -> Sequence[str] | None:
    """Names between commas; what else is known if none are stated."""
    return [name.strip() for name in text.split(",")] if text else otherwise


def executor_of(scheduler: str | None, processes: int | None) -> str | int | None:
    """What runs the tasks of a sweep; a lost scheduler is told in a sentence, not in the tracebacks
    of everything that was connected to it.
    """
    if scheduler is not None and processes is not None:
        raise typer.BadParameter("Give --scheduler or --processes, not both.")
    if scheduler is not None:
        os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    return scheduler or processes


def read_units(
    units: str | None, constants: Sequence[str] | None = None, pure_numbers: bool = False
) -> "Units | None":
    """Units from the command line; None if none are stated.

    Examples
    --------
    >>> read_units("m=kg,v=m/s").text
    'm=kg, v=m/s'
    """
    from closedform.errors import UnitsError
    from closedform.expressions.units import Units

    if units is None:
        if constants or pure_numbers:
            raise UnitsError(
                "--constant and --pure-numbers need units; state those of the inputs with "
                "--units, such as --units m=kg,v=m/s."
            )
        return None
    inputs = dict(_pair(item, "--units", "m=kg") for item in units.split(","))
    known = dict(_pair(item, "--constant", "c=299792458 m/s") for item in constants or ())
    return Units(inputs, constants=known, pure_numbers=pure_numbers)


def _pair(text: str, option: str, example: str) -> tuple[str, str]:
    from closedform.errors import UnitsError

    name, sign, unit = text.partition("=")
    if not sign or not name.strip():
        raise UnitsError(f"{option} holds {text!r}; write a name, = and a unit, such as {example}.")
    return name.strip(), unit.strip()


_OPTION = re.compile(r"(--[a-z][a-z-]+)(=.*)?")


class FormulaCommand(TyperCommand):
    """Takes what looks like an unknown option for a formula, unless it is a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Called by Typer before options and arguments are told apart."""
        known = [
            name
            for parameter in self.get_params(ctx)
            for name in (*parameter.opts, *parameter.secondary_opts)
        ]
        for argument in args:
            match = _OPTION.fullmatch(argument)
            if match is not None and match[1] not in known:
                close = get_close_matches(match[1], known, n=1)
                hint = (
                    f" Did you mean {close[0]}?"
                    if close
                    else " If it is a formula, put it in parentheses."
                )
                raise typer.BadParameter(f"No such option: {match[1]}.{hint}", ctx=ctx)
        return super().parse_args(ctx, args)


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
