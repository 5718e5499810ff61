"""A neural ODE that loses 1% of its energy per period: is the loss reported?

``python bench/scripts/neural_ode_drift.py --seeds 10``
"""

import argparse
import time

import numpy as np
import torch

import closedform as cf
from closedform.searching.budget import processor_seconds

LOSS = 0.01
PERIOD = 2 * np.pi


def train(seed: int) -> torch.nn.Module:
    """A network that has learned the velocities of an oscillator with a little friction."""
    torch.manual_seed(seed)
    points = 4 * torch.rand(800, 2, dtype=torch.float64) - 2
    friction = -np.log(1 - LOSS) / PERIOD
    velocities = torch.stack([points[:, 1], -points[:, 0] - friction * points[:, 1]], dim=1)
    module = torch.nn.Sequential(
        torch.nn.Linear(2, 24), torch.nn.Tanh(), torch.nn.Linear(24, 2)
    ).double()
    optimiser = torch.optim.LBFGS(
        module.parameters(),
        max_iter=1200,
        max_eval=1500,
        tolerance_grad=1e-10,
        tolerance_change=1e-14,
        history_size=60,
        line_search_fn="strong_wolfe",
    )

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        error = ((module(points) - velocities) ** 2).mean()
        error.backward()
        return error

    optimiser.step(loss)
    return module


def main() -> None:
    """Train, follow, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    torch.set_num_threads(1)
    right = 0
    count = parser.parse_args().seeds
    for seed in range(count):
        start = time.process_time()
        module = train(seed)
        points = np.random.default_rng(seed).uniform(-1.4, 1.4, (400, 2))
        with processor_seconds():
            found = cf.conserved(
                module,
                points,
                names=["x", "v"],
                horizon=PERIOD,
                budget=20,
                rng=seed,
                space=cf.SearchSpace(operators=["add", "sub", "mul", "pow"], max_degree=2),
                engine="terms",
                progress=False,
            )
        law = found.laws[0] if found.laws else None
        drift = None if law is None else law.drift
        ratio = np.inf if drift is None else drift.total / (-100 * LOSS)
        right += 1 / 1.5 <= ratio <= 1.5
        spent = time.process_time() - start
        text = "-" if law is None else f"{law.verdict.status}  {law.concept}  {law.drift}"
        print(f"seed {seed}: {ratio:.3g} of the planted drift  {text}  {spent:.1f} s", flush=True)
    print(f"{right} of {count} within a factor of 1.5")


if __name__ == "__main__":
    main()
