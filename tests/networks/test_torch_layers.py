from typing import Any

import pytest
import torch
from torch import nn

from closedform.errors import NeuronError
from closedform.networks.neuron import parse_neuron
from closedform.networks.picking import call_of
from closedform.networks.torch_layers import captured, find_layer, plain


class Looping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(2, 2, bias=False)
        self.unused = nn.Linear(2, 2)
        nn.init.constant_(self.cell.weight, 1.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            x = self.cell(x)
        return x


def taken(selector: str) -> Any:
    model = Looping()
    neurons = (parse_neuron(selector),)
    with captured(model, neurons, lambda neuron, output: output[:, 0]) as calls:
        model(torch.ones(1, 2))
    return call_of(neurons[0], calls[0])


@pytest.mark.parametrize(
    ("selector", "expected"),
    [("cell@0:0", 2.0), ("cell@1:0", 4.0), ("cell@-1:0", 8.0), ("cell@2:0", 8.0)],
)
def test_a_layer_that_runs_several_times(selector: str, expected: float) -> None:
    value, note = taken(selector)

    assert value.item() == expected
    assert note is None


def test_without_a_choice_the_first_call_is_taken_and_said_so() -> None:
    value, note = taken("cell:0")

    assert value.item() == 2.0
    assert "runs 3 times" in note


def test_calls_that_do_not_happen_are_errors() -> None:
    with pytest.raises(NeuronError, match="no call 3"):
        taken("cell@3:0")
    with pytest.raises(NeuronError, match="did not run"):
        taken("unused:0")


def test_no_hook_survives_an_error() -> None:
    model = Looping()
    with (
        pytest.raises(RuntimeError, match="inside"),
        captured(model, (parse_neuron("cell:0"),), lambda n, o: o),
    ):
        raise RuntimeError("inside")

    assert not model.cell._forward_hooks


def test_layers_are_found_by_name_also_when_compiled_or_shared() -> None:
    inner = nn.Linear(2, 2)
    model = nn.Sequential(inner, nn.Sequential(inner))
    wrapped: Any = torch.compile(model, backend="eager")

    assert find_layer(model, parse_neuron("1.0:0")) is inner
    assert find_layer(wrapped, parse_neuron("0:0")) is inner
    assert find_layer(wrapped, parse_neuron("_orig_mod.0:0")) is inner
    assert find_layer(model, parse_neuron(":0")) is None
    assert find_layer(model, parse_neuron("output:0")) is None
    assert plain(wrapped) is model


def test_a_layer_called_output_is_that_layer() -> None:
    model = nn.ModuleDict({"output": nn.Linear(2, 2)})

    assert find_layer(model, parse_neuron("output:0")) is model["output"]


def test_unknown_layers_are_named_with_a_suggestion() -> None:
    with pytest.raises(NeuronError, match="did you mean 'cell'"):
        find_layer(Looping(), parse_neuron("cel:0"))
    with pytest.raises(NeuronError, match="only the output"):
        find_layer(torch.sin, parse_neuron("cell:0"))
