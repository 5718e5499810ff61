"""Gradients of torch networks by automatic differentiation; the network is left as it was."""

import copy
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ExtractionError, NeuronError
from closedform.networks.neuron import Neuron
from closedform.networks.options import Options, arguments, as_inputs, fill, transformed
from closedform.networks.picking import call_of, check_values, entry_of, pick, unsquashed_note
from closedform.networks.rows import Key, Rows, own_copy
from closedform.networks.samples import PROBED, VARIES, Source, T
from closedform.networks.torch_layers import SquashingWatch, captured, find_layer, plain
from closedform.networks.torch_state import (
    COPIED_NUMBERS,
    as_like,
    as_tensor,
    drawn_so_far,
    torch,
    transform_for,
    untouched,
)
from closedform.networks.whole_network import LoadedModel

DRAWS = (
    "The network draws random numbers even in evaluation mode; each gradient is that of one seeded "
    "draw. Choose a neuron before the random step if you can."
)
"""The note about neurons behind a random step."""


@dataclass(frozen=True, slots=True, eq=False)
class RunnableNetwork:
    """The network that is really run: the user's own, or a copy of it in float64."""

    model: Any  # model, transform: the network, and what stands in front of it
    transform: Any
    dtype: Any  # dtype, device: of the inputs
    device: Any
    one_by_one: bool = False  # whether each point needs a pass of its own


