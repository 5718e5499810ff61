import numpy as np
import pytest
import torch

from closedform.errors import ExtractionError
from closedform.networks.neuron import parse_neuron
from closedform.networks.torch_source import BY_INPUTS, jacobians_of


def values_and_leaf(count: int) -> tuple[torch.Tensor, torch.Tensor, np.ndarray]:
    torch.manual_seed(0)
    leaf = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    matrix = torch.randn(3, count, dtype=torch.float64)
    values = torch.sin(leaf @ matrix)
    expected = torch.cos(leaf @ matrix)[:, :, None] * matrix.T
    return values, leaf, expected.detach().numpy()


@pytest.mark.parametrize("count", [1, 3 * BY_INPUTS - 1, 3 * BY_INPUTS, 20])
def test_one_by_one_and_together_agree_with_the_formula(count: int) -> None:
    values, leaf, expected = values_and_leaf(count)

    np.testing.assert_allclose(
        jacobians_of([values], leaf, (parse_neuron("a:*"),)), expected, rtol=1e-12
    )


def test_operations_that_cannot_be_differentiated_twice_are_taken_one_by_one() -> None:
    class Stubborn(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
            return torch.from_numpy(2 * grad.numpy())

    values, leaf, expected = values_and_leaf(3 * BY_INPUTS)
    stubborn = Stubborn.apply(values)

    np.testing.assert_allclose(jacobians_of([stubborn], leaf, (parse_neuron("a:*"),)), 2 * expected)  # pyright: ignore


def test_a_backward_pass_that_hides_a_part_of_the_graph_is_noticed() -> None:
    class Hiding(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
            return 2 * grad.detach()

    values, leaf, expected = values_and_leaf(3 * BY_INPUTS)
    hiding = values + Hiding.apply(values)  # pyright: ignore

    np.testing.assert_allclose(
        jacobians_of([hiding], leaf, (parse_neuron("a:*"),)), 3 * expected, rtol=1e-12
    )


def test_gradients_that_are_not_finite_stay_where_they_are() -> None:
    leaf = torch.tensor([[0.0, 1.0], [4.0, 1.0]], dtype=torch.float64, requires_grad=True)
    values = torch.sqrt(leaf[:, :1]) * torch.arange(1.0, 10.0, dtype=torch.float64) + leaf[:, 1:]

    found = jacobians_of([values], leaf, (parse_neuron("a:*"),))

    np.testing.assert_allclose(found[1, :, 0], np.arange(1.0, 10.0) / 4)
    assert np.isinf(found[0, :, 0]).all()
    np.testing.assert_allclose(found[:, :, 1], 1.0)


def test_values_that_do_not_depend_on_the_inputs_are_an_error() -> None:
    leaf = torch.zeros(2, 1, requires_grad=True)
    other = torch.zeros(2, 1, requires_grad=True)

    with pytest.raises(ExtractionError, match="a:0 does not depend"):
        jacobians_of([other * 1], leaf, (parse_neuron("a:0"),))
