"""Watching a torch network run: layers found by name and listened to, and what stood before a
sigmoid, tanh or softmax.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedform.networks.neuron import Neuron, unknown_layer
from closedform.networks.torch_state import TorchFunctionMode, torch
from closedform.networks.whole_network import LoadedModel


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
    """For each neuron that lives in a layer, by its place, what its layer's calls gave. `take`
    turns an output into values at once, before a later layer can overwrite it.
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
    """The named layers of a network, in the order in which they were made; with some inputs it runs
    once to see the shapes.
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


SQUASHING = {
    "sigmoid": "sigmoid",
    "sigmoid_": "sigmoid",
    "special_expit": "sigmoid",
    "tanh": "tanh",
    "tanh_": "tanh",
    "log_sigmoid": "log-sigmoid",
    "logsigmoid": "log-sigmoid",
    "softmax": "softmax",
    "_softmax": "softmax",
    "special_softmax": "softmax",
    "log_softmax": "log-softmax",
    "_log_softmax": "log-softmax",
    "special_log_softmax": "log-softmax",
}
"""Names of torch functions, with and without a trailing overload, and what to call them."""

# fmt: off
_RESHAPING = frozenset(
    (
        "__getitem__", "select", "squeeze", "unsqueeze", "view", "view_as", "reshape", "reshape_as",
        "flatten",
        "unflatten", "transpose", "permute", "swapaxes", "swapdims", "moveaxis", "movedim", "t",
        "clone",
        "contiguous", "narrow", "slice", "alias", "index_select", "take_along_dim", "gather",
        "split", "chunk",
        "unbind", "to", "float", "double", "_to_copy", "_unsafe_view", "flip", "ravel",
    )
)
# fmt: on
"""Functions that move numbers and do not change them."""

_TRANSPOSED = (torch.Tensor.T.__get__, torch.Tensor.mT.__get__)  # pyright: ignore[reportAttributeAccessIssue]


@dataclass(frozen=True, slots=True, eq=False)
class TorchPreactivation:
    """What stands before a squashing function."""

    name: str  # the squashing function
    source: Any  # what went in
    axis: int | None  # the axis of a softmax
    version: int  # counts writes to `source`; later ones make it useless
    steps: tuple[Callable[[Any], Any], ...] = ()  # what was done with the output since

    def value(self) -> Any:
        """The value before the function, with the same steps taken; None if overwritten."""
        if self.source._version != self.version:
            return None
        value = self.source if self.axis is None else log_odds(self.source, self.axis)
        for step in self.steps:
            value = step(value)
        return value


class SquashingWatch(TorchFunctionMode):
    """Watches torch's functions while the network runs."""

    def __init__(self) -> None:
        super().__init__()
        self._memory: dict[int, tuple[Any, int, TorchPreactivation]] = {}

    def before(self, value: Any) -> TorchPreactivation | None:
        """What stands before a value; None where it is not the output of a squashing function."""
        entry = self._memory.get(id(value))
        if entry is None or entry[0] is not value or value._version != entry[1]:
            return None
        return entry[2]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run a function of torch, and remember what matters of it."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "").split(".")[0]
        if name in SQUASHING:
            return self._squash(SQUASHING[name], func, args, kwargs, in_place=name.endswith("_"))
        result = func(*args, **kwargs)
        if (
            (name in _RESHAPING or func in _TRANSPOSED)
            and args
            and isinstance(args[0], torch.Tensor)
        ):
            self._follow(func, args, kwargs, result)
        return result

    def _squash(self, name: str, func: Any, args: Any, kwargs: Any, *, in_place: bool) -> Any:
        source = args[0] if args else kwargs.get("input", kwargs.get("self"))
        axis = args[1] if len(args) > 1 else kwargs.get("dim", kwargs.get("axis"))
        axis = axis if "softmax" in name and isinstance(axis, int) else None
        kept = source.clone() if in_place and isinstance(source, torch.Tensor) else source
        result = func(*args, **kwargs)
        # A softmax over one entry is constant, and one without an axis is a call that torch itself
        # warns of.
        usable = isinstance(result, torch.Tensor) and (
            "softmax" not in name or (axis is not None and result.shape[axis] > 1)
        )
        if usable:
            self._remember(result, TorchPreactivation(name, kept, axis, kept._version))
        return result

    def _follow(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        before = self.before(args[0])
        if before is None:
            return
        rest = args[1:]
        pieces = result if isinstance(result, tuple | list) else (result,)
        for place, piece in enumerate(pieces):

            def step(value: Any, place: int = place) -> Any:
                repeated = func(value, *rest, **kwargs)
                return repeated[place] if isinstance(repeated, tuple | list) else repeated

            steps = (*before.steps, step)
            self._remember(piece, replace(before, steps=steps))

    def _remember(self, result: Any, before: TorchPreactivation) -> None:
        # The tensor itself is kept with its id, so that the id cannot be given to another one.
        self._memory[id(result)] = (result, result._version, before)


def log_odds(scores: Any, axis: int) -> Any:
    """Each score minus the logsumexp of the others, along an axis, without cancellation."""
    log_shares = torch.log_softmax(scores, axis)
    top = torch.zeros_like(scores, dtype=torch.bool).scatter(
        axis, scores.argmax(axis, keepdim=True), True
    )
    # 1 - p cancels only for the largest share, and only there the logsumexp of the others is taken
    # directly. The placeholder keeps its unused branch finite, for otherwise the gradient would be
    # nan.
    small = torch.where(top, torch.full_like(log_shares, -1.0), log_shares)
    others = scores.masked_fill(top, -torch.inf).logsumexp(axis, keepdim=True)
    return torch.where(top, scores - others, small - torch.log1p(-small.exp()))
