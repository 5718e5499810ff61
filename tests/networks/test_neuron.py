from typing import Any

import numpy as np
import pytest
import torch

from closedform.errors import NeuronError
from closedform.networks.neuron import Neuron, parse_neuron, parse_neurons, unknown_layer


@pytest.mark.parametrize(
    ("selector", "layer", "index"),
    [
        ("fc2:7", "fc2", (7,)),
        ("encoder.layers.0:1,3", "encoder.layers.0", (1, 3)),
        ("conv:3,mean", "conv", (3, "mean")),
        ("block:mean,3", "block", ("mean", 3)),
        ("fc:-1", "fc", (-1,)),
        ("latent:*", "latent", ("*",)),
        ("fc", "fc", ()),
        ("", "", ()),
        (":0", "", (0,)),
        ("output:0", "output", (0,)),
        (2, "", (2,)),
        (np.int64(2), "", (2,)),
        (("conv", 3), "conv", (3,)),
        (("conv", (3, 5)), "conv", (3, 5)),
        (("conv", 3, "mean"), "conv", (3, "mean")),
        (("conv", (3, 5), 1), "conv", (3, 5, 1)),
        ((" fc ", 1), "fc", (1,)),
    ],
)
def test_forms_of_selectors(selector: Any, layer: str, index: tuple[int | str, ...]) -> None:
    neuron = parse_neuron(selector)

    assert (neuron.layer, neuron.index) == (layer, index)
    assert neuron.direction is None
    assert neuron.function is None


def test_parts_of_an_output_and_calls_of_a_layer() -> None:
    neuron = parse_neuron("gru[1][state]@-2:0,4")

    assert (neuron.layer, neuron.part, neuron.call, neuron.index) == (
        "gru",
        (1, "state"),
        -2,
        (0, 4),
    )
    assert str(neuron) == "gru[1][state]@-2:0,4"


@pytest.mark.parametrize(
    "vector", [[0.5, 1.0], np.array([0.5, 1.0]), torch.tensor([0.5, 1.0]), (0.5, 1.0)]
)
def test_directions(vector: Any) -> None:
    neuron = parse_neuron(("block", vector, "mean"))

    assert neuron.direction is not None
    assert neuron.direction.tolist() == [0.5, 1.0]
    assert neuron.index == ("mean",)


def test_functions_of_a_layer_and_of_the_model() -> None:
    of_layer, of_model = parse_neuron(("block", abs)), parse_neuron(abs)

    assert of_layer.function is abs
    assert not of_layer.whole_model
    assert of_model.function is abs
    assert of_model.whole_model


def test_a_list_is_several_latents_and_a_neuron_passes_through() -> None:
    neuron = Neuron("fc", (1,))

    assert [str(entry) for entry in parse_neurons(["a:0", ("b", 1), neuron])] == [
        "a:0",
        "b:1",
        "fc:1",
    ]
    assert parse_neuron(neuron) is neuron


@pytest.mark.parametrize(
    "selector",
    [
        "a:b:c",
        "a@x:1",
        "a[:1",
        "a:maen",
        ("a", "maen"),
        ("a:1", 2),
        ("a", [0.0, 0.0]),
        ("a", [np.nan]),
        ("a", [["x"]]),
        ("a", abs, 1),
        "a:*,1",
        1.5,
        True,
        (1, 2),
        [],
    ],
)
def test_malformed_selectors_are_refused(selector: Any) -> None:
    with pytest.raises(NeuronError):
        parse_neurons(selector)


def test_a_misspelt_reduction_gets_a_suggestion() -> None:
    with pytest.raises(NeuronError, match="did you mean 'mean'"):
        parse_neuron("conv:3,maen")


def test_an_unknown_layer_gets_a_suggestion_and_the_list() -> None:
    error = unknown_layer(Neuron("encodr.0"), ["", "encoder", "encoder.0", "head"])

    assert "did you mean 'encoder.0'?" in str(error)
    assert "encoder, encoder.0, head" in str(error)
    assert error.known == ("encoder", "encoder.0", "head")


def test_a_number_in_quotes_is_told_to_be_a_unit_of_the_output() -> None:
    said = str(unknown_layer(parse_neuron("1"), ["encoder"]))
    assert "There is no layer '1'; for unit 1 of the output pass ':1'. Layers: encoder." in said


def test_a_long_list_of_layers_is_cut() -> None:
    message = str(unknown_layer(Neuron("zzz"), [f"layer{number}" for number in range(500)]))

    assert "and 460 more" in message
    assert "layer499" not in message


def test_the_name_of_a_method_is_told_to_be_one() -> None:
    error = unknown_layer(Neuron("upper"), ["encoder"], "any object with this method")
    assert "pass lambda model, x: model.upper(x) as the neuron" in str(error)
