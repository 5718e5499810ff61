from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
from torch import nn

from closedform.errors import ExtractionError
from closedform.networks.torch_state import untouched

Unchanged = Callable[[nn.Module], AbstractContextManager[None]]


class Meddling(nn.Module):
    """A network whose forward pass changes all that a forward pass can change."""

    count: torch.Tensor
    mean: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("mean", torch.tensor([float("nan"), 1.0]))
        self.seen: list[int] = []
        self.cache: dict[str, torch.Tensor] = {}
        self.last: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        self.mean = self.mean * 2
        self.seen.append(len(x))
        self.cache["x"] = x
        self.last = x
        self.extra = x
        with torch.no_grad():
            self.linear.weight.mul_(2.0)
            self.linear.bias.data = torch.zeros(2)
        self.frozen.requires_grad_()
        output = self.norm(self.linear(x)) * self.frozen + torch.randn(2)
        output.sum().backward(retain_graph=True)
        self.linear.register_forward_hook(lambda module, args, out: None)
        self.train()
        return output


@pytest.mark.parametrize("training", [True, False])
def test_whatever_a_forward_pass_changes_is_put_back(
    training: bool, unchanged: Unchanged, make_lived_in: Any
) -> None:
    model = make_lived_in(Meddling()).train(training)

    with unchanged(model), untouched(model, seed=0):
        model(torch.ones(4, 3))

    assert model.seen == []
    assert model.cache == {}
    assert model.last is None
    assert not hasattr(model, "extra")


def test_everything_is_put_back_after_an_error(unchanged: Unchanged, make_lived_in: Any) -> None:
    model = make_lived_in(Meddling())

    def run_and_fail() -> None:
        model(torch.ones(4, 3))
        raise KeyboardInterrupt

    with unchanged(model), pytest.raises(KeyboardInterrupt), untouched(model, seed=0):
        run_and_fail()


def test_hooks_of_the_user_can_still_be_removed() -> None:
    model = nn.Linear(2, 2)
    handle = model.register_forward_hook(lambda module, args, output: None)

    with untouched(model, seed=0):
        model.register_forward_hook(lambda module, args, output: None)

    handle.remove()
    assert not model._forward_hooks


def test_dropout_and_batch_norm_behave_as_in_evaluation() -> None:
    model = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(3)).train()
    inputs = torch.randn(8, 3)

    with untouched(model, seed=0):
        found = model(inputs)

    assert torch.equal(found, model.eval()(inputs))


def test_gradients_flow_also_inside_no_grad_inference_mode_and_autocast() -> None:
    model = nn.Linear(2, 1)

    for surrounding in (
        torch.no_grad(),
        torch.inference_mode(),
        torch.autocast("cpu", dtype=torch.bfloat16),
    ):
        with surrounding, untouched(model, seed=0):
            output = model(torch.ones(1, 2, requires_grad=True))
            assert output.requires_grad
            assert output.dtype == torch.float32


def test_a_method_train_of_the_users_own_is_not_called() -> None:
    class Merging(nn.Linear):
        def train(self, mode: bool = True) -> "Merging":
            raise AssertionError("train was called")

    with untouched(Merging(2, 2), seed=0):
        pass


def test_layers_without_shapes_are_refused() -> None:
    with (
        pytest.raises(ExtractionError, match="run the network once"),
        untouched(nn.LazyLinear(2), seed=0),
    ):
        pass


def test_scripted_modules_keep_their_mode() -> None:
    with pytest.warns(DeprecationWarning, match="torch.jit.script"):
        scripted = torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)))
    scripted.train()

    with untouched(scripted, seed=0):
        assert not any(module.training for module in scripted.modules())

    assert all(module.training for module in scripted.modules())


def test_other_objects_are_passed_over() -> None:
    with untouched(None, len, "text", seed=0):
        pass
