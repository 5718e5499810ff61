"""Siamese networks: train a small network on triplets, so that its latents tell what anchor and
positive share.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from closedform.basics.files import check_output, reading, write_bytes
from closedform.basics.optional import require
from closedform.basics.progress import Progress, Silent
from closedform.basics.randomness import as_generator
from closedform.errors import ModelFileError, ShapeError, TrainingError
from closedform.networks.siamese_training import (
    Epoch,
    SiameseOptions,
    Status,
    TrainingRun,
    build_siamese,
    latents_of,
    small_layers,
    train,
    triplet_loss,
)
from closedform.networks.torch_state import torch

__all__ = [
    "Epoch",
    "SiameseOptions",
    "TrainedSiamese",
    "build_from_file",
    "build_siamese",
    "load_siamese",
    "mean_triplet_loss",
    "train_siamese",
]

_METADATA = "closedform_siamese"


@dataclass(frozen=True, slots=True, eq=False)
class TrainedSiamese:
    """A trained network and how it came about.

    Attributes
    ----------
    module : torch.nn.Sequential
        From inputs (n, n_inputs) to latents (n, n_latents), with the weights of the best epoch; its
        last layer is ``latent``.
    options : SiameseOptions
    history : tuple of Epoch
    best_epoch : int
        Counted from 0.
    status : str
        ``finished``, ``stopped`` (by `SiameseOptions.stop_after`) or ``interrupted`` (by Ctrl-C).
    seconds : float
        Training time, that before a resumption included.
    """

    module: "torch.nn.Sequential"
    options: SiameseOptions
    history: tuple[Epoch, ...]
    best_epoch: int
    status: Status
    seconds: float

    def save(
        self, path: str | os.PathLike[str], *, precision: Literal["single", "half"] = "single"
    ) -> None:
        """Write the weights as safetensors, with the options in the metadata; `load_siamese` reads
        it.
        """
        kind = torch.float16 if precision == "half" else torch.float32
        weights = {
            name: tensor.detach().to(kind).contiguous()
            for name, tensor in self.module.state_dict().items()
        }
        metadata = {_METADATA: json.dumps(asdict(self.options))}
        write_bytes(
            path, require("safetensors.torch", extra="torch").save(weights, metadata=metadata)
        )


def train_siamese(
    triplets: ArrayLike,
    options: SiameseOptions | None = None,
    *,
    validation: ArrayLike | None = None,
    rng: int | np.random.Generator | None = None,
    progress: Progress | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = True,
) -> TrainedSiamese:
    """Train a network whose latents agree for anchor and positive and differ for anchor and
    negative.

    The loss is the mean of ``max(0, |f(a) - f(p)|^2 - |f(a) - f(n)|^2 + margin)``, the optimiser
    Adam. Ctrl-C ends the training and returns the best network so far.

    Parameters
    ----------
    triplets : array_like, shape (n_triplets, 3, n_inputs)
        Anchors, positives and negatives.
    options : SiameseOptions, optional
    validation : array_like, shape (n_validation, 3, n_inputs), optional
        Decides about the learning rate and the best epoch; without it the training loss does.
    rng : int, numpy.random.Generator or None
        Seed of the first weights and of the order of the triplets. The same seed gives the same
        network on the same machine.
    progress : Progress, optional
        What shows progress; nothing by default.
    checkpoint : path, optional
        Where the state is kept while training, at the ends of epochs and at most every few seconds.
    resume : bool
        Continue from the checkpoint if there is one; the result is the same, bit for bit, as
        without an interruption.

    Returns
    -------
    TrainedSiamese

    Raises
    ------
    ShapeError
        If triplets are not an array of that shape.
    TrainingError
        If a number is not finite, the loss becomes so, or the checkpoint belongs to another
        training.
    SaveError
        If the checkpoint cannot be written, before the training.

    Warns
    -----
    ClosedformWarning
        If a checkpoint cannot be written later; training continues.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> angle, radius = (
    ...     generator.uniform(0, 6.28, (3, 500)),
    ...     generator.uniform(0.5, 1.5, (2, 500))[[0, 0, 1]],
    ... )
    >>> circles = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2).swapaxes(0, 1)
    >>> trained = train_siamese(circles, SiameseOptions(hidden=(16,), epochs=3), rng=0)
    >>> len(trained.history), trained.status
    (3, 'finished')
    """
    options = SiameseOptions() if options is None else options
    arrays = [checked_triplets(triplets, "triplets")] + (
        [] if validation is None else [checked_triplets(validation, "validation")]
    )
    if len({array.shape[2] for array in arrays}) > 1:
        raise ShapeError(
            f"Triplets have {arrays[0].shape[2]} inputs, validation {arrays[1].shape[2]}; "
            f"pass the same inputs."
        )
    seed = int(as_generator(rng).integers(2**62))
    shift, spread = _standards(arrays[0], options)
    data = [torch.tensor((array - shift) / spread, dtype=torch.float32) for array in arrays]
    run = TrainingRun(options, seed, data[0], data[1] if len(data) > 1 else None)
    file = None if checkpoint is None else Path(checkpoint)
    if file is not None:
        check_output(file)  # an error now, not after the first epochs
    if file is not None and resume and file.exists():
        run.restore(file)
    with small_layers():
        status = train(run, Silent() if progress is None else progress, file)
    module = run.best_module()
    with torch.no_grad():  # the scaling moves into the first layer
        first = cast("torch.nn.Linear", module[0])
        first.weight.div_(torch.tensor(spread, dtype=torch.float32))
        first.bias.sub_(first.weight @ torch.tensor(shift, dtype=torch.float32))
        if options.loss == "contrast":  # it does not fix the scale of a latent
            last = cast("torch.nn.Linear", module[-1])
            rows = torch.tensor(arrays[0][:, 0], dtype=torch.float32)
            spread_of_latents = module(rows).std(0).clamp_min(1e-12)
            last.weight.div_(spread_of_latents[:, None])
            last.bias.div_(spread_of_latents)
    return TrainedSiamese(module, options, tuple(run.history), run.best_epoch, status, run.seconds)


def mean_triplet_loss(module: "torch.nn.Module", triplets: ArrayLike, margin: float = 1.0) -> float:
    """Mean loss of a network on triplets, shape (n_triplets, 3, n_inputs)."""
    array = torch.tensor(checked_triplets(triplets, "triplets"), dtype=torch.float32)
    with torch.no_grad():
        return float(triplet_loss(latents_of(module, array), margin))


def checked_triplets(triplets: ArrayLike, name: str) -> np.ndarray:
    """Triplets as an array, if they are some."""
    array = np.asarray(triplets, dtype=np.float64)
    if array.ndim != 3 or array.shape[1] != 3 or 0 in array.shape:
        raise ShapeError(
            f"{name} has shape {array.shape}; pass (n_triplets, 3, n_inputs): anchors, "
            f"positives, negatives."
        )
    bad = np.flatnonzero(~np.isfinite(array).all(axis=(1, 2)))
    if len(bad):
        raise TrainingError(
            f"{name} holds {len(bad)} triplets that are not finite, the first at {bad[0]}; "
            f"leave them out."
        )
    return array


def build_from_file(path: str | os.PathLike[str]) -> "torch.nn.Sequential":
    """The network that fits a file of `TrainedSiamese.save`, without its weights: a builder."""
    safetensors = require("safetensors", extra="torch")
    try:
        with safetensors.safe_open(str(path), framework="pt") as file:
            stored = json.loads(file.metadata()[_METADATA])
            n_inputs = file.get_slice("hidden1.weight").get_shape()[1]
        stored["hidden"] = tuple(stored["hidden"])
        return build_siamese(SiameseOptions(**stored), n_inputs)
    except (OSError, KeyError, TypeError, ValueError, safetensors.SafetensorError) as error:
        raise ModelFileError(
            f"{Path(path).name} was not written by TrainedSiamese.save ({error}); write "
            f"your own builder for it."
        ) from error


def load_siamese(path: str | os.PathLike[str]) -> "torch.nn.Sequential":
    """Read a network that `TrainedSiamese.save` wrote; any other file is a ModelFileError."""
    module = build_from_file(path)
    load_file = require("safetensors.torch", extra="torch").load_file
    with reading(path, "pass a file that TrainedSiamese.save wrote"):
        weights = load_file(str(path))
        module.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    return module


def _standards(triplets: np.ndarray, options: SiameseOptions) -> tuple[np.ndarray, np.ndarray]:
    """Shift and spread of each input; 0 and 1 if they stay as they are, spread 1 if constant."""
    n_inputs = triplets.shape[2]
    if not options.standardize:
        return np.zeros(n_inputs), np.ones(n_inputs)
    rows = triplets.reshape(-1, n_inputs)
    spread = rows.std(axis=0)
    return rows.mean(axis=0), np.where(spread > 0, spread, 1.0)
