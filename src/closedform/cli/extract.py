"""``closedform extract``: from a model file and data to a gradient field."""

from pathlib import Path
from typing import Annotated

import typer

MAX_POINTS = 5000


def extract(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A .pt2 of torch.export, or weights with --builder.")],
    data: Annotated[Path, typer.Argument(metavar="DATA.npz", help="An array `inputs` (n, d), and optionally `names`.")],
    neuron: Annotated[list[str], typer.Option(help="LAYER:INDEX, such as encoder.2:0; repeat it for several latents.")],
    out: Annotated[Path, typer.Option(help="Where the field is written, FIELD.npz.")],
    builder: Annotated[str | None, typer.Option(help="package.module:function that makes the network.")] = None,
    names: Annotated[str | None, typer.Option(help="The inputs, such as x,v; by default those in DATA.npz.")] = None,
    tangent: Annotated[str, typer.Option(help="auto, none, linear, local or constraints.")] = "auto",
    constraint: Annotated[list[str] | None, typer.Option(help="What is constant on the data: 'A11 + A22'. May repeat.")] = None,
    smoothing: Annotated[
        float, typer.Option(help="For rectified networks: radius as a share of the spread, up to 0.05.")
    ] = 0.0,
    max_points: Annotated[int, typer.Option(help="How many points are taken.")] = MAX_POINTS,
    seed: Annotated[int, typer.Option(help="Chooses the points.")] = 0,
    allow_pickle: Annotated[bool, typer.Option(help="Open a pickled model: runs whatever code is in it.")] = False,
) -> None:
    """Look at a neuron of a network and write its gradient field.

    Example: closedform extract net.pt2 data.npz --neuron encoder.2:0 --out field.npz
    """
    from closedform.networks.extract import extract_field
    from closedform.networks.model_files import load_inputs, load_model

    inputs, known = load_inputs(data)
    columns = [name.strip() for name in names.split(",")] if names else known
    field = extract_field(
        load_model(model, builder=builder, allow_pickle=allow_pickle),
        inputs,
        neuron if len(neuron) > 1 else neuron[0],
        names=columns,
        tangent=tangent,
        constraints=constraint or (),
        max_points=max_points,
        smoothing=smoothing,
        rng=seed,
    )
    field.save(out)
    typer.echo(f"{out}: {field.n_points} points, {len(field.names)} inputs, rank {field.rank}, tangent {field.tangent.kind}")
    for sentence in [*field.notes, *(finding.message for finding in field.quality.findings)]:
        typer.echo(sentence, err=True)
