"""``closedform layers``: what there is to point at in a network."""

from pathlib import Path
from typing import Annotated

import typer

from closedform.cli.shared_options import Builder, ModelFile, Trust
from closedform.shown import shown


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
    from closedform.networks.layer_list import list_layers
    from closedform.networks.model_files import load_inputs, load_network

    found = list_layers(
        load_network(model, builder=builder, trust=trust),
        None if data is None else load_inputs(data)[0],
    )
    rows = [("layer", "kind", "units", "weights")]
    rows += [
        (
            shown(layer.name),
            shown(layer.kind),
            layer.units,
            f"{layer.weights:,}" if layer.weights else "",
        )
        for layer in found
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for place, row in enumerate(rows):
        text = "  ".join(
            [
                *(entry.ljust(width) for entry, width in zip(row, widths, strict=False)),
                row[3].rjust(10),
            ]
        ).rstrip()
        typer.echo(typer.style(text, bold=True) if place == 0 else text)
    example = next(
        (layer for layer in reversed(found) if layer.name and layer.units not in ("", "?")), None
    )
    if example is not None:
        neuron = shown(example.example)
        typer.echo(
            f"\nclosedform extract {shown(model)} DATA.npz --neuron {neuron} --out field.npz",
            err=True,
        )
