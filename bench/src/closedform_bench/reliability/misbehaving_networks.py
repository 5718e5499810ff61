"""Networks that misbehave: whatever they do, they and torch are left as they were."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import closedform as cf
from closedform.errors import ClosedformError
from closedform_bench.reliability.trial import TrialKind, each

Fault = Callable[[Any, Any, Any], Any]
"""From torch, the network and what it should return to what it returns."""


def _raise(torch: Any, network: Any, out: Any) -> Any:
    raise RuntimeError("out of order")


def _interrupted_late(torch: Any, network: Any, out: Any) -> Any:
    network.calls = getattr(network, "calls", 0) + 1
    if network.calls > 1:
        raise ValueError("only once")
    return out


def _not_a_number(torch: Any, network: Any, out: Any) -> Any:
    return out * float("nan")


def _some_not_finite(torch: Any, network: Any, out: Any) -> Any:
    return torch.where(out > out.mean(), out / 0, out)


def _other_shape(torch: Any, network: Any, out: Any) -> Any:
    return out.sum()


def _no_tensor(torch: Any, network: Any, out: Any) -> Any:
    return {"out": out.tolist()}


def _detached(torch: Any, network: Any, out: Any) -> Any:
    return out.detach()


def _leaves_evaluation(torch: Any, network: Any, out: Any) -> Any:
    network.train()
    return out


def _writes_its_weights(torch: Any, network: Any, out: Any) -> Any:
    with torch.no_grad():
        network.inner[0].weight.add_(1.0)
    return out


def _writes_its_inputs(torch: Any, network: Any, out: Any) -> Any:
    with torch.no_grad():
        network.seen.mul_(0)
    return out


def _asks_for_no_gradients(torch: Any, network: Any, out: Any) -> Any:
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    return out


def _draws_at_random(torch: Any, network: Any, out: Any) -> Any:
    return out + torch.rand(1)


FAULTS: tuple[Fault, ...] = (
    _raise, _interrupted_late, _not_a_number, _some_not_finite, _other_shape, _no_tensor, _detached,
    _leaves_evaluation, _writes_its_weights, _writes_its_inputs, _asks_for_no_gradients,
    _draws_at_random,
)  # fmt: skip


def _network(torch: Any, fault: Fault, rng: random.Random) -> Any:
    class Misbehaving(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            width = rng.choice((3, 8))
            self.inner = torch.nn.Sequential(
                torch.nn.Linear(2, width),
                rng.choice((torch.nn.Tanh, torch.nn.ReLU))(),
                torch.nn.Dropout(rng.choice((0.0, 0.5))),
                torch.nn.Linear(width, 1),
            )

        def forward(self, points: Any) -> Any:
            self.seen = points
            return fault(torch, self, self.inner(points))

    torch.manual_seed(rng.randrange(1000))
    network = Misbehaving().train(rng.random() < 0.5)
    network.inner[0].weight.requires_grad_(rng.random() < 0.5)
    if rng.random() < 0.3:
        network.inner[1].register_forward_hook(lambda *_: None)
    return network


def _state(torch: Any, network: Any, points: np.ndarray) -> tuple[Any, ...]:
    """All that must be as it was."""
    modules = list(network.modules())
    return (
        [parameter.detach().clone().numpy().tobytes() for parameter in network.parameters()],
        [parameter.requires_grad for parameter in network.parameters()],
        [parameter.grad is None for parameter in network.parameters()],
        [module.training for module in modules],
        [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in modules],
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.random.get_rng_state().numpy().tobytes(),
        points.tobytes(),
    )


def _trial(number: int) -> str:
    import torch

    rng = random.Random(f"network {number}")
    fault = FAULTS[number % len(FAULTS)]
    network = _network(torch, fault, rng)
    points = np.random.default_rng(number).uniform(-1, 1, (60, 2))
    before = _state(torch, network, points)
    outcome = "read"
    try:
        cf.extract_field(network, points, "inner.3:0", rng=0)
    except ClosedformError:
        outcome = "refused"
    after = _state(torch, network, points)
    changed = [
        place for place, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]
    ]
    if changed:
        return f"failed: {fault.__name__.strip('_')} left {changed} changed"
    return f"{outcome} and restored"


KIND = TrialKind(
    "networks",
    "Networks that raise, return nonsense, change themselves or their inputs, or draw at random: "
    "read or refused; networks, torch's settings and the data are as before.",
    100,
    each(_trial),
)
