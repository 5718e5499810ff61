"""Small networks, trained in seconds or not at all, and their fields."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

import closedform as cf
from closedform.arrays import FloatArray
from closedform.field.tangent import StatedConstraint

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {
    "relu": torch.nn.ReLU, "silu": torch.nn.SiLU, "gelu": torch.nn.GELU, "tanh": torch.nn.Tanh,
}  # fmt: skip

HIDDEN, STEPS, BATCH = 64, 1500, 250


@dataclass(frozen=True, slots=True)
class SmallNetwork:
    """A network of standardised inputs.

    Attributes
    ----------
    network : torch.nn.Module
    centre, spread : ndarray, shape (n_inputs,)
    """

    network: torch.nn.Module
    centre: FloatArray
    spread: FloatArray

    def values_and_gradients(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The output at points, and its gradients there."""
        inputs = torch.tensor(
            (points - self.centre) / self.spread, dtype=torch.float32, requires_grad=True
        )
        outputs = self.network(inputs)
        (slopes,) = torch.autograd.grad(outputs.sum(), inputs)
        return outputs.detach().double().numpy()[:, 0], slopes.double().numpy() / self.spread

    def gradients(self, points: FloatArray) -> FloatArray:
        """What a verdict may ask for."""
        return self.values_and_gradients(points)[1]

    def field(
        self, points: FloatArray, names: Sequence[str], constraints: Sequence[StatedConstraint] = ()
    ) -> cf.GradientField:
        """The network's directions at points."""
        values, gradients = self.values_and_gradients(points)
        return cf.GradientField.from_arrays(
            points, gradients, latents=values, names=list(names),
            tangent="constraints" if constraints else "none", constraints=constraints,
        )  # fmt: skip

    def hidden(self, unit: int) -> "SmallNetwork":
        """One neuron of the second hidden layer, before its activation."""
        layers = list(self.network.children())
        last, chosen = layers[2], torch.nn.Linear(HIDDEN, 1)
        assert isinstance(last, torch.nn.Linear)
        with torch.no_grad():
            chosen.weight.copy_(last.weight[unit : unit + 1])
            chosen.bias.copy_(last.bias[unit : unit + 1])
        return SmallNetwork(
            torch.nn.Sequential(*layers[:2], chosen).eval(), self.centre, self.spread
        )


def untrained(
    points: FloatArray, activation: str, rng: np.random.Generator, *, gain: float = 1.0
) -> SmallNetwork:
    """A network as it begins, its first weights multiplied by a factor: small ones make it nearly
    linear.
    """
    network = _fresh(points.shape[1], activation, int(rng.integers(2**31)))
    with torch.no_grad():
        network[0].weight.mul_(gain)  # type: ignore[operator, union-attr]
    return SmallNetwork(network.eval(), points.mean(axis=0), points.std(axis=0))


def train(
    points: FloatArray,
    targets: FloatArray,
    activation: str,
    rng: np.random.Generator,
    *,
    steps: int = STEPS,
) -> SmallNetwork:
    """Two hidden layers, fitted to standardised targets."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # layers of 64 gain nothing from more, and lose on a busy machine
    centre, spread = points.mean(axis=0), points.std(axis=0)
    seed = int(rng.integers(2**31))
    try:
        network = _fresh(points.shape[1], activation, seed)
        generator = torch.Generator().manual_seed(seed)
        x, y = (
            torch.tensor(array, dtype=torch.float32)
            for array in (
                (points - centre) / spread,
                ((targets - targets.mean()) / targets.std())[:, None],
            )
        )
        optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=0.0)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps + 1)
        batches: list[torch.Tensor] = []
        for _ in range(steps):
            batches = batches or list(torch.randperm(len(x), generator=generator).split(BATCH))
            batch = batches.pop()
            optimiser.zero_grad()
            ((network(x[batch]) - y[batch]) ** 2).mean().backward()
            optimiser.step()
            schedule.step()
    finally:
        torch.set_num_threads(threads)
    return SmallNetwork(network.eval(), centre, spread)


def _fresh(n_inputs: int, activation: str, seed: int) -> torch.nn.Sequential:
    kind = ACTIVATIONS[activation]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return torch.nn.Sequential(
            torch.nn.Linear(n_inputs, HIDDEN), kind(), torch.nn.Linear(HIDDEN, HIDDEN), kind(),
            torch.nn.Linear(HIDDEN, 1),
        )  # fmt: skip
