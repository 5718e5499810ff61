"""Layers of a torch network: found by name, and listened to while the network runs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from closedform.basics.optional import require
from closedform.errors import NeuronError
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
