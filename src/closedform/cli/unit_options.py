"""Units on the command line: ``--units m=kg,v=m/s --constant "c=299792458 m/s"``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from closedform.units.units import Units

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


def read_units(
    units: str | None, constants: Sequence[str] | None = None, pure_numbers: bool = False
) -> "Units | None":
    """Units from the command line; None if none are stated.

    Examples
    --------
    >>> read_units("m=kg,v=m/s").text
    'm=kg, v=m/s'
    """
    from closedform.units.errors import UnitsError
    from closedform.units.units import Units

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
    from closedform.units.errors import UnitsError

    name, sign, unit = text.partition("=")
    if not sign or not name.strip():
        raise UnitsError(f"{option} holds {text!r}; write a name, = and a unit, such as {example}.")
    return name.strip(), unit.strip()
