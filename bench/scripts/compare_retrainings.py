"""How often `closedform.compare` flags a coefficient that moved by 5%, and one that did not.

``python bench/scripts/compare_retrainings.py --count 10``: a network is trained on
exp((x**2 + 1.3*v)/2), retrained with other seeds on the same target, and on one with 1.05 times the
coefficient.
"""

import argparse
import json

import numpy as np
import torch

import closedform as cf


def train(coefficient: float, seed: int, steps: int) -> torch.nn.Module:
    """A small network with tanh, in full batches, from its own seed for weights and data."""
    torch.manual_seed(seed)
    points = torch.rand(1000, 2) * 2 - 1
    targets = torch.exp((points[:, :1] ** 2 + coefficient * points[:, 1:]) / 2)
    network = torch.nn.Sequential(
        torch.nn.Linear(2, 24), torch.nn.Tanh(), torch.nn.Linear(24, 24), torch.nn.Tanh(),
        torch.nn.Linear(24, 1),
    )  # fmt: skip
    optimiser = torch.optim.Adam(network.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        optimiser.zero_grad()
        ((network(points) - targets) ** 2).mean().backward()
        optimiser.step()
        schedule.step()
    return network


def main() -> None:
    """Print one line for each retraining, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--factors", type=float, nargs="+", default=[1.0, 1.05])
    options = parser.parse_args()
    points = np.random.default_rng(1).uniform(-1, 1, (600, 2)).astype(np.float32)
    first = train(1.3, 0, options.steps)
    flagged = dict.fromkeys(options.factors, 0)
    for factor in flagged:
        for seed in range(1, options.count + 1):
            second = train(1.3 * factor, seed, options.steps)
            found = cf.compare(
                first,
                second,
                points,
                "4",
                names=["x", "v"],
                effort=cf.Effort(terms=400, evaluations=0),
            )
            (change,) = found.changes
            flagged[factor] += change.status != "kept"
            shifts = [
                (shift.term, round(shift.first, 4), round(shift.second, 4), round(shift.errors, 2))
                for shift in change.shifts
            ]
            print(factor, seed, change.status, shifts or (change.first, change.second), flush=True)
    print(json.dumps({"of": options.count, "flagged": flagged}))


if __name__ == "__main__":
    main()
