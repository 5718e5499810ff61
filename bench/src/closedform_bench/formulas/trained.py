"""Small networks trained on a formula in a few seconds, and their fields."""

from collections.abc import Sequence

import numpy as np
import torch

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform_bench.formulas.problem import Problem

HIDDEN, N_TRAINING, EPOCHS, BATCH = 64, 8000, 60, 250
N_READ = 1500
"""Points at which a network's gradient is read."""

CARRIED = 5e-3
"""A network that is misaligned to the truth by at most this has learned it."""


def network_field(problem: Problem, rng: np.random.Generator) -> cf.GradientField:
    """Train two hidden layers of SiLU on the formula's values, and take the gradients of the
    output.
    """
    points = problem.points(N_TRAINING, rng)
    return trained_field(
        points, problem.formula()(points), problem.points(N_READ, rng), problem.names, rng
    )


def trained_field(
    points: np.ndarray,
    values: np.ndarray,
    held: np.ndarray,
    names: Sequence[str],
    rng: np.random.Generator,
) -> cf.GradientField:
    """Train such a network on values at points, and take its gradients at others."""
    centre, spread = points.mean(axis=0), points.std(axis=0)
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    network = _train((points - centre) / spread, (values - values.mean()) / values.std(), generator)
    inputs = torch.tensor((held - centre) / spread, dtype=torch.float32, requires_grad=True)
    outputs = network(inputs)
    outputs.sum().backward()
    assert inputs.grad is not None
    return cf.GradientField.from_arrays(
        held,
        inputs.grad.double().numpy() / spread,
        latents=outputs.detach().double().numpy()[:, 0],
        names=names,
        tangent="none",
    )


def carried(problem: Problem, field: cf.GradientField) -> float:
    """How far the network's directions are from the truth's."""
    return float(field_misalignment(problem.formula(), field).mean())


def _train(inputs: np.ndarray, targets: np.ndarray, generator: torch.Generator) -> torch.nn.Module:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # layers of 64 gain nothing from more, and lose on a busy machine
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(generator.initial_seed()) % 2**31)
            network = torch.nn.Sequential(
                torch.nn.Linear(inputs.shape[1], HIDDEN), torch.nn.SiLU(),
                torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.SiLU(), torch.nn.Linear(HIDDEN, 1),
            )  # fmt: skip
        x, y = (torch.tensor(array, dtype=torch.float32) for array in (inputs, targets[:, None]))
        optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=0.0)
        steps = EPOCHS * (len(x) // BATCH)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps)
        for _ in range(EPOCHS):
            for batch in torch.randperm(len(x), generator=generator).split(BATCH):
                optimiser.zero_grad()
                ((network(x[batch]) - y[batch]) ** 2).mean().backward()
                optimiser.step()
                schedule.step()
    finally:
        torch.set_num_threads(threads)
    return network.eval()
