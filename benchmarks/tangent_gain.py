"""How much the tangent projection lowers the misalignment of the true invariant, on networks of experiments 2 and 4.

python benchmarks/tangent_gain.py [--seeds 3]
"""

import argparse
import time

import torch
from paper_networks import TRUTHS, train

import closedform as cf
from closedform.alignment.misalignment import trimmed_mean, weighted_mean
from closedform.alignment.scores import field_misalignment


def main() -> None:
    """Print a row for each experiment and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    print("experiment seed  none      auto      gain   trimmed none / auto     kind, rank   training")
    for experiment in (2, 4):
        truth, names = TRUTHS[experiment]
        expression = cf.parse(truth, names=names)
        for seed in range(seeds):
            start = time.perf_counter()
            model, points = train(experiment, "elu", seed)
            seconds = time.perf_counter() - start
            means, trimmed, space = {}, {}, None
            for tangent in ("none", "auto"):
                field = cf.extract_field(model, points, "output:0", names=names, tangent=tangent)
                values = field_misalignment(expression, field)
                means[tangent], trimmed[tangent] = weighted_mean(values, field.weights), trimmed_mean(values, field.weights)
                space = field.tangent
            assert space is not None
            print(
                f"{experiment:10d} {seed:4d}  {means['none']:.2e}  {means['auto']:.2e}  {means['none'] / means['auto']:5.1f}"
                f"  {trimmed['none']:.1e} / {trimmed['auto']:.1e}   {space.kind}, {space.rank} of {len(names)}"
                f"   {seconds:.0f} s"
            )


if __name__ == "__main__":
    main()
