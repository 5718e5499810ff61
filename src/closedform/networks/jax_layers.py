"""Flax, Equinox and other JAX networks: their layers as outputs of a pure function, and as places
for a formula.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.errors import ExtractionError, NeuronError
from closedform.expressions.evaluate import jax_library
from closedform.networks.neuron import Neuron, unknown_layer
from closedform.networks.parametric_formula import Composition
from closedform.networks.picking import check_replaceable, columns_of, pick, put_back, side_by_side

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
else:
    jax, jnp = (require(name, extra="jax") for name in ("jax", "jax.numpy"))


Outputs = dict[str, list[Any]]
"""What each wanted layer returned, call by call."""

Listening = Callable[..., tuple[Any, Outputs]]


def listen(model: Any, neurons: tuple[Neuron, ...]) -> tuple[Listening, bool | None]:
    """A pure function ``(*args, **kwargs) -> (output, {layer: outputs})`` in evaluation mode, and
    whether networks of this kind take many points; None if that must be found out.
    """
    if not isinstance(model, tuple) and not callable(model):
        raise ExtractionError(
            f"A {type(model).__name__} cannot be called; pass a function, a module, or "
            f"(module, variables)."
        )
    named = [neuron for neuron in neurons if neuron.layer and not neuron.whole_model]
    linen, nnx, equinox = (sys.modules.get(name) for name in ("flax.linen", "flax.nnx", "equinox"))
    candidate = model[0] if isinstance(model, tuple) else model
    if linen is not None and isinstance(candidate, linen.Module):
        return _linen(model, named), True
    if nnx is not None and isinstance(model, nnx.Module):
        return _nnx(nnx, model, named), True
    if equinox is not None and isinstance(model, equinox.Module):
        return _equinox(equinox, model, named), False
    for neuron in named:
        if neuron.layer != "output":
            raise unknown_layer(neuron, ())
    if isinstance(model, tuple):
        raise ExtractionError("A tuple must hold a Flax module and its variables.")
    return lambda *args, **kwargs: (model(*args, **kwargs), {}), None


def _linen(model: Any, named: list[Neuron]) -> Listening:
    module, variables = model if isinstance(model, tuple) else model.unbind()
    wanted = {neuron.layer for neuron in named}

    def run(*args: Any, **kwargs: Any) -> tuple[Any, Outputs]:
        if not wanted:
            return module.apply(variables, *args, **kwargs), {}
        output, state = module.apply(
            variables,
            *args,
            capture_intermediates=lambda _, method: method == "__call__",
            mutable=["intermediates"],
            **kwargs,
        )
        found = dict(_captured(state.get("intermediates", {}), ""))
        for neuron in named:
            if neuron.layer not in found and neuron.layer != "output":
                raise unknown_layer(neuron, sorted(found))
        return output, {layer: found[layer] for layer in wanted if layer in found}

    return run


def _captured(tree: Mapping[str, Any], path: str) -> Iterator[tuple[str, list[Any]]]:
    for name, value in tree.items():
        if name == "__call__":
            yield path, list(value)
        elif isinstance(value, Mapping):
            yield from _captured(value, f"{path}.{name}" if path else name)


def _nnx(nnx: Any, model: Any, named: list[Neuron]) -> Listening:
    twin = nnx.clone(model)
    twin.eval()
    _check(twin, named, nnx.Module)
    definition, state = nnx.split(twin)

    def run(*args: Any, **kwargs: Any) -> tuple[Any, Outputs]:
        # Merged anew inside each trace, so that counters may move on and nothing of it reaches the
        # user's network.
        fresh = nnx.merge(definition, state)
        outputs: Outputs = {}
        for neuron in named:
            layer = walk(fresh, neuron.layer)
            if layer is not None and neuron.layer not in outputs:
                object.__setattr__(
                    layer,
                    "__class__",
                    _recording(type(layer), outputs.setdefault(neuron.layer, [])),
                )
        return fresh(*args, **kwargs), outputs

    return run


def _recording(kind: type, sink: list[Any]) -> type:
    """A subclass whose calls are written down."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        output = kind.__call__(self, *args, **kwargs)
        sink.append(output)
        return output

    return type(kind)(kind.__name__, (kind,), {"__call__": call, "__module__": kind.__module__})


