"""One forward pass: from the arguments of a torch network to the values of its neurons."""

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.errors import ExtractionError, NeuronError
from closedform.networks.neuron import Neuron
from closedform.networks.picking import call_of, check_values, entry_of, pick, unsquashed_note
from closedform.networks.rows import Key, own_copy
from closedform.networks.torch_layers import SquashingWatch, captured
from closedform.networks.torch_state import torch
from closedform.networks.wrt import arguments, as_inputs, transformed


@dataclass(frozen=True, slots=True, eq=False)
class RunnableNetwork:
    """The network that is really run: the user's own, or a copy of it in float64."""

    model: Any  # model, transform: the network, and what stands in front of it
    transform: Any
    dtype: Any  # dtype, device: of the inputs
    device: Any
    one_by_one: bool = False  # whether each point needs a pass of its own


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
    """Values of each neuron, shape (count, m), with m = 1 except for whole layers."""

    def take(neuron: Neuron, output: Any) -> Any:
        array, sentence = entry_of(neuron, output)
        note(sentence)
        array = _points_first(neuron, array, count, note) if batched else array[None]
        if neuron.function is not None:
            array = array.clone()  # it may work in place, and the network goes on with the array
        # A copy, since the next layer may overwrite its input.
        return pick(neuron, array, as_like).clone()

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
    with SquashingWatch() as watch, captured(run.model, neurons, take) as calls:
        needed = any(not neuron.whole_model for neuron in neurons)
        output = run.model(*own_copy(positional), **own_copy(named)) if needed else None
        for place, neuron in enumerate(neurons):
            if neuron.function is not None and neuron.whole_model:
                value = neuron.function(run.model, as_inputs(own_copy(parts)))
            elif place in calls:
                value, sentence = call_of(neuron, calls[place])
                note(sentence)
            else:
                value = take(neuron, output)
            values.append(_two_axes(neuron, _unsquashed(watch, neuron, value, note), count))
    return values


def _unsquashed(
    watch: SquashingWatch, neuron: Neuron, value: Any, note: Callable[[str | None], None]
) -> Any:
    before = watch.before(value) if isinstance(value, torch.Tensor) else None
    earlier = before.value() if before is not None else None
    if before is None or earlier is None:
        return value
    note(unsquashed_note(neuron, before.name))
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
    check_values(neuron, value, count)
    if not getattr(value, "requires_grad", False):
        raise ExtractionError(
            f"{neuron} has no gradient with respect to the inputs: it does not depend on them, or "
            "the network runs under torch.no_grad or detaches on the way. Choose another neuron, "
            "or another input with wrt=."
        )
    return value if value.ndim == 2 else value[:, None]


def as_tensor(value: Any, dtype: Any, device: Any) -> Any:
    """An array as a tensor on a device; real numbers get the type in which the network runs."""
    tensor = (
        value.detach() if isinstance(value, torch.Tensor) else torch.from_numpy(np.array(value))
    )
    return tensor.to(device=device, dtype=dtype if tensor.is_floating_point() else tensor.dtype)


def as_like(value: Any, like: Any) -> Any:
    """An array as a tensor beside another one."""
    return as_tensor(value, like.dtype, like.device)


def fixed_arguments(
    fixed: Mapping[int | str, Any] | None, count: int, dtype: Any, device: Any
) -> dict[Key, Any]:
    """The arguments that stay the same, for a batch of this size."""
    arguments: dict[Key, Any] = {}
    for key, value in (fixed or {}).items():
        if callable(value) and not isinstance(value, torch.nn.Module):
            value = value(count)
        is_array = isinstance(value, np.ndarray | torch.Tensor)
        arguments[key] = as_tensor(own_copy(value), dtype, device) if is_array else value
    return arguments


def transform_for(transform: Any, dtype: Any, device: Any) -> Any:
    """The step before the network for a type and device; a fitted scaler becomes affine."""
    if isinstance(transform, torch.nn.Module):
        if all(
            p.dtype == dtype and p.device == device
            for p in transform.parameters()
            if p.is_floating_point()
        ):
            return transform
        return copy.deepcopy(transform).to(device=device, dtype=dtype)
    if transform is None or callable(transform):
        return transform
    if hasattr(transform, "transform"):
        matrix, offset = affine_map(transform)
        slope, shift = as_tensor(matrix, dtype, device), as_tensor(offset, dtype, device)
        return lambda inputs: inputs @ slope + shift
    raise ExtractionError(
        f"transform={transform!r} is neither a function nor a fitted scaler. Pass a function of "
        "tensors, a torch module, or an object with a transform method."
    )


def affine_map(scaler: Any) -> tuple[np.ndarray, np.ndarray]:
    """Matrix and offset of a fitted scaler ``x -> x @ matrix + offset``, found by probing it."""
    n_inputs = getattr(scaler, "n_features_in_", None)
    if n_inputs is None:
        raise ExtractionError(
            f"transform={scaler!r} is not fitted; fit it, or pass a function of tensors."
        )
    probes = np.random.default_rng(0).normal(size=(8, n_inputs))
    # Scalers that were fitted on a table want its column names; the order is what counts here.
    with warnings.catch_warnings(action="ignore"):
        offset = np.asarray(scaler.transform(np.zeros((1, n_inputs))), dtype=float)[0]
        matrix = np.asarray(scaler.transform(np.eye(n_inputs)), dtype=float) - offset
        # A copy, since some scalers work in place.
        expected = np.asarray(scaler.transform(probes.copy()), dtype=float)
    if not np.allclose(
        probes @ matrix + offset, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max()
    ):
        raise ExtractionError(
            f"transform={scaler!r} is not affine, so it has no known gradient. Write it as a "
            f"torch function."
        )
    return matrix, offset
