"""Networks that are never shown the values: they see pairs, orders, deaths, records or samples."""

import numpy as np
import torch

from closedform_bench.new_user.training import perceptron
from closedform_bench.unfamiliar.material import Material, Trained
from closedform_bench.unfamiliar.training import fit, tensor

PAIRS = 128
"""Of a batch: each is told from all others."""

TIMES = torch.linspace(-2.5, 2.5, 12)
"""Where a record is taken."""


def contrastive(material: Material, rng: np.random.Generator) -> Trained:
    """An embedding in which points of one value are neighbours (InfoNCE)."""
    network = perceptron(material.points).float()
    order = np.argsort(material.targets)
    one, two = (tensor(material.points[order[part]]) for part in (np.s_[:-1], np.s_[1:]))

    def loss(rows: torch.Tensor) -> torch.Tensor:
        alike = -10 * (network(one[rows]) - network(two[rows]).T) ** 2
        return torch.nn.functional.cross_entropy(alike, torch.arange(len(rows)))

    fit(network.parameters(), loss, len(one), material.steps, rng, batch=PAIRS)
    return Trained(network, material.held)


def ranking(material: Material, rng: np.random.Generator) -> Trained:
    """RankNet: a score from pairs, of which only the better is known."""
    network = perceptron(material.points).float()
    other = rng.permutation(len(material.points))
    x, y = tensor(material.points), tensor(material.points[other])
    better = tensor((material.targets > material.targets[other]).astype(float))[:, None]

    def loss(rows: torch.Tensor) -> torch.Tensor:
        ahead = network(x[rows]) - network(y[rows])
        return torch.nn.functional.binary_cross_entropy_with_logits(ahead, better[rows])

    fit(network.parameters(), loss, len(x), material.steps, rng)
    return Trained(network, material.held)


def survival(material: Material, rng: np.random.Generator) -> Trained:
    """DeepSurv: a logarithmic hazard from deaths, a fifth of them unseen (Cox)."""
    network = perceptron(material.points, width=32).float()
    times = rng.exponential(np.exp(-3 * material.targets / material.targets.std()))
    seen = times < np.quantile(times, 0.8)
    x, died, clock = tensor(material.points), torch.as_tensor(seen), tensor(times)

    def loss(rows: torch.Tensor) -> torch.Tensor:
        rows = rows[clock[rows].argsort(descending=True)]
        hazard = network(x[rows])[:, 0]
        return (hazard.logcumsumexp(dim=0) - hazard)[died[rows]].mean()

    fit(network.parameters(), loss, len(x), material.steps, rng)
    return Trained(network, material.held)


class Variational(torch.nn.Module):
    """An encoder to the mean and width of one latent, and a decoder of a sample of it."""

    def __init__(self, encoder: torch.nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = torch.nn.Sequential(
            torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, len(TIMES))
        )

    def forward(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The record, and mean and logarithmic variance of the latent."""
        code = self.encoder(inputs)
        mean, variance = code[:, :1], code[:, 1:]
        sample = mean + torch.randn_like(mean) * (variance / 2).exp()
        return self.decoder(sample), code


def variational(material: Material, rng: np.random.Generator) -> Trained:
    """A VAE of one latent, from causes to a record: a response whose middle is the value."""
    network = Variational(perceptron(material.points, outputs=2).float())
    x, y = tensor(material.points), torch.tanh(tensor(material.targets)[:, None] - TIMES)

    def loss(rows: torch.Tensor) -> torch.Tensor:
        record, code = network(x[rows])
        mean, variance = code[:, 0], code[:, 1]
        prior = (mean**2 + variance.exp() - variance - 1).mean() / 2
        return ((record - y[rows]) ** 2).mean() + 1e-3 * prior

    fit(network.parameters(), loss, len(x), material.steps, rng)
    return Trained(network, material.held, "encoder:0")


class Coupling(torch.nn.Module):
    """A conditional RealNVP of two numbers: each is shifted and stretched by the other in turn."""

    def __init__(self, points: np.ndarray) -> None:
        super().__init__()
        wider = np.column_stack([points, np.linspace(-1, 1, len(points))])
        self.parts = torch.nn.ModuleList(perceptron(wider, outputs=2).float() for _ in range(2))

    def log_prob(self, pair: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        """Of a pair, up to a constant."""
        columns, total = list(pair.T), torch.zeros(len(pair))
        for part in self.parts:
            shift, size = part(torch.column_stack([inputs, columns[1]])).T
            columns, total = [columns[1], (columns[0] - shift) * size.exp()], total + size
        return total - (columns[0] ** 2 + columns[1] ** 2) / 2

    def sample(self, noise: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        """The pair of a noise."""
        columns = list(noise.T)
        for part in reversed(list(self.parts)):
            shift, size = part(torch.column_stack([inputs, columns[0]])).T
            columns = [columns[1] * (-size).exp() + shift, columns[0]]
        return torch.column_stack(columns)


def flow(material: Material, rng: np.random.Generator) -> Trained:
    """A normalising flow of two measurements, read where its noise is none."""
    network = Coupling(material.points)
    first, second = rng.normal(size=(2, len(material.targets)))
    one = material.targets + 0.05 * first
    x, pair = tensor(material.points), tensor(np.column_stack([one, 0.5 * one + 0.05 * second]))
    fit(
        network.parameters(), lambda rows: -network.log_prob(pair[rows], x[rows]).mean(), len(x),
        material.steps, rng,
    )  # fmt: skip
    return Trained(
        network, material.held,
        lambda flow, inputs: flow.sample(inputs.new_zeros(len(inputs), 2), inputs)[:, 0],
    )  # fmt: skip
