"""The layers of a torch network as a list, so that a person can point at one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.optional import require
from closedform.networks.model_files import LoadedModel
from closedform.networks.torch_layers import named_layers

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")

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
