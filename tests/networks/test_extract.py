import numpy as np
import pandas
import pytest
import torch
from torch import nn

from closedform.errors import NetworkError, NeuronError
from closedform.networks.extract import extract_field

POINTS = np.random.default_rng(0).uniform(0.5, 1.5, size=(400, 3))


class Energy(nn.Module):
    """A network that knows x^2 + v^2 and hides it behind a sigmoid."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(3 * x.square().sum(dim=1, keepdim=True) - 4)


def test_a_network_becomes_a_field_with_its_notes() -> None:
    field = extract_field(
        Energy(), POINTS, ":0", names=["x", "v", "w"], tangent="none", max_points=100, rng=0
    )

    assert field.points.shape == (100, 3)
    assert field.names == ("x", "v", "w")
    unit = field.points / np.linalg.norm(field.points, axis=1, keepdims=True)
    np.testing.assert_allclose(
        np.abs((field.directions[:, :, 0] * unit).sum(axis=1)), 1.0, rtol=1e-12
    )
    assert field.latents is not None
    np.testing.assert_allclose(
        field.latents[:, 0], 3 * (field.points**2).sum(axis=1) - 4, rtol=1e-12
    )
    assert len(field.notes) == 2
    assert (field.weights == 1).all()


def test_names_of_a_table_are_kept_and_stated_ones_win() -> None:
    table = pandas.DataFrame(POINTS, columns=["p", "q", "r"])

    assert extract_field(Energy(), table, 0, rng=0).names == ("p", "q", "r")
    assert extract_field(Energy(), table, 0, names=["a", "b", "c"], rng=0).names == ("a", "b", "c")


def test_constraints_reach_the_field() -> None:
    points = POINTS.copy()
    points[:, 2] = 3.0 - points[:, 0] - points[:, 1]

    field = extract_field(
        Energy(), points, 0, names=["x", "y", "z"], constraints=["x + y + z"], rng=0
    )

    np.testing.assert_allclose(field.directions[:, :, 0].sum(axis=1), 0.0, atol=1e-9)


def test_one_output_needs_no_neuron() -> None:
    stated = extract_field(Energy(), POINTS, 0, rng=0)
    for model in (Energy(), lambda x: 3 * (x**2).sum(axis=1) - 4, lambda x: (x**2).sum(1)[:, None]):
        field = extract_field(model, POINTS, rng=0)
        np.testing.assert_allclose(field.directions, stated.directions, atol=1e-6)
    with pytest.raises(NeuronError, match=r"shape \(2,\) for each point, and only.*neuron=0"):
        extract_field(nn.Linear(3, 2), POINTS, rng=0)


def test_several_latents_and_misspelt_options() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)

    assert extract_field(model, POINTS, [":0", ":1"], rng=0).rank == 2
    with pytest.raises(TypeError, match="did you mean 'batch_size'"):
        extract_field(model, POINTS, 0, batchsize=3)  # pyright: ignore[reportCallIssue]


def test_a_network_without_a_forward_pass_is_told_to_name_what_is_called() -> None:
    class Flow(torch.nn.Module):
        def log_prob(self, x: torch.Tensor) -> torch.Tensor:
            return -(x**2).sum(dim=1)

    points = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(NetworkError, match=r"neuron=lambda model, x: model.log_prob\(x\)"):
        extract_field(Flow(), points)
    field = extract_field(Flow(), points, lambda model, x: model.log_prob(x))
    assert field.points.shape == (50, 2)
