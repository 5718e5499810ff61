from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from closedform.networks.torch_layers import SquashingWatch, log_odds

SCORES = torch.tensor([[1.0, -2.0, 3.0], [50.0, -40.0, 0.5]], dtype=torch.float64)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (torch.sigmoid, "sigmoid"),
        (torch.Tensor.sigmoid, "sigmoid"),
        (functional.sigmoid, "sigmoid"),
        (nn.Sigmoid(), "sigmoid"),
        (torch.special.expit, "sigmoid"),
        (torch.ops.aten.sigmoid.default, "sigmoid"),
        (lambda x: x.clone().sigmoid_(), "sigmoid"),
        (torch.tanh, "tanh"),
        (nn.Tanh(), "tanh"),
        (lambda x: x.clone().tanh_(), "tanh"),
        (functional.logsigmoid, "log-sigmoid"),
        (nn.LogSigmoid(), "log-sigmoid"),
    ],
)
def test_functions_of_one_number(function: Any, name: str) -> None:
    with SquashingWatch() as watch:
        before = watch.before(function(SCORES))

    assert before is not None
    assert before.name == name
    assert torch.equal(before.value(), SCORES)


@pytest.mark.parametrize(
    ("function", "axis"),
    [
        (lambda x: torch.softmax(x, 1), 1),
        (lambda x: x.softmax(dim=-1), -1),
        (lambda x: functional.softmax(x, dim=0), 0),
        (nn.Softmax(dim=1), 1),
        (nn.LogSoftmax(dim=1), 1),
        (lambda x: functional.log_softmax(x, -1), -1),
        (lambda x: torch.ops.aten.softmax.int(x, 1), 1),
    ],
)
def test_softmax_gives_the_log_odds(function: Any, axis: int) -> None:
    with SquashingWatch() as watch:
        before = watch.before(function(SCORES))

    assert before is not None
    assert torch.equal(before.value(), log_odds(SCORES, axis))


@pytest.mark.parametrize(
    "steps",
    [
        lambda y: y[:, 1],
        lambda y: y.unsqueeze(-1).squeeze(-1)[..., 2],
        lambda y: y.transpose(0, 1)[2],
        lambda y: y.T.mT[:, 0],
        lambda y: y.reshape(-1).view(2, 3).flatten(1)[:, 1].clone(),
        lambda y: y.chunk(3, dim=1)[2][:, 0],
        lambda y: y.unbind(1)[1],
        lambda y: y.float().double()[:, 0].contiguous(),
    ],
)
def test_steps_that_only_move_numbers_are_repeated(steps: Any) -> None:
    with SquashingWatch() as watch:
        before = watch.before(steps(torch.tanh(SCORES)))

    assert before is not None
    assert torch.allclose(before.value(), steps(SCORES))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        torch.relu,
        lambda x: torch.sigmoid(x) * 2,
        lambda x: torch.sigmoid(x).mean(dim=1),
        lambda x: torch.sigmoid(x).mul_(x),
        lambda x: torch.softmax(x[:, :1], dim=1),
        lambda x: torch.tanh(x).sum(),
    ],
)
def test_other_values_are_left_alone(function: Any) -> None:
    with SquashingWatch() as watch:
        assert watch.before(function(SCORES.clone())) is None


def test_an_input_that_was_overwritten_later_is_not_used() -> None:
    scores = SCORES.clone()
    with SquashingWatch() as watch:
        squashed = torch.sigmoid(scores)
        scores.add_(1.0)
        before = watch.before(squashed)

    assert before is not None
    assert before.value() is None


def test_log_odds_neither_cancel_nor_lose_their_gradient() -> None:
    scores = torch.tensor([[60.0, 0.0, -3.0]], dtype=torch.float64, requires_grad=True)
    odds = log_odds(scores, 1)
    expected = torch.stack(
        [
            scores[0, i] - torch.logsumexp(scores[0, [j for j in range(3) if j != i]], 0)
            for i in range(3)
        ]
    )

    assert torch.allclose(odds[0], expected, rtol=1e-12)
    for place in range(3):
        (found,) = torch.autograd.grad(odds[0, place], scores, retain_graph=True)
        (wanted,) = torch.autograd.grad(expected[place], scores, retain_graph=True)
        assert torch.allclose(found, wanted, rtol=1e-9)
