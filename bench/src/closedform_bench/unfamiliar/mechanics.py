"""Networks behind a physical structure: messages, energies, fields of an equation."""

import numpy as np
import torch

from closedform_bench.new_user.training import perceptron
from closedform_bench.unfamiliar.material import Material, Trained
from closedform_bench.unfamiliar.training import fit, tensor

N_NODES = 4


class Graph(torch.nn.Module):
    """Every node adds up messages of the others, and updates the sum."""

    def __init__(self, message: torch.nn.Module) -> None:
        super().__init__()
        self.message = message
        self.update = torch.nn.Sequential(
            torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)
        )

    def forward(self, sent: torch.Tensor, received: torch.Tensor) -> torch.Tensor:
        """From what nodes send and how they receive (graphs, nodes, features) to a number each."""
        return self.update(self.message(couples(sent, received)).sum(dim=2))


def couples(sent: torch.Tensor, received: torch.Tensor) -> torch.Tensor:
    """Inputs of the messages, shape (graphs, receiving node, other nodes, features)."""
    nodes = range(sent.shape[1])
    rows = []
    for node in nodes:
        others = sent[:, [other for other in nodes if other != node]]
        own = received[:, node, None].expand(-1, len(nodes) - 1, -1)
        rows.append(torch.cat([others, own], dim=2))
    return torch.stack(rows, dim=1)


def graph(material: Material, rng: np.random.Generator) -> Trained:
    """A graph network that sees sums over neighbours, read in its message."""
    assert material.function is not None
    network = Graph(perceptron(material.points).float())
    cut = len(material.names) // 2
    nodes = material.points[: len(material.points) // N_NODES * N_NODES]
    sent, received = (
        torch.as_tensor(nodes[:, part].reshape(-1, N_NODES, nodes[:, part].shape[1]))
        for part in (np.s_[:cut], np.s_[cut:])
    )
    pairs = couples(sent, received)
    values = material.function(pairs.reshape(-1, pairs.shape[-1]).numpy())
    sums = values.reshape(pairs.shape[:-1]).sum(axis=2)
    y, a, b = tensor(sums / sums.std())[..., None], sent.float(), received.float()
    fit(
        network.parameters(), lambda rows: ((network(a[rows], b[rows]) - y[rows]) ** 2).mean(),
        len(a), material.steps, rng, batch=60,
    )  # fmt: skip
    return Trained(network.message, material.held)


def hamiltonian(material: Material, rng: np.random.Generator) -> Trained:
    """An energy whose derivatives are trained to be a motion; the first half are positions."""
    assert material.slopes is not None
    network, half = perceptron(material.points).float(), len(material.names) // 2
    spread = material.points.std(axis=0)
    slopes = material.slopes(material.points) * spread
    slopes /= np.sqrt((slopes**2).mean())
    x, sizes = tensor(material.points), tensor(spread)
    motion = tensor(np.column_stack([slopes[:, half:], -slopes[:, :half]]))

    def loss(rows: torch.Tensor) -> torch.Tensor:
        steep = _gradient(network, x[rows]) * sizes
        return ((torch.cat([steep[:, half:], -steep[:, :half]], dim=1) - motion[rows]) ** 2).mean()

    fit(network.parameters(), loss, len(x), material.steps, rng)
    return Trained(network, material.held)


def informed(material: Material, rng: np.random.Generator) -> Trained:
    """A PINN: the field of a transport equation with a source, and values on the boundary alone."""
    assert material.slopes is not None
    assert material.function is not None
    network, points = perceptron(material.points).float(), material.points
    spread, walls = points.std(axis=0), points.copy()
    sides = rng.integers(points.shape[1], size=len(points))
    ends = np.where(
        rng.random(len(points)) < 0.5, points.min(axis=0)[sides], points.max(axis=0)[sides]
    )
    walls[np.arange(len(points)), sides] = ends
    source = tensor((material.slopes(points) * spread).sum(axis=1))
    x, wall, known = tensor(points), tensor(walls), tensor(material.function(walls))[:, None]
    sizes = tensor(spread)

    def loss(rows: torch.Tensor) -> torch.Tensor:
        residual = (_gradient(network, x[rows]) * sizes).sum(dim=1) - source[rows]
        return (residual**2).mean() + 10 * ((network(wall[rows]) - known[rows]) ** 2).mean()

    fit(network.parameters(), loss, len(x), material.steps, rng)
    return Trained(network, material.held)


def _gradient(network: torch.nn.Module, inputs: torch.Tensor) -> torch.Tensor:
    inputs = inputs.detach().requires_grad_()
    return torch.autograd.grad(network(inputs).sum(), inputs, create_graph=True)[0]
