"""Small networks on small data, trained in seconds."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from closedform.arrays import FloatArray


class Scaled(torch.nn.Module):
    """Subtracts a mean and divides by a spread, so that a network takes inputs as they are."""

    mean: torch.Tensor
    spread: torch.Tensor

    def __init__(self, mean: torch.Tensor, spread: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("spread", spread)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Scaled inputs."""
        return (inputs - self.mean) / self.spread


def perceptron(inputs: FloatArray, width: int = 64, outputs: int = 1) -> torch.nn.Sequential:
    """A network of two hidden layers behind its own scaling."""
    data = torch.as_tensor(inputs, dtype=torch.float64)
    layers = [
        Scaled(data.mean(dim=0), data.std(dim=0)),
        torch.nn.Linear(inputs.shape[1], width),
        torch.nn.Tanh(),
        torch.nn.Linear(width, width),
        torch.nn.Tanh(),
        torch.nn.Linear(width, outputs),
    ]
    return torch.nn.Sequential(*layers).double()


def minimise(
    parameters: Sequence[torch.nn.Parameter], loss: Callable[[], torch.Tensor], steps: int
) -> None:
    """Adam with a rate that falls to nothing."""
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        schedule.step()


def regression(
    inputs: FloatArray, targets: FloatArray, seed: int, steps: int = 2000
) -> torch.nn.Sequential:
    """A network that predicts targets, which it sees standardised."""
    torch.manual_seed(seed)
    network = perceptron(inputs)
    x = torch.as_tensor(inputs, dtype=torch.float64)
    scaled = (targets - targets.mean()) / targets.std()
    y = torch.as_tensor(scaled, dtype=torch.float64)[:, None]
    minimise(list(network.parameters()), lambda: ((network(x) - y) ** 2).mean(), steps)
    return network


def uniform(
    ranges: Sequence[tuple[float, float]], count: int, rng: np.random.Generator
) -> FloatArray:
    """Points drawn uniformly."""
    return np.column_stack([rng.uniform(low, high, count) for low, high in ranges])
