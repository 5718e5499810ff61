"""Spins of the Ising model by Monte Carlo, and networks trained on them."""

from typing import Any

import numpy as np
import torch

CRITICAL = 2 / np.log(1 + np.sqrt(2))
"""Temperature of the transition on the square lattice, in units of the coupling."""

COLDEST, HOTTEST = 1.5, 3.5
"""About as far below the transition as above it."""


def sample(count: int, size: int, rng: np.random.Generator, sweeps: int = 300) -> tuple[Any, Any]:
    """Configurations and their temperatures: one Markov chain for each, Metropolis on a
    checkerboard, started ordered (of either sign), where the dynamics are fast at all temperatures.

    Returns spins (count, size, size) of -1 and 1, and temperatures (count,).
    """
    temperatures = rng.uniform(COLDEST, HOTTEST, count)
    spins = np.ones((count, size, size), dtype=np.float32)
    spins *= rng.choice([-1.0, 1.0], count).astype(np.float32)[:, None, None]
    rows, columns = np.indices((size, size))
    colours = [(rows + columns) % 2 == parity for parity in (0, 1)]
    beta = (1 / temperatures).astype(np.float32)[:, None, None]
    for _ in range(sweeps):
        for colour in colours:
            around = sum(np.roll(spins, step, axis) for axis in (1, 2) for step in (-1, 1))
            chance = np.exp(-2 * beta * spins * around)
            flip = colour & (rng.random(spins.shape, dtype=np.float32) < chance)
            spins = np.where(flip, -spins, spins)
    return spins, temperatures


def energy(spins: np.ndarray) -> np.ndarray:
    """Energy per site."""
    bonds = spins * (np.roll(spins, 1, 1) + np.roll(spins, 1, 2))
    return -bonds.mean(axis=(1, 2))


def network(kind: str, size: int, width: int = 16) -> torch.nn.Module:
    """A small network from (n, size * size) to (n, 1).

    kind: 'dense'; 'conv', a convolution whose stride and padding with zeros break the lattice's
        symmetry, and a dense layer over all its places; 'patches', the same without a function
        between them; or 'ring', one that keeps the symmetry, and a mean over places.
    """
    if kind == "dense":
        first: list[torch.nn.Module] = [torch.nn.Linear(size**2, width)]
        return torch.nn.Sequential(*first, torch.nn.Tanh(), torch.nn.Linear(width, 1))
    square = torch.nn.Unflatten(1, (1, size, size))
    if kind in ("conv", "patches"):
        places = 4 * ((size + 1) // 2) ** 2
        between = torch.nn.Tanh() if kind == "conv" else torch.nn.Identity()
        return torch.nn.Sequential(
            square, torch.nn.Conv2d(1, 4, 3, stride=2, padding=1), between, torch.nn.Flatten(),
            torch.nn.Linear(places, width), torch.nn.Tanh(), torch.nn.Linear(width, 1),
        )  # fmt: skip
    return torch.nn.Sequential(
        square, torch.nn.Conv2d(1, 24, 3, padding=1, padding_mode="circular"), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(24, 1),
    )  # fmt: skip


def train(
    model: torch.nn.Module,
    inputs: np.ndarray,
    targets: np.ndarray,
    loss: Any,
    *,
    epochs: int,
    decay: float = 0.0,
    rate: float = 3e-3,
    batch: int = 100,
    seed: int = 0,
) -> float:
    """Train by Adam with a falling rate, a penalty on squared weights, and samples that are moved
    at random; returns the loss on the last tenth, which is held out.
    """
    torch.manual_seed(seed)
    count = len(inputs) * 9 // 10
    x = torch.as_tensor(inputs, dtype=torch.float32)
    y = torch.as_tensor(targets, dtype=torch.float32)[:, None]
    steps = epochs * -(-count // batch)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps)
    for _ in range(epochs):
        for rows in torch.randperm(count).split(batch):
            optimiser.zero_grad()
            loss(model(moved(x[rows])), y[rows]).backward()
            optimiser.step()
            schedule.step()
    with torch.no_grad():
        return float(loss(model(x[count:]), y[count:]))


def moved(spins: torch.Tensor) -> torch.Tensor:
    """A batch (n, size * size) after a shift along the lattice, and with all spins turned in half
    of the cases: as likely as before.
    """
    size = round(spins.shape[1] ** 0.5)
    shift = tuple(torch.randint(0, size, (2,)).tolist())
    sign = 1 - 2 * torch.randint(0, 2, (len(spins), 1))
    return sign * torch.roll(spins.view(-1, size, size), shift, (1, 2)).flatten(1)