class TorchSource(Source):
    """A torch module or a function of tensors, and what is known of it."""

    def __init__(
        self,
        loaded: LoadedModel,
        rows: Rows,
        neurons: tuple[Neuron, ...],
        options: Options,
        *,
        seed: int,
    ) -> None:
        super().__init__(plain(loaded.model), rows, neurons, options, loaded.notes)
        self._make_double, self._fixed_batch = loaded.make_double, loaded.fixed_batch or 0
        self._seed = seed
        if self._model is not loaded.model:
            self._note(
                "The network is compiled; its uncompiled form was evaluated, which has the "
                "same weights."
            )
        for neuron in neurons:
            if not neuron.whole_model:
                find_layer(self._model, neuron)
        with self._untouched():
            self._prepare()

    def values(self, points: FloatArray) -> FloatArray:
        """Latents alone, without a backward pass."""
        return np.concatenate(self._passes(points, self._values))

    def _passes(self, points: FloatArray, run: Callable[..., T], size: int = 0) -> list[T]:
        with self._untouched():
            return super()._passes(points, run, 1 if self._run.one_by_one else self._fixed_batch)

    def _values(self, points: FloatArray, places: np.ndarray) -> FloatArray:
        return _joined_values(self._forward(points, places)[0])[: len(places)]

    def _untouched(self) -> AbstractContextManager[None]:
        functions = [neuron.function for neuron in self._neurons]
        return untouched(self._model, self._options.transform, *functions, seed=self._seed)

    def _prepare(self) -> None:
        """Find out on a few points in which type the network runs, and whether it mixes points."""
        *first, last = self._candidates()
        for make in first:
            try:
                return self._check(make())
            except NeuronError:
                raise
            except Exception as error:  # the user's network may raise anything
                self._note_own_precision(error)
        return self._check(last())

    def _candidates(self) -> list[Callable[[], RunnableNetwork]]:
        tensors = (
            [*self._model.parameters(), *self._model.buffers()]
            if isinstance(self._model, torch.nn.Module)
            else []
        )
        real = [tensor for tensor in tensors if tensor.is_floating_point()]
        inputs = [part for part in self._rows.parts.values() if isinstance(part, torch.Tensor)]
        device = next((tensor.device for tensor in (*tensors, *inputs)), torch.device("cpu"))
        native = next(
            (tensor.dtype for tensor in (*real, *inputs) if tensor.is_floating_point()),
            torch.float32,
        )
        transform, precision = self._options.transform, self._options.precision

        def in_type(dtype: Any, make: Callable[[], Any]) -> RunnableNetwork:
            return RunnableNetwork(make(), transform_for(transform, dtype, device), dtype, device)

        def itself() -> Any:
            return self._model

        doubled = self._make_double or (lambda: copy.deepcopy(self._model).double())
        run_native = partial(in_type, native, itself)
        run_double = partial(in_type, torch.float64, doubled if real else itself)
        if precision == "native" or {tensor.dtype for tensor in real} == {torch.float64}:
            return [run_native]
        if precision == "double":
            return [run_double]
        large = sum(tensor.numel() for tensor in tensors) > COPIED_NUMBERS
        # Apple's GPUs have no float64.
        return [run_native] if large or device.type == "mps" else [run_double, run_native]

    def _check(self, run: RunnableNetwork) -> None:
        """Run a few points in a form of the network, which from now on stands for it."""
        self._run = replace(run, one_by_one=self._options.batched is False)
        if self._run.one_by_one:
            self._differentiate(self.points, np.arange(1))
            return
        count = min(PROBED, len(self.points), self._fixed_batch or PROBED)
        before = drawn_so_far()
        values, together = self._differentiate(self.points, np.arange(count))
        again = self._differentiate(self.points, np.arange(count))
        tolerance = {torch.float64: 1e-6, torch.float32: 1e-3}.get(run.dtype, 5e-2)
        # A network may draw behind the neuron, as a variational autoencoder does behind its mean;
        # generators of the network's own are not seen by the watch, nor are counters.
        if _differ(values, again[0], tolerance) or _differ(together, again[1], tolerance):
            self._note(DRAWS if drawn_so_far() != before else VARIES)
            return
        if count < 3:
            return
        _, alone = self._differentiate(self.points, np.arange(2))
        if _differ(together[:2], alone, tolerance):
            self._note(
                "The network mixes the points of a batch, so each point was evaluated alone."
            )
            self._run = replace(run, one_by_one=True)

    def _differentiate(
        self, points: FloatArray, places: np.ndarray
    ) -> tuple[FloatArray, FloatArray]:
        """Latents (n, k) and Jacobians (n, k, d) of one batch."""
        count = len(places)
        values, leaf = self._forward(points, places)
        return _joined_values(values)[:count], jacobians_of(values, leaf, self._neurons)[:count]

    def _forward(self, points: FloatArray, chosen: np.ndarray) -> tuple[list[Any], Any]:
        """The neurons' values at one batch, filled up to a fixed size, and the tensor they depend
        on.
        """
        run, total = self._run, max(self._fixed_batch, len(chosen))
        places = np.minimum(np.arange(chosen[0], chosen[0] + total), chosen[-1])
        leaf = as_tensor(points[places], run.dtype, run.device).requires_grad_()
        replaced = {block.key for block in self._blocks if block.index is None}
        parts = {
            key: None if key in replaced else as_tensor(part[places], run.dtype, run.device)
            for key, part in self._rows.parts.items()
        }
        # Not the leaf itself: a network may begin with a layer that works in place.
        filled = fill(parts, leaf.clone(), self._blocks, _write)
        return self._neuron_values(filled, total), leaf

    def _neuron_values(self, parts: dict[Key, Any], count: int) -> list[Any]:
        """Values of each neuron, shape (count, m), with m = 1 except for whole layers."""
        run, batched = self._run, self._options.batched is not False

        def take(neuron: Neuron, output: Any) -> Any:
            array, sentence = entry_of(neuron, output)
            self._note(sentence)
            array = self._points_first(neuron, array, count) if batched else array[None]
            if neuron.function is not None:
                array = array.clone()  # it may work in place, and the network goes on with it
            # A copy, since the next layer may overwrite its input.
            return pick(neuron, array, as_like).clone()

        fixed = fixed_arguments(self._options.fixed, count, run.dtype, run.device)
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
        with SquashingWatch() as watch, captured(run.model, self._neurons, take) as calls:
            needed = any(not neuron.whole_model for neuron in self._neurons)
            output = run.model(*own_copy(positional), **own_copy(named)) if needed else None
            for place, neuron in enumerate(self._neurons):
                if neuron.function is not None and neuron.whole_model:
                    value = neuron.function(run.model, as_inputs(own_copy(parts)))
                elif place in calls:
                    value, sentence = call_of(neuron, calls[place])
                    self._note(sentence)
                else:
                    value = take(neuron, output)
                before = watch.before(value) if isinstance(value, torch.Tensor) else None
                earlier = None if before is None else before.value()
                if before is not None and earlier is not None:
                    self._note(unsquashed_note(neuron, before.name))
                    value = earlier
                values.append(_two_axes(neuron, value, count))
        return values

    def _points_first(self, neuron: Neuron, array: Any, count: int) -> Any:
        if array.ndim and array.shape[0] == count:
            return array
        axes = [axis for axis, length in enumerate(array.shape) if length == count]
        if len(axes) != 1:
            raise NeuronError(
                f"{neuron}: the output has shape {tuple(array.shape)} for {count} points, and it "
                "is not clear which axis counts the points. Use a function of the layer's output "
                "that returns one value per point, or batched=False for a network of one point.",
                neuron=str(neuron),
            )
        self._note(
            f"{neuron}: axis {axes[0]} of the output counts the points; the index applies to the "
            f"other axes."
        )
        return array.movedim(axes[0], 0)


