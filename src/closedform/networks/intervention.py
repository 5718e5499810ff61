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
    if not isinstance(model, require("torch", extra="torch").nn.Module):
        return None
    from closedform.networks.torch_replacement import own_values, run_replaced

    try:
        own, outputs, _ = own_values(model, [place], points, None)
        if values is not None:
            outputs = run_replaced(model, [place], points, values[:, None])
    except (RuntimeError, TypeError, ValueError):
        # Points are flat; a network of images or of several inputs takes something else.
        return None
    if not isinstance(outputs, np.ndarray) or len(outputs) != len(points):
        return None
    return Pass(outputs.reshape(len(points), -1), own[:, 0])


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
