"""The copy of a JAX network, with what it costs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from closedform.networks.jax_replacement import FormulaFunction, own_values
from closedform.networks.neuron import Neuron
from closedform.replacing.replace_stage import Plan, cost_of


def replace_in_jax(
    model: Any,
    inputs: Any,
    neurons: tuple[Neuron, ...],
    plan: Plan,
    *,
    targets: Any,
    points_of: Callable[..., Any] | None,
) -> FormulaFunction:
    """phi is fitted on every second point, and the cost is measured on the others."""
    if inputs is None:
        composition = plan.from_answer()
        return FormulaFunction(model, neurons, composition, composition.trained(), points_of)
    given = np.asarray(inputs)
    values, output = own_values(model, neurons, given)
    points = given.reshape(len(given), -1) if points_of is None else np.asarray(points_of(given))
    composition = plan.fitted(points[::2].astype(np.float64), values[::2])
    copy = FormulaFunction(model, neurons, composition, composition.trained(), points_of)
    held = slice(1, None, 2)
    replaced = np.asarray(copy(copy.parameters, given[held]))
    latents = np.asarray(copy.latents(copy.parameters, given[held]))
    cost = cost_of(
        (output[held], replaced),
        (values[held], latents),
        None if targets is None else np.asarray(targets)[held],
    )
    return replace(copy, cost=cost)
