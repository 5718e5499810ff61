"""Read networks trained on linear targets, and networks that are nearly linear but follow no
formula: ``python bench/scripts/linear_networks.py --seed 80642``.

Every other target is a sum of inputs as they are; the others have coefficients.
"""

import argparse

import numpy as np

import closedform as cf
from closedform.searching.budget import processor_seconds
from closedform_bench.verdicts.controls import KINDS
from closedform_bench.verdicts.small_networks import train

NAMES = ("x", "y", "z", "u", "w")
PLAIN, WEIGHTED = (1, -1), (1, -1, 2, -2, 3, 0.5)
RANGES = ((-1, 1), (0.5, 1.5), (2, 5), (1, 5))
ACTIVATIONS = ("silu", "tanh", "gelu", "relu")
SECONDS = 10.0


def read(field: cf.GradientField) -> cf.Interpretation:
    """One reading, in processor seconds."""
    with processor_seconds():
        return cf.interpret_field(field, budget=SECONDS, rng=0, progress=False)


def linear(seed: int, number: int) -> tuple[str, cf.GradientField]:
    """A linear target, and the field of a network that was trained on it."""
    rng = np.random.default_rng([seed, number])
    names = list(NAMES[: int(rng.integers(2, 6))])
    weights = rng.choice(PLAIN if number % 2 else WEIGHTED, len(names))
    low, high = RANGES[rng.integers(len(RANGES))]
    truth = " + ".join(f"({weight})*{name}" for weight, name in zip(weights, names, strict=True))
    activation = ACTIVATIONS[rng.integers(len(ACTIVATIONS))]
    points = rng.uniform(low, high, (4000, len(names)))
    network = train(points, cf.parse(truth, names=names)(points), activation, rng)
    return truth, network.field(points[:2000], names)


def main() -> None:
    """Read both kinds, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=16)
    words = parser.parse_args()
    n_verified = n_right = n_false = 0
    for number in range(words.count):
        truth, field = linear(words.seed, number)
        found = read(field)
        is_verified = found.verdict.status == "verified"
        same = cf.same_concept(found.concept or "1", truth, list(field.names), points=field.points)
        n_verified, n_right = n_verified + is_verified, n_right + (is_verified and bool(same))
        print(f"{truth}: {found.concept}, {found.verdict.status}", flush=True)
    for number in range(words.count):
        rng = np.random.default_rng([words.seed, 1000 + number])
        found = read(KINDS["near-linear"]("near-linear", "near-linear", rng).field)
        n_false += found.verdict.status == "verified"
        print(f"nearly linear: {found.concept}, {found.verdict.status}", flush=True)
    print(
        f"linear: {n_verified} of {words.count} verified, {n_right} of them right; nearly linear: "
        f"{n_false} of {words.count} verified"
    )


if __name__ == "__main__":
    main()
