"""From a layer's output to one value per point, and back, with operations that torch, JAX and NumPy
share.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import NeuronError
from closedform.networks.neuron import EVERY, Neuron


def entry_of(neuron: Neuron, output: Any) -> tuple[Any, str | None]:
    """The array that a layer returned, and a note where one of several was taken."""
    for entry in neuron.part:
        output = _item(neuron, output, entry)
    if hasattr(output, "shape"):
        return output, None
    if isinstance(output, Mapping):
        arrays = [key for key, value in output.items() if hasattr(value, "shape")]
        if len(arrays) == 1:
            return output[arrays[0]], None
        choice = f"; choose one, such as '{_place(neuron)}[{arrays[0]}]'" if arrays else ""
        raise NeuronError(
            f"{neuron}: the output is a dictionary with the arrays {arrays}{choice}.",
            neuron=str(neuron),
        )
    if isinstance(output, Sequence) and not isinstance(output, str) and len(output) > 0:
        first, note = entry_of(Neuron(layer=neuron.layer), output[0])
        place = _place(neuron)
        count = (
            f"{place!r} returns {len(output)} values; the first was taken ('{place}[1]' would be "
            f"the second)."
        )
        return first, note or (count if len(output) > 1 else None)
    raise NeuronError(
        f"{neuron}: the output is a {type(output).__name__}, not an array.", neuron=str(neuron)
    )


def pick(neuron: Neuron, activation: Any, convert: Callable[[FloatArray, Any], Any]) -> Any:
    """The neuron's values, (n_points,), or (n_points, n_units) for every unit; `convert` brings a
    direction to the activation's framework, type and device.
    """
    if neuron.function is not None:
        return neuron.function(activation)
    if neuron.direction is not None:
        activation = _along(neuron, activation, convert)
    if neuron.index == (EVERY,):
        if activation.ndim != 2:
            raise _does_not_fit(neuron, activation, "'*' needs a layer whose output is flat")
        return activation
    return _at(neuron, activation)


def call_of(neuron: Neuron, calls: Sequence[Any]) -> tuple[Any, str | None]:
    """What one of a layer's calls in a pass gave, and a note where it is the first of several."""
    if not calls:
        raise NeuronError(
            f"{neuron}: the layer did not run in this pass. Choose a layer that the "
            f"network's forward calls as a module.",
            neuron=str(neuron),
        )
    wanted = neuron.call or 0
    if not -len(calls) <= wanted < len(calls):
        raise NeuronError(
            f"{neuron}: the layer runs {len(calls)} times in one pass; there is no call "
            f"{neuron.call}."
        )
    note = None
    if len(calls) > 1 and neuron.call is None:
        note = (
            f"Layer {neuron.layer!r} runs {len(calls)} times in one pass; the first was taken "
            f"('{neuron.layer}@1' is the next)."
        )
    return calls[wanted], note


def check_replaceable(neurons: Sequence[Neuron]) -> None:
    """Refuse neurons whose value does not say what the layer's output would be."""
    for neuron in neurons:
        reduced = any(isinstance(entry, str) and entry != EVERY for entry in neuron.index)
        if neuron.function is not None or neuron.part or neuron.call is not None or reduced:
            raise NeuronError(
                f"{neuron} cannot be replaced: a value can be put back for units and directions "
                f"of a layer, not for functions, means over positions, entries of tuples or one "
                f"call of several. Read and replace a unit.",
                neuron=str(neuron),
            )


def side_by_side(values: Sequence[Any], join: Callable[..., Any]) -> Any:
    """Values of several neurons as columns, shape (n_points, n_latents)."""
    return join([value if value.ndim == 2 else value[:, None] for value in values], axis=1)


def columns_of(neurons: Sequence[Neuron], values: Any) -> list[Any]:
    """The columns of each neuron in values of all."""
    widths = [values.shape[1] if neuron.index == (EVERY,) else 1 for neuron in neurons]
    return [values[:, sum(widths[:at]) : sum(widths[: at + 1])] for at in range(len(neurons))]


def put_back(
    neuron: Neuron,
    output: Any,
    values: Any,
    convert: Callable[[FloatArray, Any], Any],
    where: Callable[..., Any],
) -> Any:
    """A layer's output with a neuron's values, (n_points, n_columns), in their place."""
    if neuron.index == (EVERY,):
        return values.reshape(output.shape)
    column = values[:, 0]
    if neuron.direction is not None:
        direction = convert(neuron.direction, output)
        shift = (column - pick(neuron, output, convert)) / (direction * direction).sum()
        return output + shift[:, None] * direction
    if output.ndim == 1:
        return column
    # A unit has one index after the points'; a convolution has one for each position too.
    mask = np.zeros(tuple(output.shape[1:]), dtype=bool)
    place: Any = neuron.index or (0,)
    mask[place] = True
    shape = (-1,) + (1,) * (output.ndim - 1)
    return where(convert(mask, output), column.reshape(shape), output)


