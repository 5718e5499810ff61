import numpy as np
import pytest

from closedform.errors import NeuronError
from closedform.sweeping.sweep import choose_neurons, layer_width, parse_range

torch = pytest.importorskip("torch")

INPUTS = np.zeros((2, 3))
MODEL = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))


@pytest.mark.parametrize(
    ("layer", "neurons", "expected"),
    [
        ("2", None, ["2:0", "2:1"]),
        ("0", slice(3, None), ["0:3", "0:4"]),
        ("0", slice(0, 4096), [f"0:{n}" for n in range(5)]),
        (["0", "2"], range(2), ["0:0", "0:1", "2:0", "2:1"]),
        ("0", [4, 1, 4], ["0:4", "0:1"]),
        ("0", ["3,mean"], ["0:3,mean"]),
    ],
)
def test_neurons_of_a_layer(layer, neurons, expected):
    assert choose_neurons(MODEL, INPUTS, layer, neurons) == expected


def test_width_by_looking():
    assert layer_width(MODEL, INPUTS, "0") == 5
    assert layer_width(lambda x: x @ np.ones((3, 7)), INPUTS, "output") == 7


@pytest.mark.parametrize(
    ("layer", "neurons", "said"),
    [("9", None, "no layer"), ("0:1", None, "names a neuron"), ("0", slice(9, 9), "at least one")],
)
def test_mistakes_are_told(layer, neurons, said):
    with pytest.raises(NeuronError, match=said):
        choose_neurons(MODEL, INPUTS, layer, neurons)


def test_positions_must_be_chosen():
    model = torch.nn.Sequential(torch.nn.Unflatten(1, (1, 3)), torch.nn.Conv1d(1, 4, 2))
    with pytest.raises(NeuronError, match="mean"):
        layer_width(model, INPUTS, "1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3:9", slice(3, 9)), (":5", slice(None, 5)), ("::2", slice(None, None, 2)), ("7", ["7"])],
)
def test_ranges(text, expected):
    assert parse_range(text) == expected


@pytest.mark.parametrize("text", ["a:b", "1:2:3:4"])
def test_what_is_no_range(text):
    with pytest.raises(NeuronError, match="START:STOP"):
        parse_range(text)
