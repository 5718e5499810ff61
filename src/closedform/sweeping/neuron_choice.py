"""Which neurons of which layers a sweep reads."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from closedform.errors import NeuronError
from closedform.networks.extract import open_source
from closedform.networks.neuron import parse_neuron
from closedform.networks.options import OptionKeywords

Choice = slice | range | Iterable[int | str] | None


def choose_neurons(
    model: Any,
    inputs: Any,
    layer: str | Sequence[str],
    neurons: Choice = None,
    options: OptionKeywords | None = None,
) -> list[str]:
    """Selectors of neurons, layer by layer, from what `closedform.sweep` takes; a few points are
    enough.

    Examples
    --------
    >>> import numpy as np
    >>> choose_neurons(lambda x: x @ np.ones((2, 5)), np.zeros((3, 2)), "output", slice(1, 4))
    ['output:1', 'output:2', 'output:3']
    """
    layers = [layer] if isinstance(layer, str) else list(layer)
    found: list[str] = []
    for name in layers:
        if neurons is None or isinstance(neurons, slice):
            width = layer_width(model, inputs, name, options)
            units: list[int | str] = list(range(width)[neurons or slice(None)])
        else:
            units = list(neurons)
        found += [f"{name}:{unit}" for unit in units]
    if not found:
        raise NeuronError(
            f"No neuron of {', '.join(layers)} is chosen by {neurons!r}; choose at least one.",
            neuron=str(layer),
        )
    return list(dict.fromkeys(found))


def layer_width(model: Any, inputs: Any, layer: str, options: OptionKeywords | None = None) -> int:
    """How many units a flat layer has, from one pass over a few points."""
    shapes: list[tuple[int, ...]] = []

    def look(activation: Any) -> Any:
        shapes.append(tuple(activation.shape))
        return activation.reshape(len(activation), -1)[:, 0]

    place = parse_neuron(layer)
    if place.index:
        raise NeuronError(
            f"{layer!r} names a neuron; pass the layer's path alone, and the neurons as neurons=.",
            neuron=layer,
        )
    open_source(model, inputs, replace(place, function=look), **(options or {}))
    shape = shapes[0] if shapes else ()
    if len(shape) != 2:
        raise NeuronError(
            f"The output of {layer!r} has shape {shape}, with positions as well as units. Say "
            "which neurons: neurons=['0,mean', '1,mean'] takes channels over all positions.",
            neuron=layer,
        )
    return shape[1]


def parse_range(text: str) -> slice | list[str]:
    """Neurons as they stand on the command line: ``0:4096``, ``7`` or ``3,mean;4,mean``.

    Examples
    --------
    >>> parse_range("0:4096"), parse_range("3,mean;4,mean")
    (slice(0, 4096, None), ['3,mean', '4,mean'])
    """
    if ":" not in text:
        return [part.strip() for part in text.split(";") if part.strip()]
    try:
        return slice(*(int(part) if part.strip() else None for part in text.split(":")))
    except (TypeError, ValueError) as error:
        raise NeuronError(
            f"{text!r} is not a range of neurons; write START:STOP, such as 0:4096.", neuron=text
        ) from error
