"""A JAX network in which a formula stands in the place of neurons, as a function of parameters."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import NeuronError
from closedform.expressions.evaluate import jax_library
from closedform.networks.jax_layers import hooked_equinox, listen
from closedform.networks.jax_library import jax, jnp
from closedform.networks.neuron import Neuron
from closedform.networks.parametric_formula import Composition
from closedform.networks.picking import check_replaceable, columns_of, pick, put_back, side_by_side

Parameters = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FormulaFunction:
    """A network with phi(formulas) in the place of neurons: a pure function of parameters and
    inputs.

    Attributes
    ----------
    model : callable, module, or tuple of a Flax module and its variables
    neurons : tuple of Neuron
    composition : Composition
    parameters : dict of str to array
        The formula's numbers as they were read.
    points_of : callable or None
    cost : Cost or None
        What the replacement changed, where that was measured.
    """

    model: Any
    neurons: tuple[Neuron, ...]
    composition: Composition
    parameters: Parameters
    points_of: Callable[..., Any] | None = None
    cost: Any = None

    def __call__(self, parameters: Parameters, inputs: Any) -> Any:
        """Outputs at inputs of shape (n_points, ...)."""
        values = self.latents(parameters, inputs)
        return _overwritten(self.model, self.neurons)(values, inputs)

    def latents(self, parameters: Parameters, inputs: Any) -> Any:
        """What stands in the neurons' place, shape (n_points, n_latents)."""
        inputs = jnp.asarray(inputs)
        points = (
            inputs.reshape(len(inputs), -1) if self.points_of is None else self.points_of(inputs)
        )
        numbers = {name: jnp.asarray(array) for name, array in self.composition.fixed().items()}
        return self.composition.value(points, numbers | parameters, jax_library())

    @property
    def formulas(self) -> tuple[str, ...]:
        """The concepts as they were read."""
        return tuple(str(formula.expression) for formula in self.composition.formulas)


def build(
    model: Any,
    neurons: tuple[Neuron, ...],
    composition: Composition,
    points_of: Callable[..., Any] | None,
) -> FormulaFunction:
    """The function with the numbers as they were read."""
    return FormulaFunction(model, neurons, composition, composition.trained(), points_of)


def own_values(
    model: Any, neurons: Sequence[Neuron], inputs: Any, points_of: Callable[..., Any] | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The neurons' values (n_points, n_latents), the network's outputs, the formula's inputs."""
    run, batched = listen(model, tuple(neurons))
    given = jnp.asarray(inputs)
    output, layers = run(given) if batched is not False else jax.vmap(run)(given)
    columns = [
        np.asarray(
            pick(neuron, layers[neuron.layer][0] if neuron.layer in layers else output, _jax)
        )
        for neuron in neurons
    ]
    rows = np.asarray(inputs)
    points = rows.reshape(len(rows), -1) if points_of is None else np.asarray(points_of(rows))
    values = side_by_side(columns, np.concatenate).astype(np.float64)
    return values, np.asarray(output), points.astype(np.float64)


def run_held(copy: FormulaFunction, inputs: Any) -> tuple[FloatArray, FloatArray]:
    """Outputs and latents at every second point, which phi was not fitted to."""
    held = np.asarray(inputs)[1::2]
    return np.asarray(copy(copy.parameters, held)), np.asarray(copy.latents(copy.parameters, held))


def with_cost(copy: FormulaFunction, cost: Any) -> FormulaFunction:
    """The function, which says what it changed."""
    return replace(copy, cost=cost)


def _overwritten(model: Any, neurons: Sequence[Neuron]) -> Callable[[Any, Any], Any]:
    """A function of the latents' values and the inputs."""
    check_replaceable(neurons)
    layers = {neuron.layer for neuron in neurons}
    linen, equinox = (sys.modules.get(name) for name in ("flax.linen", "equinox"))
    candidate = model[0] if isinstance(model, tuple) else model
    if linen is not None and isinstance(candidate, linen.Module):
        return lambda values, inputs: _linen(linen, model, neurons, values, inputs)
    if equinox is not None and isinstance(model, equinox.Module):
        one = lambda values, inputs: _equinox(equinox, model, neurons, values, inputs)  # noqa: E731
        return jax.vmap(one)
    if layers - {"", "output"}:
        raise NeuronError(
            f"{neurons[0]}: layers can be replaced in Flax (linen) and Equinox networks; in any "
            f"other function only the output. Pass such a network, or replace its output.",
            neuron=str(neurons[0]),
        )
    function: Any = model
    return lambda values, inputs: _written(neurons, values, function(inputs), ("", "output"))


def _linen(linen: Any, model: Any, neurons: Sequence[Neuron], values: Any, inputs: Any) -> Any:
    module, variables = model if isinstance(model, tuple) else model.unbind()

    def intercept(call: Any, arguments: Any, named: Any, context: Any) -> Any:
        output = call(*arguments, **named)
        path = ".".join(context.module.path)
        wanted = (path,) if path else ("", "output")
        return (
            _written(neurons, values, output, wanted)
            if context.method_name == "__call__"
            else output
        )

    with linen.intercept_methods(intercept):
        return module.apply(variables, inputs)


def _equinox(equinox: Any, model: Any, neurons: Sequence[Neuron], values: Any, inputs: Any) -> Any:
    """One point of an Equinox network."""

    def put(layer: str, output: Any) -> Any:
        return _written(neurons, values[None], output[None], (layer,))[0]

    layers = {neuron.layer for neuron in neurons} - {"", "output"}
    output = hooked_equinox(equinox, model, layers, put)(inputs)
    return _written(neurons, values[None], output[None], ("", "output"))[0]


def _written(neurons: Sequence[Neuron], values: Any, output: Any, layers: tuple[str, ...]) -> Any:
    """A layer's output with the values of its neurons replaced."""
    for neuron, column in zip(neurons, columns_of(neurons, values), strict=True):
        if neuron.layer in layers:
            output = put_back(neuron, output, column.astype(output.dtype), _jax, jnp.where)
    return output


def _jax(value: Any, _like: Any) -> Any:
    return jnp.asarray(value)
