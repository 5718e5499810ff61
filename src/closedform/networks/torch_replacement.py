"""A torch network in which a formula stands in the place of neurons."""

import copy
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import torch_library
from closedform.networks.neuron import Neuron
from closedform.networks.parametric_formula import Composition
from closedform.networks.picking import (
    call_of,
    check_replaceable,
    columns_of,
    pick,
    put_back,
    side_by_side,
)
from closedform.networks.torch_layers import captured, find_layer, hooked, plain
from closedform.networks.torch_state import as_like, as_tensor, nn, torch, untouched

Points = Callable[..., Any]
"""From the network's arguments to the formula's inputs, (n_points, n_inputs)."""


class FormulaLatents(nn.Module):
    """phi(formulas), its numbers as parameters: (n_points, n_inputs) to (n_points, n_latents)."""

    def __init__(self, composition: Composition) -> None:
        super().__init__()
        self.composition = composition
        for name, numbers in composition.trained().items():
            self.register_parameter(name, nn.Parameter(torch.as_tensor(numbers)))
        for name, numbers in composition.fixed().items():
            self.register_buffer(name, torch.as_tensor(numbers))
        # The numbers of one form mean nothing in another, so its mark is saved with them.
        self.register_buffer("form", torch.tensor(_mark(composition)))

    def forward(self, points: Any) -> Any:
        """Values of the latents; where the formula is computed in float64 they are rounded once."""
        numbers = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        precise = points.to(numbers["phi"].dtype)
        frame: Any = torch
        library = torch_library(frame, precise.dtype, precise.device)
        return self.composition.value(precise, numbers, library)

    def formulas(self) -> tuple[str, ...]:
        """The concepts with the numbers as they are now."""
        numbers = {name: value.detach().cpu().tolist() for name, value in self.named_parameters()}
        return tuple(
            str(formula.written(numbers.get(f"concept_{i}", [])))
            for i, formula in enumerate(self.composition.formulas)
        )

    def extra_repr(self) -> str:
        """The form."""
        return str(self.composition)

    def _load_from_state_dict(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, state_dict: Any, prefix: str, *rest: Any
    ) -> None:
        mark = state_dict.get(f"{prefix}form")
        if mark is not None and int(mark) != int(self.get_buffer("form")):
            rest[-1].append(
                f"the saved numbers belong to another formula than {self.composition}; build the "
                f"network from the same answer and inputs"
            )
            return
        super()._load_from_state_dict(state_dict, prefix, *rest)


class FormulaNetwork(nn.Module):
    """A copy of a network in which phi(formulas) stands in the place of neurons.

    Attributes
    ----------
    network : torch.nn.Module
        The copy.
    latents : FormulaLatents
        What stands in the neurons' place, with trainable numbers.
    points_of : callable or None
        From the network's arguments to the formula's inputs; by default the first argument, flat.
    cost : Cost or None
        What the replacement changed, where that was measured.
    """

    def __init__(
        self,
        network: Any,
        neurons: Sequence[Neuron],
        composition: Composition,
        points_of: Points | None = None,
    ) -> None:
        super().__init__()
        self.network = copy.deepcopy(plain(network))
        self.latents = FormulaLatents(composition)
        self.cost: Any = None
        self._neurons = tuple(neurons)
        self.points_of = points_of
        place = next((p for p in self.network.parameters() if p.is_floating_point()), None)
        if place is not None:
            self.latents.to(place.device)
        self.train(network.training)

    def forward(self, *arguments: Any, **named: Any) -> Any:
        """What the network returns, with the neurons' values replaced on the way."""
        points = inputs_of(self.points_of, arguments, named)
        values = self.latents(points)
        return _run(self.network, self._neurons, values, arguments, named)

    @property
    def formulas(self) -> tuple[str, ...]:
        """The concepts with the numbers as they are now."""
        return self.latents.formulas()


build = FormulaNetwork


