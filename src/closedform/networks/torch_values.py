"""One forward pass: from the arguments of a torch network to the values of its neurons."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from closedform.basics.optional import require
from closedform.networks.copies import own_copy
from closedform.networks.datasets import Key
from closedform.networks.errors import ExtractionError, NeuronError
from closedform.networks.neuron import Neuron
from closedform.networks.picking import check_real, entry_of, pick
from closedform.networks.torch_activation import SquashingWatch
from closedform.networks.torch_inputs import as_tensor, transformed
from closedform.networks.torch_layers import Capture
from closedform.networks.wrt import arguments

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")


@dataclass(frozen=True, slots=True, eq=False)
class RunnableNetwork:
    """The network that is really run: the user's own, or a copy of it in float64.

    Attributes
    ----------
    model, transform : callable
        The network, and what stands in front of it.
    dtype, device : object
        Of the inputs.
    one_by_one : bool
        Whether each point needs a pass of its own.
    """

    model: Any
    transform: Any
    dtype: Any
    device: Any
    one_by_one: bool = False


def values_of(
    run: RunnableNetwork,
    neurons: tuple[Neuron, ...],
    parts: dict[Key, Any],
    fixed: dict[Key, Any],
    *,
    count: int,
    batched: bool,
    note: Callable[[str | None], None],
) -> list[Any]:
    """Values of each neuron, shape (count, m), with m = 1 but for whole layers.

    Parameters
    ----------
    parts, fixed : dict
        Inputs, and arguments that stay the same.
    count : int
        Number of points.
    batched : bool
        Whether the network takes an axis of points.
    note : callable
        Is told what was decided.
    """

    def take(neuron: Neuron, output: Any) -> Any:
        array, sentence = entry_of(neuron, output)
        note(sentence)
        array = _points_first(neuron, array, count, note) if batched else array[None]
        if neuron.function is not None:
            array = array.clone()  # it may work in place, and the network goes on with the array
        # A copy, since the next layer may overwrite its input.
        return pick(
            neuron, array, lambda direction, like: as_tensor(direction, like.dtype, like.device)
        ).clone()

    parts = transformed(run.transform, parts)
    if not batched:
        parts = {key: part[0] for key, part in parts.items()}
    if clash := [key for key in fixed if key in parts]:
        raise ExtractionError(
            f"fixed= and the inputs both set the argument {clash[0]!r}; name the inputs by a "
            f"dictionary."
        )
    positional, named = arguments(parts | fixed)
    values = []
    with SquashingWatch() as watch, Capture(run.model, neurons, take) as capture:
        needed = any(not neuron.whole_model for neuron in neurons)
        output = run.model(*own_copy(positional), **own_copy(named)) if needed else None
        for place, neuron in enumerate(neurons):
            if neuron.function is not None and neuron.whole_model:
                value = neuron.function(run.model, _inputs(own_copy(parts)))
            elif capture.is_layer(place):
                value, sentence = capture.value(place)
                note(sentence)
            else:
                value = take(neuron, output)
            values.append(_two_axes(neuron, _unsquashed(watch, neuron, value, note), count))
    return values


def _inputs(parts: dict[Key, Any]) -> Any:
    """What a function of (model, inputs) is given: a tensor, a tuple or a dictionary."""
    positional, named = arguments(parts)
    if named:
        return named if not positional else dict(enumerate(positional)) | named
    return positional[0] if len(positional) == 1 else positional


def _unsquashed(
    watch: SquashingWatch, neuron: Neuron, value: Any, note: Callable[[str | None], None]
) -> Any:
    before = watch.before(value) if isinstance(value, torch.Tensor) else None
    earlier = before.value() if before is not None else None
    if before is None or earlier is None:
        return value
    taken = (
        "its logit, z_i - logsumexp of the others,"
        if before.axis is not None
        else "its value before it"
    )
    note(
        f"{neuron} is the output of a {before.name}; {taken} was taken (the same concept, "
        f"without saturation)."
    )
    return earlier


def _points_first(
    neuron: Neuron, array: Any, count: int, note: Callable[[str | None], None]
) -> Any:
    if array.ndim and array.shape[0] == count:
        return array
    axes = [axis for axis, length in enumerate(array.shape) if length == count]
    if len(axes) != 1:
        raise NeuronError(
            f"{neuron}: the output has shape {tuple(array.shape)} for {count} points, and it is "
            "not clear which axis counts the points. Use a function of the layer's output that "
            "returns one value per point, or batched=False for a network of one point.",
            neuron=str(neuron),
        )
    note(
        f"{neuron}: axis {axes[0]} of the output counts the points; the index applies to the "
        f"other axes."
    )
    return array.movedim(axes[0], 0)


def _two_axes(neuron: Neuron, value: Any, count: int) -> Any:
    shape = tuple(getattr(value, "shape", ()))
    if not isinstance(value, torch.Tensor) or shape[:1] != (count,) or len(shape) > 2:
        raise NeuronError(
            f"{neuron} gave values of shape {shape}; one value for each of {count} points is "
            f"needed."
        )
    check_real(neuron, value)
    if not value.requires_grad:
        raise ExtractionError(
            f"{neuron} has no gradient with respect to the inputs: it does not depend on them, or "
            "the network runs under torch.no_grad or detaches on the way. Choose another neuron, "
            "or another input with wrt=."
        )
    return value if value.ndim == 2 else value[:, None]
