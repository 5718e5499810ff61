"""A layer for sweeps: known concepts, functions of them, dead neurons, and neurons whose directions
are noise.

`make` is a builder for model files: ``closedform sweep net.safetensors data.npz --builder
sweep_layer:make --layer units``. The shares are fixed and the order is mixed by a seed, so that
`kinds` can say what each neuron is.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

NAMES = ("x", "y", "z")
TERMS = ("x", "y", "z", "x**2", "y**2", "z**2", "x*y", "x*z", "y*z")
SHARES = {"concept": 0.10, "same": 0.45, "dead": 0.40, "noise": 0.05}
"""What a layer is made of; `same` are functions of concepts."""

MAPS = ("3*g + g**3", "-g", "tanh(g/4)", "exp(g/4)")


@dataclass(frozen=True)
class Kinds:
    """What each neuron is: its kind, the concept behind it, and what is done with that."""

    kind: list[str]
    coefficients: np.ndarray
    map: np.ndarray

    def formula(self, neuron: int) -> str:
        """The concept of a neuron."""
        column = self.coefficients[:, neuron]
        return " + ".join(f"({c:g})*{term}" for c, term in zip(column, TERMS, strict=True) if c)


def kinds(count: int, seed: int = 0) -> Kinds:
    """The neurons of a layer of this size."""
    rng = np.random.default_rng(seed)
    numbers = {kind: round(share * count) for kind, share in SHARES.items()}
    numbers["same"] += count - sum(numbers.values())
    names = np.array([kind for kind, number in numbers.items() for _ in range(number)])
    coefficients = np.zeros((len(TERMS), count))
    for column in range(numbers["concept"]):
        chosen = rng.choice(len(TERMS), size=rng.integers(2, 4), replace=False)
        # Not linear alone: every neuron has a concept of two inputs at least.
        chosen[0] = rng.integers(3, len(TERMS))
        coefficients[np.unique(chosen), column] = rng.choice(
            [1.0, 2.0, 3.0, -1.0, -2.0], size=len(np.unique(chosen))
        )
    for column in range(numbers["concept"], count):
        coefficients[:, column] = coefficients[:, rng.integers(numbers["concept"])]
    maps = np.where(names == "same", rng.integers(len(MAPS), size=count), -1)
    order = rng.permutation(count)
    return Kinds(names[order].tolist(), coefficients[:, order], maps[order])


class Units(torch.nn.Module):
    """The layer."""

    def __init__(self, count: int) -> None:
        super().__init__()
        chosen = kinds(count)
        rng = np.random.default_rng(1)
        self.coefficients = _fixed(chosen.coefficients)
        self.frequencies, self.phases = (
            _fixed(rng.uniform(500, 1500, (3, count))),
            _fixed(rng.uniform(0, 6, (3, count))),
        )
        self.map = _fixed(chosen.map)
        self.is_dead = _fixed(np.array([kind == "dead" for kind in chosen.kind]))
        self.is_noise = _fixed(np.array([kind == "noise" for kind in chosen.kind]))

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        """Values of all neurons."""
        x, y, z = points.unbind(dim=1)
        monomials = torch.stack([x, y, z, x * x, y * y, z * z, x * y, x * z, y * z], dim=1)
        g = monomials @ self.coefficients.to(points.dtype)
        value = g
        for place, mapped in enumerate((3 * g + g**3, -g, torch.tanh(g / 4), torch.exp(g / 4))):
            value = torch.where(self.map == place, mapped, value)
        value = torch.where(self.is_dead, torch.relu(g - 100), value)
        waves = torch.cos(
            points[:, :, None] * self.frequencies.to(points.dtype) + self.phases.to(points.dtype)
        ).sum(dim=1)
        return torch.where(self.is_noise, waves, value)


def _fixed(values: np.ndarray) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.tensor(values).contiguous(), requires_grad=False)


class Network(torch.nn.Module):
    """A network around the layer."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.units = Units(count)
        self.out = torch.nn.Linear(count, 1)

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        """One output."""
        return self.out(self.units(points).to(self.out.weight.dtype))


def make(path: Path) -> Network:
    """The network of a file that `write` has written; its size is in the file's name."""
    return Network(int(Path(path).stem.split("-")[1]))


def write(folder: Path, count: int) -> tuple[Path, Path]:
    """A model file and a data file."""
    from safetensors.torch import save_file

    torch.manual_seed(0)
    model, data = folder / f"net-{count}.safetensors", folder / "data.npz"
    save_file(Network(count).double().state_dict(), model)
    inputs = np.random.default_rng(2).uniform(-1, 1, (1000, 3))
    np.savez(data, inputs=inputs, names=np.array(NAMES))
    return model, data
