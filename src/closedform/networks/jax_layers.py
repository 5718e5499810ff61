"""Layers of Flax and Equinox networks: a pure function of the output and the wanted layers."""

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from closedform.errors import ExtractionError
from closedform.networks.neuron import Neuron, unknown_layer

Outputs = dict[str, list[Any]]
"""What each wanted layer returned, call by call."""

Listening = Callable[..., tuple[Any, Outputs]]


def listen(model: Any, neurons: tuple[Neuron, ...]) -> tuple[Listening, bool | None]:
    """A pure function of the network's arguments that also returns the outputs of the layers that
    neurons live in.

    Returns function: ``function(*args, **kwargs) -> (output, {layer: outputs})``; dropout and batch
    normalisation as in evaluation; batched: whether networks of this kind take many points; None if
    it must be found out.
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
