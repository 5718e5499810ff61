"""A torch network's outputs with another value in a neuron's place."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.networks.neuron import Neuron, parse_neuron


@dataclass(frozen=True, slots=True)
class Pass:
    """One run of a network."""

    outputs: FloatArray  # (n_points, n_outputs)
    values: FloatArray  # (n_points,): the neuron's own values, before anything took their place


def run_with(model: Any, points: FloatArray, neuron: Any, values: FloatArray | None) -> Pass | None:
    """Run a network with a neuron's values replaced.

    points (n_points, n_inputs): the network's only argument.
    neuron: one unit of a flat layer, such as ``"encoder.2:0"``.
    values (n_points,): what takes its place; None leaves the network alone.

    None where this cannot be done: another kind of neuron, an output neuron,
    outputs that are not one tensor, or a network that does not take points as they are.

    Examples
    --------
    >>> import torch
    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
    >>> changed = run_with(net, np.zeros((4, 2)), "0:1", np.arange(4.0))
    >>> bool(np.ptp(changed.outputs) > 0), bool(np.ptp(changed.values) > 0)
    (True, False)
    """
    place = parse_neuron(neuron) if not isinstance(neuron, list) else None
    if place is None or not _is_unit(place):
        return None
    torch = require("torch", extra="torch")
    if not isinstance(model, torch.nn.Module):
        return None
    from closedform.networks.torch_layers import find_layer, plain
    from closedform.networks.torch_state import untouched

    network = plain(model)
    dtype = next((p.dtype for p in network.parameters() if p.is_floating_point()), torch.float32)
    device = next((p.device for p in network.parameters()), torch.device("cpu"))
    column = place.index[0]

    seen: list[Any] = []

    def replace(_module: Any, _inputs: Any, output: Any) -> Any:
        if not isinstance(output, torch.Tensor) or output.ndim != 2:
            return None
        # A copy: in float64 it would be a view, and the next layer may work in place.
        seen.append(output[:, column].double().cpu().numpy().copy())
        if values is None:
            return None
        changed = output.clone()
        changed[:, column] = torch.as_tensor(values, dtype=output.dtype, device=output.device)
        return changed

    layer = find_layer(network, place)
    if layer is None:
        return None
    with untouched(network, seed=0), torch.no_grad():
        handle = layer.register_forward_hook(replace)
        try:
            output = network(torch.as_tensor(np.array(points), dtype=dtype, device=device))
        except (RuntimeError, TypeError, ValueError):
            # points are flat; a network of images or of several inputs takes something else
            return None
        finally:
            handle.remove()
    if len(seen) != 1 or not isinstance(output, torch.Tensor) or len(output) != len(points):
        return None
    return Pass(output.double().cpu().numpy().reshape(len(points), -1), seen[0])


def _is_unit(neuron: Neuron) -> bool:
    """Whether it is one unit of a named flat layer, before the output."""
    plain_index = len(neuron.index) == 1 and isinstance(neuron.index[0], int)
    special = (
        neuron.direction is not None
        or neuron.function is not None
        or bool(neuron.part)
        or neuron.call is not None
    )
    return bool(neuron.layer) and neuron.layer != "output" and plain_index and not special