def _joined_values(values: list[Any]) -> FloatArray:
    """Values of all neurons side by side."""
    return torch.cat([value.detach().double().cpu() for value in values], dim=1).numpy()


def _differ(first: FloatArray, second: FloatArray, tolerance: float) -> bool:
    size = np.linalg.norm(first) + np.linalg.norm(second)
    return bool(np.isfinite(size) and np.linalg.norm(first - second) > tolerance * size)


def _write(part: Any, index: tuple[Any, ...], values: Any) -> Any:
    written = part.clone()
    written[index] = values
    return written


BY_INPUTS = 2
"""With this many times more latents than inputs, Jacobians are taken input by input: each pass
serves all latents."""


def jacobians_of(values: list[Any], leaf: Any, neurons: tuple[Neuron, ...]) -> FloatArray:
    """Gradients of every column of values, (n_points, n_latents, n_inputs): points do not mix, so
    the gradient of a sum over points holds the gradients of all points.
    """
    columns = [
        (column, neuron)
        for value, neuron in zip(values, neurons, strict=True)
        for column in value.unbind(dim=1)
    ]
    is_wide = len(columns) >= BY_INPUTS * leaf.shape[1]
    together = _by_inputs(values, leaf) if is_wide else None
    if together is not None:
        return together
    gradients = []
    for column, neuron in columns:
        (gradient,) = torch.autograd.grad(column.sum(), leaf, retain_graph=True, allow_unused=True)
        if gradient is None:
            raise ExtractionError(
                f"{neuron} does not depend on the inputs. Choose another neuron, or another "
                f"input with wrt=."
            )
        gradients.append(gradient.double().cpu())
    return torch.stack(gradients, dim=1).numpy()


def _by_inputs(values: list[Any], leaf: Any) -> FloatArray | None:
    """All gradients by differentiating twice, or None where an operation of the network does not
    support it.

    The backward pass J^T u is linear in u, whatever u is; its derivative along an input is that
    input's column of J.
    """
    if len({(value.device, value.dtype) for value in values}) > 1:
        return None
    joined = torch.cat(values, dim=1)
    seeds = torch.zeros_like(joined, requires_grad=True)
    try:
        (pulled,) = torch.autograd.grad(joined, leaf, seeds, create_graph=True)
        columns = [
            torch.autograd.grad(column.sum(), seeds, retain_graph=True)[0].double().cpu()
            for column in pulled.unbind(dim=1)
        ]
    except RuntimeError:
        return None
    jacobians = torch.stack(columns, dim=2)
    # A network with a backward pass of its own may cut the graph somewhere: a plain pass with other
    # seeds tells.
    probe = torch.linspace(
        -1.0, 1.0, joined.shape[1], dtype=joined.dtype, device=joined.device
    ).expand_as(joined)
    (plain,) = torch.autograd.grad(joined, leaf, probe, retain_graph=True)
    same = torch.einsum("nkd,nk->nd", jacobians, probe.double().cpu())
    tolerance = 1e-8 if joined.dtype == torch.float64 else 1e-2
    size = jacobians.abs().sum(dim=1)
    return (
        jacobians.numpy()
        if bool(((same - plain.double().cpu()).abs() <= tolerance * size).all())
        else None
    )


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


def _two_axes(neuron: Neuron, value: Any, count: int) -> Any:
    check_values(neuron, value, count)
    if not getattr(value, "requires_grad", False):
        raise ExtractionError(
            f"{neuron} has no gradient with respect to the inputs: it does not depend on them, or "
            "the network runs under torch.no_grad or detaches on the way. Choose another neuron, "
            "or another input with wrt=."
        )
    return value if value.ndim == 2 else value[:, None]
