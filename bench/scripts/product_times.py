"""Processor seconds that a whole reading takes for products and quotients of two to six inputs.

python bench/scripts/product_times.py
"""

import argparse
import statistics
import time

import numpy as np

import closedform as cf


def main() -> None:
    """Print a row for each number of inputs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    names = [f"x{i}" for i in range(6)]
    read("x0*x1", names[:2], -2.0, 0)  # loads what is compiled
    print("| formula | found | median s | most s |\n|---|---|---|---|")
    for n_inputs in range(2, 7):
        used = names[:n_inputs]
        half = n_inputs // 2
        quotient = f"{'*'.join(used[half:])}/({'*'.join(used[:half])})"
        for truth, low in (("*".join(used), -2.0), (quotient, 0.5)):
            rows = [read(truth, used, low, seed) for seed in range(options.seeds)]
            seconds = [row[1] for row in rows]
            right = sum(row[0] for row in rows)
            print(
                f"| `{truth}` | {right} of {len(rows)} | {statistics.median(seconds):.2f} "
                f"| {max(seconds):.2f} |",
                flush=True,
            )


def read(truth: str, names: list[str], low: float, seed: int) -> tuple[bool, float]:
    """Whether the formula is read from 1,000 exact gradients and verified, and how long that
    takes, the field included.
    """
    points = np.random.default_rng(seed).uniform(low, 2.0, (1000, len(names)))
    gradients = cf.parse(truth, names).gradient(points)
    began = time.process_time()
    field = cf.GradientField.from_arrays(points, gradients, names=names)
    found = cf.interpret_field(field, rng=seed, progress=False)
    seconds = time.process_time() - began
    concept = found.concept
    is_same = concept is not None and bool(cf.same_concept(concept, truth, names, points=points))
    return is_same and found.verdict.status == "verified", seconds


if __name__ == "__main__":
    main()
