"""Small networks trained on a formula in a few seconds, and their fields."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

import closedform as cf
from closedform.arrays import FloatArray
from closedform.field.alignment.comparison import field_misalignment
from closedform_bench.formulas.problem import Problem

HIDDEN, N_TRAINING, EPOCHS, BATCH = 64, 8000, 60, 250
N_READ = 1500
"""Points at which a network's gradient is read."""

CARRIED = 5e-3
"""A network that is misaligned to the truth by at most this has learned it."""

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {
    "silu": torch.nn.SiLU, "gelu": torch.nn.GELU, "tanh": torch.nn.Tanh, "relu": torch.nn.ReLU,
}  # fmt: skip

PHIS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "g": np.positive, "tanh(g)": np.tanh, "asinh(g)": np.arcsinh, "exp(g)": np.exp,
}  # fmt: skip
"""What a network may learn instead of a formula: functions of its standardised values."""


def network_field(problem: Problem, rng: np.random.Generator) -> cf.GradientField:
    """Train two hidden layers of SiLU on the formula's values, and take the gradients of the
    output.
    """
    points = problem.points(N_TRAINING, rng)
    return trained_field(
        points, problem.formula()(points), problem.points(N_READ, rng), problem.names, rng
    )


def varied_network_field(
    problem: Problem, rng: np.random.Generator
) -> tuple[cf.GradientField, str]:
    """The same with an activation and a function phi of the formula that are drawn, and their
    names.
    """
    activation, phi = str(rng.choice(list(ACTIVATIONS))), str(rng.choice(list(PHIS)))
    points = problem.points(N_TRAINING, rng)
    values = problem.formula()(points)
    targets = PHIS[phi]((values - values.mean()) / values.std())
    held = problem.points(N_READ, rng)
    field = trained_field(points, targets, held, problem.names, rng, activation=activation)
    return field, f"{activation}, {phi}"


def trained_field(
    points: np.ndarray,
    values: np.ndarray,
    held: np.ndarray,
    names: Sequence[str],
    rng: np.random.Generator,
    *,
    activation: str = "silu",
) -> cf.GradientField:
    """Train such a network on values at points, and take its gradients at others."""
    centre, spread = points.mean(axis=0), points.std(axis=0)
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    network = _train(
        (points - centre) / spread, (values - values.mean()) / values.std(), generator, activation
    )
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


def _train(
    inputs: np.ndarray, targets: np.ndarray, generator: torch.Generator, activation: str
) -> torch.nn.Module:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # layers of 64 gain nothing from more, and lose on a busy machine
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(generator.initial_seed()) % 2**31)
            kind = ACTIVATIONS[activation]
            network = torch.nn.Sequential(
                torch.nn.Linear(inputs.shape[1], HIDDEN), kind(),
                torch.nn.Linear(HIDDEN, HIDDEN), kind(), torch.nn.Linear(HIDDEN, 1),
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
