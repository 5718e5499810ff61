"""``closedform conserved``: what trajectories, a flow or pairs conserve."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform.cli.outputs import JSON, PICTURE, check_outputs, deliver, save_picture, tell
from closedform.cli.shared_options import (
    AsJson,
    Budget,
    Constraints,
    InputNames,
    JsonFile,
    Seed,
    split_names,
)
from closedform.errors import ClosedformError

KINDS = ("trajectories", "pairs", "velocities")


def conserved(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA.npz",
            exists=True,
            dir_okay=False,
            help="Holds trajectories (and times), or pairs, or points and velocities.",
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
    given, inside = _read(data)
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


def _read(path: Path) -> tuple[dict[str, Any], list[str] | None]:
    """The arrays of a file as arguments, and the inputs' names if it has them."""
    from closedform.basics.files import read_arrays

    arrays = read_arrays(path)
    kinds = [kind for kind in KINDS if kind in arrays]
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
