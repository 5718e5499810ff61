from typing import Any

import numpy as np
import pytest
import torch

from closedform.errors import NeuronError
from closedform.networks.neuron import parse_neuron
from closedform.networks.picking import entry_of, pick

ARRAY = np.random.default_rng(0).normal(size=(5, 3, 4, 4))


def taken(selector: Any, array: Any) -> Any:
    return pick(parse_neuron(selector), array, lambda direction, like: direction)


@pytest.mark.parametrize("wrap", [np.asarray, torch.from_numpy])
@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("conv:1,2,3", ARRAY[:, 1, 2, 3]),
        ("conv:1,mean", ARRAY[:, 1].mean(axis=(1, 2))),
        ("conv:1,sum", ARRAY[:, 1].sum(axis=(1, 2))),
        ("conv:1,max", ARRAY[:, 1].max(axis=(1, 2))),
        ("conv:-1,min", ARRAY[:, -1].min(axis=(1, 2))),
        ("conv:mean,2,3", ARRAY.mean(axis=1)[:, 2, 3]),
        ("conv:1,max,3", ARRAY[:, 1].max(axis=1)[:, 3]),
        ("conv:mean", ARRAY.mean(axis=(1, 2, 3))),
    ],
)
def test_positions_and_reductions(wrap: Any, selector: str, expected: np.ndarray) -> None:
    np.testing.assert_allclose(np.asarray(taken(selector, wrap(ARRAY))), expected)


def test_directions_over_the_axis_that_fits() -> None:
    channels, units, everything = (
        np.arange(1.0, 4.0),
        np.arange(1.0, 5.0),
        np.random.default_rng(1).normal(size=(3, 4, 4)),
    )

    np.testing.assert_allclose(taken(("c", units, (1, 2)), ARRAY), ARRAY[:, 1, 2] @ units)
    np.testing.assert_allclose(
        taken(("c", channels, "mean"), ARRAY), np.einsum("nchw,c->n", ARRAY, channels) / 16
    )
    np.testing.assert_allclose(
        taken(("c", everything), ARRAY), np.einsum("nchw,chw->n", ARRAY, everything)
    )
    np.testing.assert_allclose(
        taken(("c", channels), ARRAY[:, :, 0, 0]), ARRAY[:, :, 0, 0] @ channels
    )


def test_outputs_of_one_number_need_no_index() -> None:
    values = np.arange(5.0)

    for array in (values, values[:, None], values[:, None, None]):
        assert taken("", array).tolist() == values.tolist()
    assert taken(":0", values).tolist() == values.tolist()


def test_every_unit_of_a_flat_layer() -> None:
    assert taken("c:*", ARRAY[:, 0, 0]).shape == (5, 4)
    with pytest.raises(NeuronError, match="flat"):
        taken("c:*", ARRAY)


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        ("c:1", "add a position"),
        ("c:1,2,9", "outside an axis of length 4"),
        ("c:1,2,3,0", "too many entries"),
        ("c", "add a position"),
        (("c", np.ones(7)), "7 weights"),
        (("c", np.ones((2, 2))), "the direction has shape"),
    ],
)
def test_selectors_that_do_not_fit_name_the_shape(selector: Any, reason: str) -> None:
    with pytest.raises(NeuronError, match=reason) as caught:
        taken(selector, ARRAY)
    assert "(3, 4, 4)" in str(caught.value)


def test_the_name_of_a_flat_layer_alone_is_answered_with_its_first_unit() -> None:
    flat = ARRAY[:, :, 0, 0]

    with pytest.raises(NeuronError, match=r"the layer's output .* 'c:0' is the first unit\."):
        taken("c", flat)
    with pytest.raises(NeuronError, match=r"'0:0' is the first unit, ':0' the network's first"):
        taken("0", flat)
    with pytest.raises(NeuronError, match="the network's output"):
        taken("output:9", flat)


def test_entries_of_tuples_and_dictionaries() -> None:
    first, second = np.zeros(2), np.ones(2)

    assert entry_of(parse_neuron("g[1]:0"), (first, second)) == (second, None)
    assert entry_of(parse_neuron("g[b]:0"), {"a": first, "b": second})[0] is second
    assert entry_of(parse_neuron("g:0"), {"a": first, "size": 3})[0] is first
    array, note = entry_of(parse_neuron("g:0"), (first, (second,)))
    assert array is first
    assert note is not None
    assert "g[1]" in note


@pytest.mark.parametrize(
    ("selector", "output", "reason"),
    [
        ("g:0", {"a": np.zeros(2), "b": np.zeros(2)}, r"g\[a\]"),
        ("g:0", {"a": 1}, "dictionary with the arrays"),
        ("g[2]:0", (np.zeros(2),), "no entry 2"),
        ("g[c]:0", {"a": np.zeros(2)}, "no entry 'c'"),
        ("g:0", "text", "not an array"),
    ],
)
def test_entries_that_do_not_exist_are_named(selector: str, output: Any, reason: str) -> None:
    with pytest.raises(NeuronError, match=reason):
        entry_of(parse_neuron(selector), output)