def _equinox(equinox: Any, model: Any, named: list[Neuron]) -> Listening:
    quiet = equinox.nn.inference_mode(model)
    _check(quiet, named, equinox.Module)
    wanted = {neuron.layer for neuron in named if walk(quiet, neuron.layer) is not None}

    def run(*args: Any, **kwargs: Any) -> tuple[Any, Outputs]:
        outputs: Outputs = {layer: [] for layer in wanted}

        def keep(layer: str, output: Any) -> Any:
            outputs[layer].append(output)
            return output

        return hooked_equinox(equinox, model, wanted, keep)(*args, **kwargs), outputs

    return run


def hooked_equinox(
    equinox: Any, model: Any, layers: set[str], hook: Callable[[str, Any], Any]
) -> Any:
    """An Equinox network in evaluation, in which ``hook(layer, output)`` takes the place of the
    outputs of layers.
    """

    class Hooked(equinox.Module):
        inner: Any
        layer: str = equinox.field(static=True)

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return hook(self.layer, self.inner(*args, **kwargs))

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    changed = equinox.nn.inference_mode(model)
    for layer in sorted(layers):
        inner = Hooked(walk(changed, layer), layer)
        changed = equinox.tree_at(lambda tree, path=layer: walk(tree, path), changed, inner)
    return changed


def _check(model: Any, named: list[Neuron], kind: type) -> None:
    for neuron in named:
        layer = walk(model, neuron.layer)
        if neuron.layer != "output" and not (isinstance(layer, kind) and callable(layer)):
            raise unknown_layer(neuron, sorted(_layers(model, kind, "", set())))


def walk(tree: Any, path: str) -> Any | None:
    """The attribute, entry or key at a dotted path, or None."""
    model: Any = tree
    for name in path.split("."):
        if isinstance(model, Mapping):
            model = model.get(name)
        elif name.isdigit() and hasattr(model, "__getitem__") and hasattr(model, "__len__"):
            model = model[int(name)] if int(name) < len(model) else None
        else:
            model = getattr(model, name, None)
        if model is None:
            return None
    return model


def _layers(value: Any, kind: type, path: str, seen: set[int]) -> Iterator[str]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, kind) and path and callable(value):
        yield path
    if isinstance(value, Mapping):
        children = [(str(key), child) for key, child in value.items()]
    elif isinstance(value, list | tuple):
        children = [(str(place), child) for place, child in enumerate(value)]
    elif isinstance(value, kind):
        children = [
            (str(name), child)
            for name, child in vars(value).items()
            if not str(name).startswith("_")
        ]
        held: Any = value
        if hasattr(held, "__len__") and hasattr(held, "__getitem__"):  # a container of layers
            children += [(str(place), held[place]) for place in range(len(held))]
    else:
        return
    for name, child in children:
        yield from _layers(child, kind, f"{path}.{name}" if path else name, seen)


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
        return lambda values, inputs: _linen_written(linen, model, neurons, values, inputs)
    if equinox is not None and isinstance(model, equinox.Module):
        one = lambda values, inputs: _equinox_written(equinox, model, neurons, values, inputs)  # noqa: E731
        return jax.vmap(one)
    if layers - {"", "output"}:
        raise NeuronError(
            f"{neurons[0]}: layers can be replaced in Flax (linen) and Equinox networks; in any "
            f"other function only the output. Pass such a network, or replace its output.",
            neuron=str(neurons[0]),
        )
    function: Any = model
    return lambda values, inputs: _written(neurons, values, function(inputs), ("", "output"))


def _linen_written(
    linen: Any, model: Any, neurons: Sequence[Neuron], values: Any, inputs: Any
) -> Any:
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


def _equinox_written(
    equinox: Any, model: Any, neurons: Sequence[Neuron], values: Any, inputs: Any
) -> Any:
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
