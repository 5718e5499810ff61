"""Networks on the Ising model: classifiers of the phase and regressions of the energy, trained on
Monte Carlo samples and read as formulas of sums over the lattice.

    python bench/scripts/ising_networks.py phase --size 10 --kind dense --count 10 --seed 1
    python bench/scripts/ising_networks.py energy --size 16 --kind ring --samples 1000 \
        --epochs 100 --count 10 --seed 1
"""

import argparse
import time

import numpy as np
import torch

import closedform as cf
from closedform.searching.budget import processor_seconds
from closedform_bench.alike.ising import CRITICAL, energy, network, sample, train

MAGNETISATION = ("sum(s[i])**2", "abs(sum(s[i]))", "-sum(s[i])**2", "sum(s[i])**4")
NEIGHBOURS = ("sum(s[i]*s[j], neighbours)", "-sum(s[i]*s[j], neighbours)")
"""What is right: even in the spins for the phase."""

BUDGET = 20.0
"""Processor seconds for a reading, after compilation."""


def main() -> None:
    """Train and read them all, a line for each."""
    options = argparse.ArgumentParser()
    options.add_argument("task", choices=["phase", "energy"])
    options.add_argument("--size", type=int, default=10)
    options.add_argument("--kind", choices=["dense", "conv", "patches", "ring"], default="dense")
    options.add_argument("--count", type=int, default=10)
    options.add_argument("--seed", type=int, required=True)
    options.add_argument("--samples", type=int, default=4000)
    options.add_argument("--epochs", type=int, default=30)
    options.add_argument("--decay", type=float, default=None)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    right = 0
    for number in range(chosen.count):
        start = time.process_time()
        rng = np.random.default_rng([chosen.seed, number])
        spins, temperatures = sample(chosen.samples, chosen.size, rng, sweeps=200)
        inputs = spins.reshape(len(spins), -1)
        seed = int(rng.integers(2**31))
        torch.manual_seed(seed)
        model = network(chosen.kind, chosen.size)
        is_phase = chosen.task == "phase"
        targets = (temperatures < CRITICAL) if is_phase else energy(spins)
        loss = (
            torch.nn.functional.binary_cross_entropy_with_logits
            if is_phase
            else torch.nn.functional.mse_loss
        )
        usual = 0.03 if is_phase else 0.0
        decay = usual if chosen.decay is None else chosen.decay
        left = train(
            model,
            inputs,
            targets,
            loss,
            epochs=chosen.epochs,
            decay=decay,
            rate=3e-3 if is_phase else 2e-2,
            batch=100 if is_phase else 20,
            seed=seed,
        )
        trained = time.process_time() - start
        group = cf.Group(range(chosen.size**2), shape=(chosen.size, chosen.size))
        with processor_seconds():
            answer = cf.interpret(
                model, inputs, "output:0", groups={"s": group}, rng=0, budget=BUDGET, progress=False
            )
        took = time.process_time() - start - trained
        wanted = MAGNETISATION if is_phase else NEIGHBOURS
        fine = answer.verdict.status == "verified" and str(answer.concept) in wanted
        right += fine
        told = answer.field_quality.finding("averaged-over-groups")
        broken = 0.0 if told is None else told.data["broken_degrees"]
        r2 = float("nan") if answer.phi is None else answer.phi.r2
        print(
            f"{number:2} {'right' if fine else 'WRONG'} {answer.verdict.status:11} "
            f"{answer.concept}  loss {left:.3g}, broken {broken:.2g} degrees, {r2:.2%} of the "
            f"values, training {trained:.0f} s, reading {took:.0f} s",
            flush=True,
        )
    print(
        f"{chosen.task} {chosen.kind} {chosen.size}x{chosen.size} seed {chosen.seed}: {right} of "
        f"{chosen.count} verified and right"
    )


if __name__ == "__main__":
    main()
