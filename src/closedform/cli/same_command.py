"""``closedform same``: are two formulas the same concept?"""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from closedform.cli.shared_options import AsJson, Constraints, split_names
from closedform.errors import DomainError, shown

Interval = tuple[float, float]


def same(
    first: Annotated[
        str, typer.Argument(metavar="EXPR1", help="A formula, such as 'v**2/2 + sin(x)'.")
    ],
    second: Annotated[str, typer.Argument(metavar="EXPR2", help="Another formula.")],
    names: Annotated[
        str | None, typer.Option(metavar="x,v,..", help="Input names; default: those that occur.")
    ] = None,
    where: Constraints = None,
    domain: Annotated[
        str | None, typer.Option(metavar="A:B", help="One range for all inputs, or x=0:1,v=-1:1.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Decide whether two formulas are the same concept.

    They are if one is an invertible function of the other. Exit code 0 if they are the same, 1 if
    they differ.

    \b
    Examples:
      closedform same "0.173/(v**2 + x**2)" "v**2/2 + x**2/2"
      closedform same "x" "1/x" --domain 0.1:2
      closedform same "A12*A21" "A12**2" --where "A12 + A21 = 0"
    """
    from closedform.canonical.same_concept import same_concept

    answer = same_concept(
        first, second, split_names(names), constraints=where or (), domain=read_domain(domain)
    )
    if as_json:
        typer.echo(json.dumps(asdict(answer)))
    else:
        typer.echo("same" if answer else "different")
        typer.echo(f"{answer.status}: {shown(answer.reason)}")
        if answer.witness:
            places = (f"{shown(name)} = {value:.6g}" for name, value in answer.witness.items())
            typer.echo(f"at {', '.join(places)}")
        if not answer and answer.dependent and "constant on the domain" not in answer.reason:
            typer.echo("One is a function of the other, but not an invertible one on this domain.")
        typer.echo(f"misalignment {answer.misalignment:.2e}")
    raise typer.Exit(0 if answer else 1)


def read_domain(text: str | None) -> Interval | dict[str, Interval] | None:
    """Read ``-2:2`` or ``x=0:1,v=-1:1``.

    Examples
    --------
    >>> read_domain("x=0:1,v=-1:1")
    {'x': (0.0, 1.0), 'v': (-1.0, 1.0)}
    """
    if text is None:
        return None
    try:
        if "=" not in text:
            return _interval(text)
        parts = [part.split("=") for part in text.split(",")]
        return {name.strip(): _interval(interval) for name, interval in parts}
    except ValueError as error:
        raise DomainError(
            f"The domain {text!r} is not of the form -2:2 or x=0:1,v=-1:1."
        ) from error


def _interval(text: str) -> Interval:
    low, high = text.split(":")
    return float(low), float(high)
