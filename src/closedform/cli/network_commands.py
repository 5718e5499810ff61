"""``closedform layers`` and ``extract``: from a model file and data to a gradient field."""

from pathlib import Path
from typing import Annotated

import typer

from closedform.cli.outputs import FIELD, check_outputs, deliver
from closedform.cli.shared_options import (
    Builder,
    Constraints,
    DataFile,
    InputNames,
    ModelFile,
    Smoothing,
    TangentKind,
    Trust,
    UnitsOption,
    read_units,
    split_names,
)
from closedform.errors import shown
from closedform.networks.tolerances import MAX_POINTS


def extract(
    model: ModelFile,
    data: DataFile,
    neuron: Annotated[
        list[str], typer.Option(metavar="L:I", help="Layer and index; repeat for several latents.")
    ],
    out: Annotated[Path, typer.Option(metavar="FIELD.npz", help="Where to write the field.")],
    builder: Builder = None,
    names: InputNames = None,
    tangent: TangentKind = "auto",
    constraint: Constraints = None,
    smoothing: Smoothing = 0.0,
    max_points: Annotated[
        int, typer.Option(metavar="N", help="Largest number of points to use.")
    ] = MAX_POINTS,
    units: UnitsOption = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed for choosing the points.")] = 0,
    trust: Trust = False,
) -> None:
    """Write the gradient field of a neuron of a network.

    \b
    Examples:
      closedform extract net.onnx data.npz --neuron encoder.2:0 --out field.npz
      closedform extract net.safetensors data.npz --builder nets:make \\
          --neuron latent:0 --neuron latent:1 --out both.npz
    `closedform layers MODEL` lists the layers.
    """
    from closedform.networks.extract import extract_field
    from closedform.networks.model_files import load_inputs, load_network

    check_outputs((out, FIELD), inputs=[model, data])
    inputs, known = load_inputs(data)
    field = extract_field(
        load_network(model, builder=builder, trust=trust),
        inputs,
        neuron if len(neuron) > 1 else neuron[0],
        names=split_names(names, known),
        tangent=tangent,
        constraints=constraint or (),
        max_points=max_points,
        smoothing=smoothing,
        rng=seed,
        units=read_units(units),
    )
    size = f"{field.n_points} points, {len(field.names)} inputs"
    typer.echo(f"{shown(out)}: {size}, rank {field.rank}, tangent {field.tangent.kind}")
    for sentence in [*field.notes, *(finding.message for finding in field.quality.findings)]:
        typer.echo(shown(sentence), err=True)
    deliver((field.save, out))


def layers(
    model: ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA.npz", help="With `inputs` (n, d); shows exact shapes."),
    ] = None,
    builder: Builder = None,
    trust: Trust = False,
) -> None:
    """List the layers of a network, for `extract --neuron`.

    \b
    Examples:
      closedform layers net.onnx
      closedform layers net.safetensors data.npz --builder nets:make
    """
    from closedform.networks.model_files import load_inputs, load_network
    from closedform.networks.torch_layers import list_layers

    found = list_layers(
        load_network(model, builder=builder, trust=trust),
        None if data is None else load_inputs(data)[0],
    )
    rows = [("layer", "kind", "units", "weights")]
    for layer in found:
        weights = f"{layer.weights:,}" if layer.weights else ""
        rows.append((shown(layer.name), shown(layer.kind), layer.units, weights))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for place, (*texts, weights) in enumerate(rows):
        columns = [text.ljust(width) for text, width in zip(texts, widths, strict=True)]
        line = "  ".join([*columns, weights.rjust(10)]).rstrip()
        typer.echo(typer.style(line, bold=True) if place == 0 else line)
    example = next(
        (layer for layer in reversed(found) if layer.name and layer.units not in ("", "?")), None
    )
    if example is not None:
        neuron = shown(example.example)
        typer.echo(
            f"\nclosedform extract {shown(model)} DATA.npz --neuron {neuron} --out field.npz",
            err=True,
        )
