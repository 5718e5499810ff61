"""The copy of a torch network, with what it costs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from closedform.networks.neuron import Neuron
from closedform.networks.torch_replacement import FormulaNetwork, own_values, run_quietly
from closedform.replacing.replace_stage import Plan, cost_of


def replace_in_torch(
    model: Any,
    inputs: Any,
    neurons: tuple[Neuron, ...],
    plan: Plan,
    *,
    targets: Any,
    points_of: Callable[..., Any] | None,
) -> FormulaNetwork:
    """phi is fitted on every second point, and the cost is measured on the others."""
    if inputs is None:
        return FormulaNetwork(model, neurons, plan.from_answer(), points_of)
    values, output, points = own_values(model, neurons, inputs, points_of)
    composition = plan.fitted(points[::2], values[::2])
    copy = FormulaNetwork(model, neurons, composition, points_of)
    held = slice(1, None, 2)
    replaced, latents = run_quietly(copy, inputs)
    copy.cost = cost_of(
        (output[held], replaced[held]) if hasattr(output, "shape") else (None, None),
        (values[held], latents[held]),
        None if targets is None else np.asarray(targets)[held],
    )
    return copy
