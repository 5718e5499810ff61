"""``closedform same``, ``contest``, ``conserved`` and ``symmetries``."""

import json
import tomllib
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform.cli.shared_options import (
    JSON,
    PAGE,
    PICTURE,
    AsJson,
    Budget,
    Constraints,
    FieldFile,
    InputNames,
    JsonFile,
    ReportPage,
    Seed,
    check_outputs,
    deliver,
    existing_file,
    save_picture,
    split_names,
    tell,
)
from closedform.errors import ClosedformError, DomainError, shown

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


THEORY_KEYS = ("theories", "free", "given")


def contest(
    field: FieldFile,
    theories: Annotated[
        Path,
        existing_file("THEORIES.toml", "Formulas under [theories]; free constants under [free]."),
    ],
    budget: Annotated[
        float | None,
        typer.Option(metavar="S", help="Also search for other formulas, so many seconds."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    report: ReportPage = None,
    out: JsonFile = None,
) -> None:
    """Tell which of several theories a field follows.

    Also by how many degrees, with which constants, and where each fails. Exit code 0 if it follows
    one of them, 1 if it follows none.

    \b
    Examples:
      closedform contest field.npz theories.toml
      closedform contest field.npz theories.toml --report contest.html --json

    \b
    theories.toml:
      given = ["q"]               # inputs that are held; may be left out
      [theories]
      "total spin" = "s1 + s2/q**2"
      "mixed" = "s1*(1 + a/q) + s2*(1/q**2 + a/q)"
      [free]
      a = [0.5, 0, 1]             # start, low and high; or a = 0.5
    """
    from closedform.field.field_file import load_field
    from closedform.reading.theories.contest_stage import contest_field

    check_outputs((out, JSON), (report, PAGE), inputs=[field, theories])
    content = read_theory_file(theories)
    found = contest_field(
        load_field(field),
        content["theories"],
        free=content.get("free", ()),
        given=content.get("given", ()),
        budget=budget,
        rng=seed,
        progress=False if as_json else None,
        title=field.stem,
    )
    deliver((tell(found, as_json), out), (found.report, report))
    raise typer.Exit(0 if found.winner is not None else 1)


def read_theory_file(path: Path) -> dict[str, Any]:
    """The theories of a file, with what it says of free and held names."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClosedformError(
            f"{path} is not a TOML file: {error}. Write formulas under [theories], each as "
            f'"name" = "formula".'
        ) from error
    unknown = [key for key in content if key not in THEORY_KEYS]
    theories = content.get("theories")
    if unknown or not isinstance(theories, dict) or not theories:
        told = f"has {unknown[0]!r}" if unknown else "has no table [theories]"
        raise ClosedformError(
            f'{path} {told}. It holds [theories], each as "name" = "formula", and optionally '
            f"[free] and given = [...]."
        )
    return content


MOTIONS = ("trajectories", "pairs", "velocities")


def conserved(
    data: Annotated[
        Path,
        existing_file(
            "DATA.npz", "Holds trajectories (and times), or pairs, or points and velocities."
        ),
    ],
    names: InputNames = None,
    where: Constraints = None,
    law: Annotated[
        list[str] | None,
        typer.Option(metavar="FORMULA", help="Report the drift of this formula; may repeat."),
    ] = None,
    budget: Budget = 60.0,
    seed: Seed = 0,
    as_json: AsJson = False,
    out: JsonFile = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="D.png", help="Draw how the laws drift.")
    ] = None,
) -> None:
    """Find what a motion conserves, in closed form.

    It also says how many laws there are. Exit code 0 if a law is verified, 1 if none is.

    \b
    Examples:
      closedform conserved orbits.npz --names x,y,px,py
      closedform conserved flow.npz --law "v**2/2 - cos(x)" --json
    """
    from closedform.reading.laws.finding import conserved as find

    check_outputs((out, JSON), (picture, PICTURE), inputs=[data])
    given, inside = _read_motion(data)
    found = find(
        **given,
        names=split_names(names, inside),
        constraints=where or (),
        laws=law or (),
        budget=budget,
        rng=seed,
        progress=False if as_json else None,
    )
    save = tell(found, as_json)
    deliver((save, out), (partial(save_picture, found.plot_drift), picture))
    raise typer.Exit(0 if found.verified else 1)


def _read_motion(path: Path) -> tuple[dict[str, Any], list[str] | None]:
    """The arrays of a file as arguments, and the inputs' names if it has them."""
    from closedform.basics.files import read_arrays

    arrays = read_arrays(path)
    kinds = [kind for kind in MOTIONS if kind in arrays]
    if len(kinds) != 1 or (kinds == ["velocities"] and "points" not in arrays):
        raise ClosedformError(
            f"{path} holds {', '.join(arrays) or 'nothing'}; save trajectories (and times), or "
            f"pairs, or points and velocities."
        )
    names = [str(name) for name in arrays["names"]] if "names" in arrays else None
    if kinds == ["velocities"]:
        return {"flow": arrays["velocities"], "points": arrays["points"]}, names
    given = {kinds[0]: arrays[kinds[0]]}
    if kinds == ["trajectories"] and "times" in arrays:
        given["times"] = arrays["times"]
    return given, names


def symmetries(
    field: FieldFile,
    stated: Annotated[
        list[str] | None,
        typer.Option(metavar="V", help="How broken is it, as 'x*d_y - y*d_x'; may repeat."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="a=ax,ay", help="Inputs that belong together; may repeat."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    out: JsonFile = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="F.png", help="Draw the first flow: two inputs.")
    ] = None,
) -> None:
    """Find the affine motions of the inputs that a neuron does not see.

    Translations, rotations, scalings, boosts and shears, with the algebra that they form and how
    broken each is. Exit code 0 if there is one, 1 if there is none.

    \b
    Examples:
      closedform symmetries field.npz
      closedform symmetries field.npz --stated "x*d_y - y*d_x" --json
    """
    from closedform.field.field_file import load_field
    from closedform.reading.symmetries.finding import symmetries as find

    check_outputs((out, JSON), (picture, PICTURE), inputs=[field])
    groups = dict(_group(text) for text in group or ())
    found = find(load_field(field), stated=stated or (), groups=groups, rng=seed)
    save = tell(found, as_json)
    deliver((save, out), (partial(save_picture, found.plot_flow), picture))
    raise typer.Exit(0 if found.dimension else 1)


def _group(text: str) -> tuple[str, list[str]]:
    name, sign, members = text.partition("=")
    if not sign or not name.strip():
        raise ClosedformError(
            f"--group holds {text!r}; write a name, = and inputs, such as a=ax,ay,az."
        )
    return name.strip(), [member.strip() for member in members.split(",")]
