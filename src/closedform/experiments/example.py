"""A trained network to try things on: it saw pairs of snapshots of an oscillator, the data of the paper's experiment 8.

``python -m closedform.experiments.example FILE`` trains it again. Unlike the networks of the paper it is smooth and has exact
directions (SiLU, contrast at a falling resolution), as a network should that one means to read.
"""

import argparse
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from closedform.arrays import FloatArray
from closedform.experiments.bench.training import training_options
from closedform.experiments.catalogue import EXPERIMENTS
from closedform.networks.siamese import SiameseOptions, TrainedSiamese, load_siamese, train_siamese

if TYPE_CHECKING:
    import torch

EXPERIMENT, SEED, N_TRIPLETS = 8, 0, 40_000

OPTIONS = training_options(latents=1, epochs=30, hidden=(64, 64))

_FILE = files("closedform.experiments") / "example.safetensors"


class Example(NamedTuple):
    """A trained network with data that it has not seen.

    Attributes
    ----------
    network : torch.nn.Sequential
        Its latent neuron is ``"latent:0"``.
    inputs : ndarray, shape (n_points, n_inputs)
    names : tuple of str
        The inputs.
    """

    network: "torch.nn.Sequential"
    inputs: FloatArray
    names: tuple[str, ...]


def load_example(n_points: int = 4000) -> Example:
    """The network with data of the test split.

    Examples
    --------
    >>> load_example(100).inputs.shape
    (100, 2)
    """
    experiment = EXPERIMENTS[EXPERIMENT]
    with as_file(_FILE) as file:
        network = load_siamese(file)
    return Example(network, experiment.split("test", n_points, seed=SEED)[:, 0], tuple(experiment.inputs))


def train_example(options: SiameseOptions = OPTIONS, n_triplets: int = N_TRIPLETS) -> TrainedSiamese:
    """Train the network; half a minute on one core."""
    return train_siamese(EXPERIMENTS[EXPERIMENT].split("training", n_triplets, seed=SEED), options, rng=SEED)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m closedform.experiments.example", description=__doc__)
    parser.add_argument("file", type=Path)
    train_example().save(parser.parse_args().file)
