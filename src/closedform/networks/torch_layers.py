"""Layers of a torch network: found by name, listened to while it runs, and listed for a person."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.optional import require
from closedform.errors import NeuronError
from closedform.networks.model_files import LoadedModel
from closedform.networks.neuron import Neuron, unknown_layer

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")


def plain(model: Any) -> Any:
    """A compiled network without its wrapper: the same weights and the same function."""
    return getattr(model, "_orig_mod", model)


def find_layer(model: Any, neuron: Neuron) -> Any | None:
    """The module that a neuron lives in, or None for the network's output."""
    layers = named_layers(model)
    if neuron.layer in layers and neuron.layer:
        return layers[neuron.layer]
    name = ".".join(part for part in neuron.layer.split(".") if part != "_orig_mod")
    if name in layers and name:
        return layers[name]
    if name in ("", "output"):
        return None
    raise unknown_layer(neuron, layers, model)


def named_layers(model: Any) -> dict[str, Any]:
    """The modules of a torch network by name, itself under the empty one; empty for any other."""
    if not isinstance(model, torch.nn.Module):
        return {}
    # Shared layers keep each of their names, and compiled ones lose the part that torch.compile
    # adds.
    named = model.named_modules(remove_duplicate=False)
    return {
        ".".join(part for part in name.split(".") if part != "_orig_mod"): module
        for name, module in named
    }


class Capture:
    """Takes the values of neurons out of layers while the network runs; leaves no hook behind.

    take: ``take(neuron, output)`` turns a layer's output into the neuron's values at once, before a
        later layer can overwrite it.
    """

    def __init__(
        self, model: Any, neurons: tuple[Neuron, ...], take: Callable[[Neuron, Any], Any]
    ) -> None:
        self._layers = [
            None if neuron.whole_model else find_layer(model, neuron) for neuron in neurons
        ]
        self._neurons = neurons
        self._take = take
        self._values: list[dict[int, Any]] = [{} for _ in neurons]
        self._calls = [0] * len(neurons)
        self._handles: list[Any] = []

    def __enter__(self) -> "Capture":
        for place, layer in enumerate(self._layers):
            if layer is not None:
                self._handles.append(layer.register_forward_hook(self._hook(place)))
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()

    def is_layer(self, place: int) -> bool:
        """Whether the neuron in this place lives in a layer rather than in the network's output."""
        return self._layers[place] is not None

    def value(self, place: int) -> tuple[Any, str | None]:
        """The values of a neuron after the pass, and a note where its layer ran several times."""
        neuron, values, calls = self._neurons[place], self._values[place], self._calls[place]
        if calls == 0:
            raise NeuronError(
                f"{neuron}: the layer did not run in this pass. Choose a layer that the "
                f"network's forward calls as a module.",
                neuron=str(neuron),
            )
        wanted = (
            0 if neuron.call is None else neuron.call if neuron.call >= 0 else calls + neuron.call
        )
        if wanted not in values:
            raise NeuronError(
                f"{neuron}: the layer runs {calls} times in one pass; there is no call "
                f"{neuron.call}."
            )
        note = None
        if calls > 1 and neuron.call is None:
            note = (
                f"Layer {neuron.layer!r} runs {calls} times in one pass; the first was taken "
                f"('{neuron.layer}@1' is the next)."
            )
        return values[wanted], note

    def _hook(self, place: int) -> Callable[..., None]:
        neuron = self._neurons[place]

        def hook(module: Any, args: Any, output: Any) -> None:
            call = self._calls[place]
            self._calls[place] += 1
            if neuron.call is None and call > 0:
                return
            if neuron.call is not None and neuron.call >= 0 and call != neuron.call:
                return
            self._values[place][call] = self._take(neuron, output)

        return hook


_WIDTHS = ("out_features", "out_channels", "num_features", "hidden_size", "embedding_dim")


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of a network."""

    name: str  # as a neuron selector takes it
    kind: str  # its class
    # Shape of its output for one point, such as ``8`` or ``16x5``; ``?`` where it is not known
    # without data.
    units: str
    weights: int  # its own trainable numbers, those of layers inside it included

    @property
    def example(self) -> str:
        """A selector of its first unit."""
        return f"{self.name}:{','.join('0' for _ in self.units.split('x'))}"


def list_layers(model: Any, inputs: Any = None) -> list[Layer]:
    """The named layers of a network, in the order in which they were made.

    inputs (n_points, ...): some inputs; the network runs on a few of them to see the shapes.
    """
    network = model.model if isinstance(model, LoadedModel) else model
    batch = (model.fixed_batch if isinstance(model, LoadedModel) else None) or 2
    shapes = {} if inputs is None else _shapes(network, np.asarray(inputs)[:batch])
    return [
        Layer(
            name,
            _kind(module),
            shapes.get(name) or _width(module),
            sum(part.numel() for part in module.parameters()),
        )
        for name, module in named_layers(network).items()
        # Nodes of an ONNX graph without units are arithmetic with shapes.
        if name and getattr(module, "units", "") is not None
    ]


def _kind(module: Any) -> str:
    """Exported layers have lost their class; they remember its name."""
    return (
        str(module.type_name()).rsplit(".", 1)[-1]
        if hasattr(module, "type_name")
        else type(module).__name__
    )


def _width(module: Any) -> str:
    if isinstance(units := getattr(module, "units", None), str):
        return units
    for name in _WIDTHS:
        if isinstance(getattr(module, name, None), int):
            return str(getattr(module, name))
    weight = getattr(module, "weight", None)
    return str(len(weight)) if isinstance(weight, torch.Tensor) and weight.ndim == 2 else "?"


def _shapes(network: Any, inputs: np.ndarray) -> dict[str, str]:
    """Shapes of the layers' outputs for one point, from one pass."""
    found: dict[str, str] = {}
    handles = []

    def listen(name: str) -> Any:
        def hook(module: Any, args: Any, output: Any) -> None:
            if isinstance(output, torch.Tensor):
                found.setdefault(name, "x".join(map(str, output.shape[1:])))

        return hook

    for name, module in named_layers(network).items():
        handles.append(module.register_forward_hook(listen(name)))
    kind = next((part.dtype for part in network.parameters()), torch.float32)
    try:
        with torch.no_grad():
            network(torch.as_tensor(inputs).to(kind))
    finally:
        for handle in handles:
            handle.remove()
    return found
