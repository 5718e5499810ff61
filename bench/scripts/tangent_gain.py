"""How much the tangent projection lowers the misalignment of the true invariant, on networks of
experiments 2 and 4.

python bench/scripts/tangent_gain.py [--seeds 3]
"""

import argparse
import time

import torch

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.misalignment import trimmed_mean, weighted_mean
from closedform_bench.paper.answers import ANSWERS
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.extraction import extract_experiment
from closedform_bench.paper.profiles import get_profile
from closedform_bench.paper.train import train_experiment


def main() -> None:
    """Print a row for each experiment and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    torch.set_num_threads(1)
    print(
        "experiment seed  none      linear    gain   trimmed none / linear     kind, rank   "
        "training"
    )
    for experiment in (2, 4):
        answer, names = ANSWERS[experiment], EXPERIMENTS[experiment].inputs
        # Of the functions that agree on the data, the one that is kindest to a comparison of full
        # gradients.
        expression = cf.parse((*answer.spellings, answer.expression)[0], names=names)
        for seed in range(seeds):
            start = time.perf_counter()
            model = train_experiment(experiment, get_profile("quick", experiment), seed=seed).module
            seconds = time.perf_counter() - start
            means, trimmed, space = {}, {}, None
            for tangent in ("none", "linear"):
                field = extract_experiment(experiment, model, tangent=tangent, seed=seed)
                values = field_misalignment(expression, field)
                means[tangent], trimmed[tangent] = (
                    weighted_mean(values, field.weights),
                    trimmed_mean(values, field.weights),
                )
                space = field.tangent
            assert space is not None
            print(
                f"{experiment:10d} {seed:4d}  {means['none']:.2e}  {means['linear']:.2e}"
                f"  {means['none'] / means['linear']:5.1f}"
                f"  {trimmed['none']:.1e} / {trimmed['linear']:.1e}   {space.kind}, "
                f"{space.rank} of {len(names)}"
                f"   {seconds:.0f} s"
            )


if __name__ == "__main__":
    main()
