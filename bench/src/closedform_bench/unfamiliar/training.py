"""The loop that all torch networks of this room share."""

from collections.abc import Callable, Iterable

import numpy as np
import torch

from closedform.arrays import FloatArray

BATCH = 250


def tensor(array: FloatArray) -> torch.Tensor:
    """In single precision, as most networks are trained."""
    return torch.as_tensor(array, dtype=torch.float32)


def fit(
    parameters: Iterable[torch.nn.Parameter],
    loss: Callable[[torch.Tensor], torch.Tensor],
    count: int,
    steps: int,
    rng: np.random.Generator,
    *,
    batch: int = BATCH,
) -> None:
    """Lower a loss of batches of row numbers, with one cycle of the learning rate."""
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    optimiser = torch.optim.AdamW(list(parameters), lr=3e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps + 1)
    batches: list[torch.Tensor] = []
    for _ in range(steps):
        batches = batches or list(torch.randperm(count, generator=generator).split(batch))
        optimiser.zero_grad()
        loss(batches.pop()).backward()
        optimiser.step()
        schedule.step()