def inputs_of(points_of: Points | None, arguments: Any, named: Any) -> Any:
    """The formula's inputs."""
    if points_of is not None:
        return points_of(*arguments, **named)
    first = arguments[0] if arguments else next(iter(named.values()))
    return first.reshape(first.shape[0], -1)


def own_values(
    network: Any, neurons: Sequence[Neuron], inputs: Any, points_of: Points | None
) -> tuple[FloatArray, Any, FloatArray]:
    """The neurons' values (n_points, n_latents), the network's outputs, the formula's inputs."""
    module = plain(network)
    check_replaceable(neurons)
    given = _as_inputs(module, inputs)

    def take(neuron: Neuron, output: Any) -> Any:
        # A copy, since the next layer may overwrite its input.
        return pick(neuron, output, as_like).clone()

    with (
        untouched(module, seed=0),
        torch.no_grad(),
        captured(module, tuple(neurons), take) as calls,
    ):
        output = module(given)
    columns = [
        call_of(neuron, calls[place])[0] if place in calls else take(neuron, output)
        for place, neuron in enumerate(neurons)
    ]
    points = inputs_of(points_of, (given,), {})
    return _as_numpy(side_by_side(columns, torch.cat)), _as_numpy(output), _as_numpy(points)


def run_replaced(network: Any, neurons: Sequence[Neuron], inputs: Any, values: FloatArray) -> Any:
    """The network's outputs with these values, (n_points, n_latents), in the neurons' place."""
    module = plain(network)
    given = _as_inputs(module, inputs)
    with untouched(module, seed=0), torch.no_grad():
        written = torch.as_tensor(values, device=given.device)
        return _as_numpy(_run(module, neurons, written, (given,), {}))


def run_held(copy: FormulaNetwork, inputs: Any) -> tuple[Any, FloatArray]:
    """Outputs of the copy in evaluation mode, and the latents that the formula gives, at every
    second point, which phi was not fitted to.
    """
    given = _as_inputs(copy.network, inputs)
    with untouched(copy, seed=0), torch.no_grad():
        points = inputs_of(copy.points_of, (given,), {})
        output, latents = _as_numpy(copy(given)), _as_numpy(copy.latents(points))
    return output[1::2] if hasattr(output, "shape") else None, latents[1::2]


def with_cost(copy: FormulaNetwork, cost: Any) -> FormulaNetwork:
    """The copy, which says what it changed."""
    copy.cost = cost
    return copy


def _as_inputs(network: Any, inputs: Any) -> Any:
    """Points in the network's type and place; a tensor as it is."""
    if isinstance(inputs, torch.Tensor):
        return inputs
    like = next((p for p in network.parameters() if p.is_floating_point()), torch.zeros(1))
    return as_tensor(np.asarray(inputs), like.dtype, like.device)


def _as_numpy(value: Any) -> Any:
    return value.double().cpu().numpy() if isinstance(value, torch.Tensor) else value


def _run(network: Any, neurons: Sequence[Neuron], values: Any, arguments: Any, named: Any) -> Any:
    """One pass with values written into the layers' outputs."""
    check_replaceable(neurons)
    columns = columns_of(neurons, values)
    # The output is that of the network itself.
    layers = {place: find_layer(network, neuron) for place, neuron in enumerate(neurons)}

    def put(place: int, output: Any) -> Any:
        written = columns[place].to(output.dtype)
        return put_back(neurons[place], output, written, as_like, torch.where)

    with hooked({at: network if one is None else one for at, one in layers.items()}, put):
        return network(*arguments, **named)


def _mark(composition: Composition) -> int:
    """A number that tells forms apart: the trees with their arguments left open, and phi's kind."""
    form = [repr(formula.tree.tokens) for formula in composition.formulas]
    form.append(f"{type(composition.phi).__name__} {sorted(composition.trained())}")
    inner = getattr(composition.phi, "formula", None)
    form.append(repr(inner.tree.tokens) if inner is not None else "")
    return int.from_bytes(hashlib.sha256("\n".join(form).encode()).digest()[:7], "big")
