"""Gradients of torch networks by automatic differentiation, in batches, with the network left as it
was.
"""

import copy
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.networks.errors import NeuronError
from closedform.networks.model_files import LoadedModel
from closedform.networks.neuron import Neuron
from closedform.networks.options import Options
from closedform.networks.rows import Rows
from closedform.networks.samples import PROBED, VARIES, Samples
from closedform.networks.torch_inputs import as_tensor, fixed_arguments, transform_for
from closedform.networks.torch_jacobian import jacobians_of
from closedform.networks.torch_layers import find_layer, plain
from closedform.networks.torch_random import Draws
from closedform.networks.torch_state import COPIED_NUMBERS, untouched
from closedform.networks.torch_values import RunnableNetwork, values_of
from closedform.networks.wrt import column_names, fill, held_note, make_blocks, points_of

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")


class TorchSource:
    """A torch network with its neurons and points chosen.

    Parameters
    ----------
    loaded : LoadedModel
        A torch module or a function of tensors, and what is known of it.
    rows : Rows
        The chosen points.
    seed : int
        Seed of what the network itself draws.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        rows: Rows,
        neurons: tuple[Neuron, ...],
        options: Options,
        *,
        seed: int,
    ) -> None:
        self._model = plain(loaded.model)
        self._make_double = loaded.make_double
        self._rows = rows
        self._neurons = neurons
        self._options = options
        self._seed = seed
        self._fixed_batch = loaded.fixed_batch
        self._blocks = make_blocks(rows, options.wrt)
        self._points = points_of(rows, self._blocks)
        # A dictionary keeps the notes in order and each of them once.
        self._notes: dict[str, None] = dict.fromkeys(
            (*loaded.notes, *rows.notes, *held_note(rows, self._blocks))
        )
        if self._model is not loaded.model:
            self._note(
                "The network is compiled; its uncompiled form was evaluated, which has the "
                "same weights."
            )
        for neuron in neurons:
            if not neuron.whole_model:
                find_layer(self._model, neuron)
        with self._untouched():
            self._run = self._prepared()

    @property
    def points(self) -> FloatArray:
        """The chosen points, shape (n_points, n_inputs)."""
        return self._points

    def evaluate(self, points: FloatArray) -> Samples:
        """Latents and Jacobians at points that belong, row by row, to the chosen ones."""
        with self._untouched():
            pieces = [
                self._differentiate(self._run, points, chunk) for chunk in self._chunks(len(points))
            ]
        latents = np.concatenate([piece[0] for piece in pieces])
        jacobians = np.concatenate([piece[1] for piece in pieces])
        return Samples(
            points,
            jacobians,
            latents,
            tuple(self._notes),
            names=column_names(self._rows, self._blocks),
        )

    def _untouched(self) -> AbstractContextManager[None]:
        functions = [neuron.function for neuron in self._neurons]
        return untouched(self._model, self._options.transform, *functions, seed=self._seed)

    def _note(self, sentence: str | None) -> None:
        if sentence:
            self._notes[sentence] = None

    def _chunks(self, count: int) -> Iterator[slice]:
        size = (
            1 if self._run.one_by_one else min(self._fixed_batch or self._options.batch_size, count)
        )
        # Even batches: a last batch of one point would meet networks that squeeze.
        edges = np.linspace(0, count, -(-count // size) + 1).astype(int)
        return (slice(start, stop) for start, stop in pairwise(edges))

    def _prepared(self) -> RunnableNetwork:
        """Find out on a few points in which type the network runs, and whether it treats points one
        by one.
        """
        *first, last = self._candidates()
        for make in first:
            try:
                return self._checked(make())
            except NeuronError:
                raise
            except Exception as error:  # the user's network may raise anything
                self._note(
                    f"Evaluated in the network's own precision: it does not run in float64 "
                    f"({_first_line(error)})."
                )
        return self._checked(last())

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

        def run_native() -> RunnableNetwork:
            return RunnableNetwork(
                self._model, transform_for(transform, native, device), native, device
            )

        def run_double() -> RunnableNetwork:
            make = self._make_double or (lambda: copy.deepcopy(self._model).double())
            model = make() if real else self._model
            return RunnableNetwork(
                model, transform_for(transform, torch.float64, device), torch.float64, device
            )

        if precision == "native" or {tensor.dtype for tensor in real} == {torch.float64}:
            return [run_native]
        if precision == "double":
            return [run_double]
        large = sum(tensor.numel() for tensor in tensors) > COPIED_NUMBERS
        # Apple's GPUs have no float64.
        return [run_native] if large or device.type == "mps" else [run_double, run_native]

    def _checked(self, run: RunnableNetwork) -> RunnableNetwork:
        if self._options.batched is False:
            run = replace(run, one_by_one=True)
            self._differentiate(run, self._points, slice(0, 1))
            return run
        count = min(PROBED, len(self._points), self._fixed_batch or PROBED)
        draws = Draws()
        values, together = self._differentiate(run, self._points, slice(0, count))
        again = self._differentiate(run, self._points, slice(0, count))
        tolerance = {torch.float64: 1e-6, torch.float32: 1e-3}.get(run.dtype, 5e-2)
        if draws.any():
            self._note(
                "The network draws random numbers even in evaluation mode; each gradient is that "
                "of one seeded draw. Choose a neuron before the random step if you can."
            )
            return run
        # Generators of the network's own are not seen by the watch, nor are counters.
        if _differ(values, again[0], tolerance) or _differ(together, again[1], tolerance):
            self._note(VARIES)
            return run
        if count < 3:
            return run
        _, alone = self._differentiate(run, self._points, slice(0, 2))
        if _differ(together[:2], alone, tolerance):
            self._note(
                "The network mixes the points of a batch, so each point was evaluated alone."
            )
            return replace(run, one_by_one=True)
        return run

    def _differentiate(
        self, run: RunnableNetwork, points: FloatArray, chunk: slice
    ) -> tuple[FloatArray, FloatArray]:
        """Latents (n, k) and Jacobians (n, k, d) of one batch."""
        count = chunk.stop - chunk.start
        total = max(self._fixed_batch or count, count)
        places = np.minimum(np.arange(chunk.start, chunk.start + total), chunk.stop - 1)
        leaf = as_tensor(points[places], run.dtype, run.device).requires_grad_()
        replaced = {block.key for block in self._blocks if block.index is None}
        parts = {
            key: None if key in replaced else as_tensor(part[places], run.dtype, run.device)
            for key, part in self._rows.parts.items()
        }
        values = values_of(
            run,
            self._neurons,
            # Not the leaf itself: a network may begin with a layer that works in place.
            fill(parts, leaf.clone(), self._blocks, _write),
            fixed_arguments(self._options.fixed, total, run.dtype, run.device),
            count=total,
            batched=self._options.batched is not False,
            note=self._note,
        )
        latents = torch.cat([value.detach().double().cpu() for value in values], dim=1)
        return latents.numpy()[:count], jacobians_of(values, leaf, self._neurons)[:count]


def _differ(first: FloatArray, second: FloatArray, tolerance: float) -> bool:
    size = np.linalg.norm(first) + np.linalg.norm(second)
    return bool(np.isfinite(size) and np.linalg.norm(first - second) > tolerance * size)


def _write(part: Any, index: tuple[Any, ...], values: Any) -> Any:
    written = part.clone()
    written[index] = values
    return written


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