def check_values(neuron: Neuron, values: Any, count: int) -> None:
    """Refuse what is not one real value, or several, for each point. Complex values are two
    functions, and the real part would be taken for the neuron.
    """
    shape = tuple(getattr(values, "shape", ()))
    if shape[:1] != (count,) or len(shape) > 2:
        raise NeuronError(
            f"{neuron} gave values of shape {shape}; one value for each of {count} points is "
            f"needed."
        )
    if "complex" in str(values.dtype):
        raise NeuronError(
            f"{neuron} has complex values. Choose their real part, imaginary part or absolute "
            "value by a function of the layer's output.",
            neuron=str(neuron),
        )


def unsquashed_note(neuron: Neuron, name: str) -> str:
    """What is said where the value before a squashing function was taken."""
    taken = (
        "its logit, z_i - logsumexp of the others," if "softmax" in name else "its value before it"
    )
    return (
        f"{neuron} is the output of a {name}; {taken} was taken (the same concept, "
        f"without saturation)."
    )


def _place(neuron: Neuron) -> str:
    return neuron.layer or "output"


def _item(neuron: Neuron, output: Any, entry: int | str) -> Any:
    if isinstance(entry, str) and not isinstance(output, Mapping) and hasattr(output, entry):
        return getattr(output, entry)
    try:
        return output[entry]
    except (KeyError, IndexError, TypeError) as error:
        kind = (
            f"the keys {list(output)}"
            if isinstance(output, Mapping)
            else f"a {type(output).__name__}"
        )
        raise NeuronError(
            f"{neuron}: the layer's output has no entry {entry!r}; it is {kind}.",
            neuron=str(neuron),
        ) from error


def _along(neuron: Neuron, activation: Any, convert: Callable[[FloatArray, Any], Any]) -> Any:
    """The inner product with a direction over the axis of units, or over everything."""
    direction = neuron.direction
    assert direction is not None
    shape = tuple(activation.shape[1:])
    weights = convert(direction, activation)
    if direction.ndim > 1 or not shape:
        if direction.shape != shape:
            raise _does_not_fit(neuron, activation, f"the direction has shape {direction.shape}")
        return (activation * weights).reshape(len(activation), -1).sum(axis=1)
    # Transformers keep their units in the last axis, convolutions in the first; the length tells
    # which it is.
    if shape[-1] == len(direction):
        return (activation * weights).sum(axis=-1)
    if shape[0] == len(direction):
        return (activation * weights.reshape((-1,) + (1,) * (len(shape) - 1))).sum(axis=1)
    raise _does_not_fit(neuron, activation, f"the direction has {len(direction)} weights")


def _at(neuron: Neuron, values: Any) -> Any:
    activation = values
    if values.ndim == 1 and neuron.index == (0,):
        return values
    for place, entry in enumerate(neuron.index):
        if values.ndim < 2:
            raise _does_not_fit(neuron, activation, "the index has too many entries")
        if isinstance(entry, int):
            if not -values.shape[1] <= entry < values.shape[1]:
                raise _does_not_fit(
                    neuron,
                    activation,
                    f"{entry} is outside an axis of length {values.shape[1]}; count from 0",
                )
            values = values[:, entry]
        else:
            last = place == len(neuron.index) - 1
            values = _reduced(values, entry, tuple(range(1, values.ndim)) if last else (1,))
    if values.ndim > 1 and any(length != 1 for length in values.shape[1:]):
        remaining = tuple(values.shape[1:])
        reason = (
            f"{remaining} values per point remain: add a position, or a reduction such as 'mean'"
        )
        if neuron.layer and not neuron.index and len(remaining) == 1:
            reason = f"this names all of it: '{neuron}:0' is the first unit"
            # Text that is a number names a layer of a torch.nn.Sequential.
            reason += ", ':0' the network's first output" if neuron.layer.isdecimal() else ""
        if not neuron.layer and not neuron.index:
            reason = "only an output of one number needs no neuron: pass neuron=0 for the first"
        raise _does_not_fit(neuron, activation, reason)
    return values.reshape(len(values)) if values.ndim > 1 else values


def _reduced(values: Any, reduction: str, axes: tuple[int, ...]) -> Any:
    if reduction == "mean":
        return values.mean(axis=axes)
    if reduction == "sum":
        return values.sum(axis=axes)
    # torch's own max returns a pair and takes one axis.
    if hasattr(values, "amax"):
        return values.amax(dim=axes) if reduction == "max" else values.amin(dim=axes)
    return values.max(axis=axes) if reduction == "max" else values.min(axis=axes)


def _does_not_fit(neuron: Neuron, activation: Any, reason: str) -> NeuronError:
    shape = tuple(activation.shape[1:])
    whose = "network" if neuron.layer in ("", "output") else "layer"
    return NeuronError(
        f"{neuron}: the {whose}'s output has shape {shape} for each point, and {reason}.",
        neuron=str(neuron),
    )
