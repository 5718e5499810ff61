"""Layers of a torch network: found by name, listened to while it runs, and listed for a person."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.networks.model_files import LoadedModel
from closedform.networks.neuron import Neuron, unknown_layer
from closedform.networks.torch_library import torch


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


@contextmanager
def hooked(layers: Mapping[Any, Any], act: Callable[[Any, Any], Any]) -> Iterator[None]:
    """Tell ``act(key, output)`` what layers return while the network runs; what it returns, unless
    None, takes the output's place. No hook is left behind.
    """
    with ExitStack() as stack:
        for key, layer in layers.items():
            stack.enter_context(
                layer.register_forward_hook(
                    lambda _module, _args, output, key=key: act(key, output)
                )
            )
        yield


@contextmanager
def captured(
    model: Any, neurons: tuple[Neuron, ...], take: Callable[[Neuron, Any], Any]
) -> Iterator[dict[int, list[Any]]]:
    """For each neuron that lives in a layer, by its place, what its layer's calls gave.

    take: ``take(neuron, output)`` turns a layer's output into the neuron's values at once, before a
        later layer can overwrite it.
    """
    found = {
        place: find_layer(model, neuron)
        for place, neuron in enumerate(neurons)
        if not neuron.whole_model
    }
    layers = {place: layer for place, layer in found.items() if layer is not None}
    calls: dict[int, list[Any]] = {place: [] for place in layers}

    def keep(place: int, output: Any) -> None:
        wanted, known = neurons[place].call or 0, calls[place]
        # Counted from the end, any call may be the one.
        is_wanted = wanted < 0 or wanted == len(known)
        known.append(take(neurons[place], output) if is_wanted else None)

    with hooked(layers, keep):
        yield calls


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

    def keep(name: str, output: Any) -> None:
        if isinstance(output, torch.Tensor):
            found.setdefault(name, "x".join(map(str, output.shape[1:])))

    kind = next((part.dtype for part in network.parameters()), torch.float32)
    with hooked(named_layers(network), keep), torch.no_grad():
        network(torch.as_tensor(inputs).to(kind))
    return found
