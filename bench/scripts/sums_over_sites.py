"""Formulas of one or two sums over alike inputs, drawn by a seed: how many are read, exactly, with
noise of one degree and from networks; and what is not such a formula, and must not be read so.

    python bench/scripts/sums_over_sites.py exact --count 40 --seed 1
    python bench/scripts/sums_over_sites.py noise|networks|controls --count 40 --seed 1
    python bench/scripts/sums_over_sites.py time --seed 1
"""

import argparse
import time

import numpy as np

import closedform as cf
from closedform.searching.budget import processor_seconds
from closedform_bench.alike.drawn_sums import Drawn, control, draw, field_of, is_right, stated

BUDGET = 10.0
"""Processor seconds for a reading, after compilation."""


def main() -> None:
    """Read them all, a line for each."""
    options = argparse.ArgumentParser()
    options.add_argument("track", choices=["exact", "noise", "networks", "controls", "time"])
    options.add_argument("--count", type=int, default=40)
    options.add_argument("--seed", type=int, required=True)
    chosen = options.parse_args()
    if chosen.track == "time":
        time_by_sites(np.random.default_rng(chosen.seed))
        return
    right, claimed, false = 0, 0, 0
    for number in range(chosen.count):
        rng = np.random.default_rng([chosen.seed, number])
        start = time.process_time()
        if chosen.track == "controls":
            field, group, truth = control(rng)
            answer = read(field, group)
            fine = answer.verdict.status != "verified"
        else:
            drawn = draw(rng)
            truth = str(drawn.truth)
            answer = (
                from_network(drawn, rng)
                if chosen.track == "networks"
                else read(field_of(drawn, float(chosen.track == "noise"), rng), drawn.group)
            )
            fine = is_right(drawn, answer)
        right += fine
        verified = answer.verdict.status == "verified"
        claimed += verified
        false += verified and not fine
        took = time.process_time() - start
        mark = "right" if fine else "WRONG"
        print(
            f"{number:3} {mark} {answer.verdict.status:11} {len(answer.names):3} sites "
            f"{took:5.1f} s  {truth}  ->  {answer.concept}",
            flush=True,
        )
    print(
        f"{chosen.track} seed {chosen.seed}: {right} of {chosen.count} right, {claimed} verified, "
        f"{false} of these wrong"
    )


def time_by_sites(rng: np.random.Generator) -> None:
    """Processor seconds to read one formula over more and more sites; the first compiles."""
    for sites in (100, 100, 200, 400, 800, 1600):
        drawn = stated("sum(s[i]**2)*sum(cos(s[i]))", sites, rng)
        field = field_of(drawn, 0.0, rng)
        start = time.process_time()
        answer = read(field, drawn.group)
        took = time.process_time() - start
        print(f"{sites:5} sites {took:5.1f} s  {answer.verdict.status}  {answer.concept}")


def read(field: cf.GradientField, group: cf.Group) -> cf.Interpretation:
    """One reading."""
    with processor_seconds():
        return cf.interpret_field(field, groups={"s": group}, rng=0, budget=BUDGET, progress=False)


def from_network(drawn: Drawn, rng: np.random.Generator) -> cf.Interpretation:
    """Train a small network on the formula, one that takes its inputs as a set or along the ring,
    and read it.
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(int(rng.integers(2**31)))
    values = drawn.truth(drawn.points)
    centre, spread = np.median(values), np.subtract(*np.quantile(values, [0.9, 0.1]))
    targets = torch.as_tensor(np.tanh((values - centre) / spread)[:, None], dtype=torch.float32)
    inputs = torch.as_tensor(drawn.points, dtype=torch.float32)
    # Each input with its neighbour, the same layers for all, a mean, and layers after it.
    network = torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, -1)),
        torch.nn.Conv1d(1, 24, 2, padding=1, padding_mode="circular"),
        torch.nn.SiLU(),
        torch.nn.Conv1d(24, 16, 1),
        torch.nn.SiLU(),
        torch.nn.AdaptiveAvgPool1d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(16, 24),
        torch.nn.SiLU(),
        torch.nn.Linear(24, 1),
    )
    epochs = 200
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    steps = epochs * -(-len(inputs) // 100)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1e-2, total_steps=steps)
    for _ in range(epochs):
        for rows in torch.randperm(len(inputs)).split(100):
            optimiser.zero_grad()
            torch.nn.functional.mse_loss(network(inputs[rows]), targets[rows]).backward()
            optimiser.step()
            schedule.step()
    with torch.no_grad():
        left = float(torch.nn.functional.mse_loss(network(inputs), targets) / targets.var())
    print(f"    the network leaves {left:.2g} of the variance")
    with processor_seconds():
        return cf.interpret(
            network, inputs, "output:0", groups={"s": drawn.group}, rng=0, budget=BUDGET,
            progress=False,
        )  # fmt: skip


if __name__ == "__main__":
    main()
