"""Train the network that `closedform.example` ships: ``python -m closedform_bench.example_network
FILE``.

Unlike the networks of the paper it is smooth and has exact directions (SiLU, contrast at a falling
resolution), as a network should that is meant to be read.
"""

import argparse
from pathlib import Path

from closedform.networks.siamese import SiameseOptions, TrainedSiamese, train_siamese
from closedform_bench.invariants.pair_networks import training_options
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS

EXPERIMENT, SEED, N_TRIPLETS = 8, 0, 40_000

OPTIONS = training_options(latents=1, epochs=30, hidden=(64, 64))


def train_example(
    options: SiameseOptions = OPTIONS, n_triplets: int = N_TRIPLETS
) -> TrainedSiamese:
    """Train the network; half a minute on one core."""
    return train_siamese(
        EXPERIMENTS[EXPERIMENT].split("training", n_triplets, seed=SEED), options, rng=SEED
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m closedform_bench.example_network", description=__doc__
    )
    parser.add_argument("file", type=Path)
    train_example().save(parser.parse_args().file)
