"""Small Siamese networks on four of the paper's data sets, for benchmarks of the extraction.

Not the paper's sizes: 20,000 triplets, two hidden layers of 128, 60 epochs; up to a minute and a half each on one core.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.integrate import solve_ivp

Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]

MATRIX_2 = ("A11", "A12", "A21", "A22")
MATRIX_3 = tuple(f"A{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
TRUTHS = {
    2: ("A11*A22 - A12*A21", MATRIX_2),
    4: ("A12*A21 + A13*A31 + A23*A32", MATRIX_3),
    8: ("v**2/2 + x**2/2 + x**4/4", ("x", "v")),
    12: ("t**2 - x**2 - y**2 - z**2", ("t", "x", "y", "z")),
}
"""What each network should have learned; only for judging, never seen by extraction. Of the forms that agree on antisymmetric
matrices, 4 has the one that the paper retrieved, which is also kindest to a comparison without tangent space."""


def fixed_trace(rng: np.random.Generator, n: int) -> Triplets:
    """Experiment 2: matrices with trace 5 under similarity; ill-conditioned transformations are drawn again."""

    def draw() -> np.ndarray:
        matrices = rng.uniform(-4, 4, (n, 2, 2))
        shift = (5 - np.trace(matrices, axis1=1, axis2=2)) / 2
        return matrices + shift[:, None, None] * np.eye(2)

    anchor, change = draw(), rng.uniform(-4, 4, (n, 2, 2))
    while (bad := np.linalg.cond(change) > 50).any():
        change[bad] = rng.uniform(-4, 4, (bad.sum(), 2, 2))
    positive = change @ anchor @ np.linalg.inv(change)
    return anchor.reshape(n, -1), positive.reshape(n, -1), draw().reshape(n, -1)


def antisymmetric(rng: np.random.Generator, n: int) -> Triplets:
    """Experiment 4: antisymmetric 3x3 matrices under rotations, as nine inputs."""

    def draw() -> np.ndarray:
        upper = np.triu(rng.normal(size=(n, 3, 3)), 1)
        return upper - np.swapaxes(upper, 1, 2)

    anchor, rotation = draw(), np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    positive = rotation @ anchor @ np.swapaxes(rotation, 1, 2)
    return anchor.reshape(n, -1), positive.reshape(n, -1), draw().reshape(n, -1)


def quartic_potential(rng: np.random.Generator, n: int) -> Triplets:
    """Experiment 8: two points of one trajectory in V = x^2/2 + x^4/4, and one of another."""
    start = rng.uniform(0, 1, (2 * n, 2))

    def motion(_: float, state: np.ndarray) -> np.ndarray:
        x, v = state.reshape(2, -1)
        return np.concatenate([v, -x - x**3])

    times = np.linspace(0, 5, 501)
    path = solve_ivp(motion, (0, 5), start.T.ravel(), t_eval=times, rtol=1e-8, atol=1e-8).y.reshape(2, 2 * n, -1)
    first, second = (path[:, np.arange(2 * n), rng.integers(0, 501, 2 * n)].T for _ in range(2))
    return first[:n], second[:n], first[n:]


def spacetime(rng: np.random.Generator, n: int) -> Triplets:
    """Experiment 12: events under Lorentz transformations: a rotation, a boost along x, another rotation."""

    def rotations() -> np.ndarray:
        matrices = np.tile(np.eye(4), (n, 1, 1))
        matrices[:, 1:, 1:] = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
        return matrices

    speed = rng.uniform(0, 0.95, n)
    gamma = 1 / np.sqrt(1 - speed**2)
    boost = np.tile(np.eye(4), (n, 1, 1))
    boost[:, 0, 0] = boost[:, 1, 1] = gamma
    boost[:, 0, 1] = boost[:, 1, 0] = -gamma * speed
    anchor = rng.uniform(0, 1, (n, 4))
    return anchor, np.einsum("nij,nj->ni", rotations() @ boost @ rotations(), anchor), rng.uniform(0, 1, (n, 4))


GENERATORS: dict[int, Callable[[np.random.Generator, int], Triplets]] = {
    2: fixed_trace,
    4: antisymmetric,
    8: quartic_potential,
    12: spacetime,
}


def train(experiment: int, activation: str, seed: int, *, n: int = 20_000, epochs: int = 60) -> tuple[Any, np.ndarray]:
    """Train a network; returns it with 4,000 fresh anchors."""
    rng = np.random.default_rng([seed, experiment])
    triplets = GENERATORS[experiment](rng, n)
    data = torch.tensor(np.stack(triplets), dtype=torch.float32)
    data = data[:, (data.abs() < 50).all(2).all(0)]
    torch.manual_seed(seed)
    layer = {"elu": torch.nn.ELU, "relu": torch.nn.ReLU}[activation]
    width, n_inputs, count = 128, data.shape[2], data.shape[1]
    model = torch.nn.Sequential(
        torch.nn.Linear(n_inputs, width), layer(), torch.nn.Linear(width, width), layer(), torch.nn.Linear(width, 1)
    )
    optimizer = torch.optim.Adam(model.parameters(), 2e-3, weight_decay=1e-4)
    steps = count // 256
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=epochs * steps)
    for _ in range(epochs):
        order = torch.randperm(count)
        for step in range(steps):
            batch = data[:, order[step * 256 : (step + 1) * 256]]
            a, p, f = model(batch.reshape(-1, n_inputs)).reshape(3, -1)
            loss = torch.relu((a - p) ** 2 - (a - f) ** 2 + 1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return model, GENERATORS[experiment](np.random.default_rng([seed, experiment, 1]), 4000)[0]
