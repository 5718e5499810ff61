"""Formulas put back into trained networks of five kinds: accuracy before and after, saved, loaded
and exported. ``python bench/scripts/replaced_networks.py``
"""

import io

import numpy as np
import torch
from torch import nn

import closedform as cf

POINTS = np.random.default_rng(0).uniform(-1, 1, (1000, 2)).astype(np.float32)
NAMES = ["x", "v"]


def concept(points: torch.Tensor) -> torch.Tensor:
    """What the networks have to find."""
    return points[:, :1] ** 2 + 1.3 * points[:, 1:]


def head(width: int, outputs: int) -> list[nn.Module]:
    """Layers that can be any smooth function."""
    return [nn.Linear(width, 24), nn.Tanh(), nn.Linear(24, outputs)]


def train(network: nn.Module, targets: torch.Tensor, loss: nn.Module, steps: int = 1500) -> None:
    """Adam in full batches."""
    given = torch.tensor(POINTS)
    optimiser = torch.optim.Adam(network.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        optimiser.zero_grad()
        loss(network(given), targets).backward()
        optimiser.step()
        schedule.step()


def show(kind: str, network: nn.Module, neuron: object, targets: torch.Tensor) -> None:
    """Read, replace, save, load, export, and print one line."""
    answer = cf.interpret(
        network, POINTS, neuron, names=NAMES, engine="terms", budget=cf.Budget(evaluations=400),
        rng=0, progress=False,
    )  # fmt: skip
    copy = answer.replace_in(network, POINTS, neuron=neuron, targets=targets.numpy())
    file = io.BytesIO()
    torch.save(copy.state_dict(), file)
    file.seek(0)
    again = answer.replace_in(network, POINTS, neuron=neuron)
    with torch.no_grad():
        for parameter in again.parameters():
            parameter.zero_()
    again.load_state_dict(torch.load(file))
    given = torch.tensor(POINTS)
    program = torch.export.export(
        copy, (given[:8],), dynamic_shapes=(({0: torch.export.Dim("n", min=2)},),)
    )
    is_same = torch.equal(again(given), copy(given))
    is_exported = torch.allclose(program.module()(given), copy(given), atol=1e-6)
    print(f"{kind}: {', '.join(copy.formulas)} ({answer.verdict.status})")
    print(f"  {copy.cost}")
    print(f"  loaded the same: {is_same}; exported the same: {is_exported}", flush=True)


def main() -> None:
    """All five."""
    torch.manual_seed(0)
    given = torch.tensor(POINTS)
    value = torch.exp(concept(given) / 2)

    network = nn.Sequential(*head(2, 1))
    train(network, value, nn.MSELoss())
    show("regression, output", network, "2:0", value)

    network = nn.Sequential(*head(2, 1), *head(1, 3))
    wide = torch.cat([value, torch.tanh(value - 1), value**2 / 2], 1)
    train(network, wide, nn.MSELoss())
    show("autoencoder, bottleneck", network, "2:0", wide)

    network = nn.Sequential(*head(2, 1), *head(1, 3))
    classes = torch.bucketize(concept(given)[:, 0], torch.tensor([-0.3, 0.6]))
    train(network, classes, nn.CrossEntropyLoss())
    show("classifier, hidden neuron", network, "2:0", classes)

    network = nn.Sequential(*head(2, 2), nn.Linear(2, 1))
    train(network, value, nn.MSELoss())
    last = network[3]
    assert isinstance(last, nn.Linear)
    weight = last.weight.detach().numpy()[0]
    show("direction in a layer", network, ("2", weight), value)

    class Convolution(nn.Module):
        """Two positions with shared weights, of which one carries the concept."""

        def __init__(self) -> None:
            super().__init__()
            self.fold = nn.Sequential(*head(2, 6), nn.Unflatten(1, (3, 2)))
            self.mix = nn.Conv1d(3, 1, 2)
            self.head = nn.Sequential(nn.Flatten(), *head(1, 1))

        def forward(self, points: torch.Tensor) -> torch.Tensor:
            """Values (n, 1)."""
            return self.head(self.mix(self.fold(points)))

    convolution = Convolution()
    train(convolution, value, nn.MSELoss())
    show("convolution, one unit", convolution, "mix:0,0", value)


if __name__ == "__main__":
    main()
