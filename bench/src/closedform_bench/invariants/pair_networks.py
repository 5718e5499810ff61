"""The networks of the track `network`: pairs, training, and the field of the trained latents."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.gradient_field import GradientField
from closedform.networks.extract import extract_field
from closedform.networks.siamese import SiameseOptions, load_siamese, train_siamese
from closedform_bench.invariants.system import System

if TYPE_CHECKING:
    import torch

N_PAIRS, N_POINTS, N_TEST = 80_000, 4000, 2000
HIDDEN = (128, 128)
EPOCHS = 15

PairSampler = Callable[[int, np.random.Generator], FloatArray]


def training_options(
    latents: int, epochs: int = EPOCHS, hidden: tuple[int, ...] = HIDDEN
) -> SiameseOptions:
    """How networks are trained, the same for all systems: about a minute on one core."""
    return SiameseOptions(
        hidden=hidden,
        activation="silu",
        latents=latents,
        learning_rate=6e-3,
        weight_decay=0.0,
        epochs=epochs,
        schedule="cycle",
        standardize=True,
        loss="contrast",
        resolution=1.0,
        final_resolution=0.03,
    )


def train_on_pairs(
    pairs: PairSampler, options: SiameseOptions, file: Path, *, seed: int, n_pairs: int = N_PAIRS
) -> "torch.nn.Module":
    """The network in a file, trained now if it is not there; an interrupted training goes on."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng([seed, 7])
        drawn = pairs(n_pairs, rng)
        triplets = np.concatenate([drawn, drawn[rng.permutation(n_pairs)][:, :1]], axis=1)
        unfinished, checkpoint = file.with_suffix(".unfinished"), file.with_suffix(".part")
        train_siamese(triplets, options, rng=seed, checkpoint=checkpoint).save(unfinished)
        unfinished.replace(file)
        checkpoint.unlink(missing_ok=True)
    return load_siamese(file)


def latent_field(
    module: "torch.nn.Module", system: System, points: FloatArray, *, seed: int
) -> GradientField:
    """The field of all latents of a network, inside what the system keeps constant on all data."""
    *_, last = module.parameters()
    return extract_field(
        module,
        points,
        list(range(len(last))),
        names=system.inputs,
        constraints=system.constraints,
        rng=seed,
    )
