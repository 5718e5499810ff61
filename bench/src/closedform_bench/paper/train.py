"""Train the networks of the experiments: ``python -m closedform_bench.paper.train --profile paper
--out DIR [N ...]``.

An interrupted run goes on where it was when it is started again with the same words.
"""

import argparse
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.files import write_text
from closedform.basics.progress import Progress, ProgressTable
from closedform.errors import TrainingError
from closedform.networks.siamese import TrainedSiamese, mean_triplet_loss, train_siamese
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.profiles import Profile, ProfileName, get_profile

log = logging.getLogger(__name__)

_SEED_OF_TRAINING = 3
"""Keeps the seed of the weights apart from those of the three splits."""


def train_experiment(
    number: int,
    profile: Profile,
    *,
    seed: int = 0,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> TrainedSiamese:
    """Draw the data of an experiment and train on them."""
    return train_siamese(
        EXPERIMENTS[number].split("training", profile.n_training, seed=seed),
        profile.options,
        validation=EXPERIMENTS[number].split("validation", profile.n_validation, seed=seed),
        rng=np.random.default_rng([seed, number, _SEED_OF_TRAINING]),
        checkpoint=checkpoint,
        progress=progress,
    )


def train_into(
    directory: Path,
    number: int,
    name: ProfileName,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> None:
    """Train into a directory: ``experiment_08.safetensors`` and a record beside it; nothing is done
    if they are there.

    Raises
    ------
    TrainingError
        If they are there, but of another profile or seed.
    KeyboardInterrupt
        If someone interrupts; the checkpoint in the directory lets the next call go on.
    """
    file = network_file(directory, number)
    if file.exists():
        there = read_record(directory, number)
        if (there["profile"], there["seed"]) != (name, seed):
            found = f"profile {there['profile']!r} and seed {there['seed']}"
            raise TrainingError(
                f"{file} was trained with {found}, not {name!r} and {seed}; choose another "
                f"directory."
            )
        return
    directory.mkdir(parents=True, exist_ok=True)
    profile = get_profile(name, number)
    checkpoint = file.with_suffix(".checkpoint")
    trained = train_experiment(number, profile, seed=seed, checkpoint=checkpoint, progress=progress)
    if trained.status == "interrupted":
        raise KeyboardInterrupt
    record = training_record(
        number, trained, EXPERIMENTS[number].split("test", profile.n_test, seed=seed)
    )
    record |= {"profile": name, "seed": seed}
    write_text(file.with_suffix(".json"), json.dumps(record, indent=1) + "\n")
    trained.save(file)
    checkpoint.unlink(missing_ok=True)


def network_file(directory: Path, number: int) -> Path:
    """Where a directory keeps a network."""
    return directory / f"experiment_{number:02d}.safetensors"


def read_record(directory: Path, number: int) -> dict[str, Any]:
    """What was written about a training."""
    return json.loads(
        network_file(directory, number).with_suffix(".json").read_text(encoding="utf-8")
    )


def training_record(number: int, trained: TrainedSiamese, test: FloatArray) -> dict[str, Any]:
    """What is worth keeping of a training."""
    best = trained.history[trained.best_epoch]
    return {
        "number": number,
        "epochs": len(trained.history),
        "best_epoch": trained.best_epoch + 1,
        "training_loss": best.training_loss,
        "validation_loss": best.validation_loss,
        "test_loss": mean_triplet_loss(trained.module, test, trained.options.margin),
        "learning_rate": trained.history[-1].learning_rate,
        "train_seconds": round(trained.seconds, 1),
    }


def main() -> None:
    """Read the words on the command line and train."""
    parser = argparse.ArgumentParser(
        prog="python -m closedform_bench.paper.train", description=__doc__
    )
    parser.add_argument(
        "numbers",
        nargs="*",
        type=int,
        metavar="N",
        help="experiments, in this order; all by default",
    )
    parser.add_argument("--profile", choices=("paper", "quick"), default="quick")
    parser.add_argument("--out", type=Path, required=True, help="directory of the networks")
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    for number in words.numbers or EXPERIMENTS:
        log.info("experiment %d, %s", number, EXPERIMENTS[number].name)
        train_into(words.out, number, words.profile, seed=words.seed, progress=ProgressTable())
        log.info("experiment %d: %s", number, read_record(words.out, number))


if __name__ == "__main__":
    main()
