"""Train networks with several latents on pairs that share several invariants, and read them.

``python bench/scripts/several_latents.py --out DIR [--system NAME ...] [--seeds 0 1 2 3 4]
[--budget 40] [--processor]``

Every network and every reading is kept in DIR; started again with the same words, what is there is
not done again.
"""

import argparse
import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from several_systems import SYSTEMS, System

import closedform as cf
from closedform.networks.siamese import SiameseOptions, load_siamese, train_siamese
from closedform.searching.budget import processor_seconds
from closedform_bench.invariants.independence import FUNCTION, count_independent, outside

N_PAIRS, N_POINTS = 20_000, 4000


def options(system: System) -> SiameseOptions:
    """How the networks are trained: about a minute on one core."""
    return SiameseOptions(
        hidden=(128, 128),
        activation="silu",
        weight_decay=0.0,
        latents=system.latents,
        learning_rate=6e-3,
        epochs=system.epochs,
        schedule="cycle",
        standardize=True,
        loss="contrast",
        resolution=system.resolution,
    )


def network(name: str, seed: int, directory: Path) -> torch.nn.Module:
    """The trained network of a system; the distorted copy has that of the plain system below it."""
    system = SYSTEMS[name]
    file = directory / f"{system.same_network_as or name}_{seed}.safetensors"
    if not file.exists():
        rng = np.random.default_rng([seed, 7])
        pairs = system.sampler(N_PAIRS, rng)
        triplets = np.concatenate([pairs, pairs[rng.permutation(N_PAIRS)][:, :1]], axis=1)
        train_siamese(triplets, options(system), rng=seed).save(file)
    module = load_siamese(file)
    return (
        torch.nn.Sequential(module, Distortion(system.latents, seed))
        if system.same_network_as
        else module
    )


class Distortion(torch.nn.Module):
    """A random invertible map: two times a mixture and a monotone distortion of every component."""

    def __init__(self, width: int, seed: int) -> None:
        super().__init__()
        rng = np.random.default_rng([seed, 11])
        mixtures = [
            np.linalg.qr(rng.normal(size=(width, width)))[0] * rng.uniform(0.5, 2, width)
            for _ in range(2)
        ]
        self.mixtures = [torch.tensor(mixture, dtype=torch.float32) for mixture in mixtures]

    def forward(self, latents: torch.Tensor) -> torch.Tensor:
        """Mix and distort."""
        for mixture in self.mixtures:
            latents = latents @ mixture
            latents = latents + 2 * torch.tanh(latents)
        return latents


def read(name: str, seed: int, directory: Path, budget: float) -> dict[str, Any]:
    """Read one network and compare with the invariants."""
    system = SYSTEMS[name]
    module = network(name, seed, directory)
    points = system.sampler(N_POINTS, np.random.default_rng([seed, 8]))[:, 0]
    start = time.perf_counter()
    found = cf.interpret(
        module,
        points,
        list(range(system.latents)),
        names=system.inputs,
        budget=budget,
        rng=seed,
        title=f"{name}, seed {seed}",
    )
    seconds = time.perf_counter() - start
    found.save(directory / f"{name}_{seed}.interpretation.json")
    truths = [cf.parse(text, names=list(system.inputs)) for text in system.invariants]
    concepts = list(found.concepts)
    shares = outside(concepts, truths, points[:500])
    right = [concept for concept, share in zip(concepts, shares, strict=True) if share < FUNCTION]
    return {
        "system": name,
        "seed": seed,
        "rank": found.field_quality.rank,
        "spectrum": list(found.field_quality.spectrum),
        "found": [str(concept) for concept in concepts],
        "verdicts": [part.verdict.status for part in found.parts],
        "joint": found.verdict.status,
        "outside": shares.tolist(),
        "recovered": count_independent(right, points[:500]),
        "of": len(truths),
        "false": len(concepts) - len(right),
        "explained": None if found.together is None else found.together.explained,
        "seconds": round(seconds, 1),
    }


def main() -> None:
    """Read the words on the command line, train and read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, help="directory of networks and readings"
    )
    parser.add_argument("--system", nargs="*", choices=tuple(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--budget", type=float, default=40.0)
    parser.add_argument(
        "--processor",
        action="store_true",
        help="count seconds of the processor: what else runs does not decide",
    )
    words = parser.parse_args()
    torch.set_num_threads(1)
    words.out.mkdir(parents=True, exist_ok=True)
    for seed in words.seeds:
        for name in words.system:
            file = words.out / f"{name}_{seed}.json"
            if not file.exists():
                with processor_seconds() if words.processor else nullcontext():
                    record = read(name, seed, words.out, words.budget)
                file.write_text(json.dumps(record, indent=1) + "\n")
            record = json.loads(file.read_text())
            spectrum = ", ".join(f"{value:.3f}" for value in record["spectrum"])
            print(
                f"{name} {seed}: {record['recovered']} of {record['of']}, {record['false']} "
                f"false, rank {record['rank']} "
                f"({spectrum}), {record['joint']} {record['verdicts']}, {record['seconds']} "
                f"s: {'; '.join(record['found'])}",
                flush=True,
            )


if __name__ == "__main__":
    main()
