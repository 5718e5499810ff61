"""``closedform symmetries``: the motions of the inputs that a neuron does not see."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from closedform.cli.outputs import JSON, PICTURE, check_outputs, deliver, save_picture, tell
from closedform.cli.shared_options import AsJson, FieldFile, JsonFile, Seed
from closedform.errors import ClosedformError


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
