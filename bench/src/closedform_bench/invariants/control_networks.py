"""The networks of the controls: trained once and shipped, three of each kind.

``python -m closedform_bench.invariants.control_networks --out DIR`` trains them again.
"""

import argparse
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from closedform.networks.siamese import TrainedSiamese, build_siamese, load_siamese, train_siamese
from closedform_bench.invariants.control_systems import CONTROL_SYSTEMS, LATENTS, UNTRAINED
from closedform_bench.invariants.pair_networks import training_options

if TYPE_CHECKING:
    import torch

SEEDS = (0, 1, 2)
HIDDEN, EPOCHS, N_PAIRS = (64, 64), 20, 10_000

_DIRECTORY = files("closedform_bench.invariants") / "controls"


def load_control(name: str, seed: int) -> "torch.nn.Sequential":
    """A shipped network.

    Raises
    ------
    ModelFileError
        If there is none of this seed.

    Examples
    --------
    >>> load_control("lorenz", 0).latent.out_features
    1
    """
    with as_file(_DIRECTORY / f"{name}_{seed}.safetensors") as file:
        return load_siamese(file)


def make_control(name: str, seed: int) -> TrainedSiamese:
    """Train a control's network, or leave it as it begins."""
    import torch

    options = training_options(LATENTS[name], EPOCHS, HIDDEN)
    system = CONTROL_SYSTEMS[name]
    if name == UNTRAINED:
        torch.manual_seed(seed)
        return TrainedSiamese(
            build_siamese(options, len(system.inputs)), options, (), 0, "finished", 0.0
        )
    rng = np.random.default_rng([seed, 17])
    pairs = system.pairs(N_PAIRS, rng)
    return train_siamese(
        np.concatenate([pairs, pairs[rng.permutation(N_PAIRS)][:, :1]], axis=1), options, rng=seed
    )


def main() -> None:
    """Train all that are not there yet."""
    parser = argparse.ArgumentParser(
        prog="python -m closedform_bench.invariants.control_networks", description=__doc__
    )
    parser.add_argument("--out", type=Path, required=True)
    directory = parser.parse_args().out
    directory.mkdir(parents=True, exist_ok=True)
    for name in CONTROL_SYSTEMS:
        for seed in SEEDS:
            file = directory / f"{name}_{seed}.safetensors"
            if not file.exists():
                make_control(name, seed).save(file, precision="half")


if __name__ == "__main__":
    main()
