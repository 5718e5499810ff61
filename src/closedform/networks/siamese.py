"""Siamese networks: train a small network on triplets, so that its latents tell what anchor and positive share."""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from closedform.errors import ShapeError
from closedform.networks.errors import ModelFileError, TrainingError
from closedform.optional import require
from closedform.progress import Progress, Silent, Snapshot
from closedform.randomness import as_generator

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")

Activation = Literal["relu", "elu"]
Schedule = Literal["plateau", "cycle"]
Status = Literal["finished", "stopped", "interrupted"]

_METADATA = "closedform_siamese"
_SAVE_EVERY = 5.0
"""Seconds between checkpoints, at the least."""
_SHOW_EVERY = 0.2


@dataclass(frozen=True, slots=True)
class SiameseOptions:
    """How a Siamese network is built and trained.

    Attributes
    ----------
    hidden : tuple of int
        Widths of the hidden layers.
    activation : {'relu', 'elu'}
        Of the hidden layers. ELU networks have continuous gradients, which are easier to read.
    latents : int
        Number of latent neurons, the output.
    learning_rate : float
        Of Adam; with the schedule 'cycle' the largest.
    weight_decay : float
    batch_size : int
    epochs : int
    schedule : {'plateau', 'cycle'}
        'plateau' multiplies the learning rate by `factor` after `patience` epochs without a better loss; 'cycle' raises it and
        then lowers it to nothing over the given epochs, which suits short training.
    patience : int
    factor : float
    margin : float
        By how much negatives should be farther off than positives, in squared distance.
    stop_after : int or None
        End after this many epochs without a better loss.
    standardize : bool
        Train on inputs of mean 0 and standard deviation 1. The network that comes out takes the inputs as they are.

    Examples
    --------
    >>> SiameseOptions(activation="elu").hidden
    (256, 256)
    """

    hidden: tuple[int, ...] = (256, 256)
    activation: Activation = "relu"
    latents: int = 1
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    batch_size: int = 256
    epochs: int = 100
    schedule: Schedule = "plateau"
    patience: int = 10
    factor: float = 0.2
    margin: float = 1.0
    stop_after: int | None = None
    standardize: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for name, known in (("activation", ("relu", "elu")), ("schedule", ("plateau", "cycle"))):
            if getattr(self, name) not in known:
                raise TrainingError(f"{name}={getattr(self, name)!r} is not one of {', '.join(known)}.")
        counts = {"latents": self.latents, "batch_size": self.batch_size, "epochs": self.epochs, "patience": self.patience}
        for name, value in {**counts, **{f"hidden[{i}]": width for i, width in enumerate(self.hidden)}}.items():
            if value < 1:
                raise TrainingError(f"{name} is {value}; it must be at least 1.")
        for name in ("learning_rate", "margin"):
            if not getattr(self, name) > 0:
                raise TrainingError(f"{name} is {getattr(self, name)}; it must be positive.")


@dataclass(frozen=True, slots=True)
class Epoch:
    """One epoch of training.

    Attributes
    ----------
    training_loss : float
        Mean over the epoch.
    validation_loss : float or None
        After the epoch; None without validation triplets.
    learning_rate : float
        At the end of the epoch.
    """

    training_loss: float
    validation_loss: float | None
    learning_rate: float

    @property
    def loss(self) -> float:
        """What decides which epoch is best."""
        return self.training_loss if self.validation_loss is None else self.validation_loss


@dataclass(frozen=True, slots=True, eq=False)
class TrainedSiamese:
    """A trained network and how it came about.

    Attributes
    ----------
    module : torch.nn.Sequential
        From inputs (n, n_inputs) to latents (n, n_latents), with the weights of the best epoch; its last layer is ``latent``.
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

    def save(self, path: str | os.PathLike[str], *, precision: Literal["single", "half"] = "single") -> None:
        """Write the weights as safetensors, with the options in the metadata; `load_siamese` reads it."""
        kind = torch.float16 if precision == "half" else torch.float32
        weights = {name: tensor.detach().to(kind).contiguous() for name, tensor in self.module.state_dict().items()}
        metadata = {_METADATA: json.dumps(asdict(self.options))}
        require("safetensors.torch", extra="torch").save_file(weights, str(path), metadata=metadata)


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
    """Train a network whose latents agree for anchor and positive and differ for anchor and negative.

    The loss is the mean of max(0, |f(a) - f(p)|^2 - |f(a) - f(n)|^2 + margin), the optimiser Adam. Ctrl-C ends the training and
    returns the best network so far.

    Parameters
    ----------
    triplets : array_like, shape (n_triplets, 3, n_inputs)
        Anchors, positives and negatives.
    options : SiameseOptions, optional
    validation : array_like, shape (n_validation, 3, n_inputs), optional
        Decides about the learning rate and the best epoch; without it the training loss does.
    rng : int, numpy.random.Generator or None
        Seed of the first weights and of the order of the triplets. The same seed gives the same network on the same machine.
    progress : Progress, optional
        Whom to tell; nobody by default.
    checkpoint : path, optional
        Where the state is kept while training, at the ends of epochs and at most every few seconds.
    resume : bool
        Go on from the checkpoint if there is one; the result is the same, bit for bit, as without a break.

    Returns
    -------
    TrainedSiamese

    Raises
    ------
    ShapeError
        If triplets are no array of that shape.
    TrainingError
        If a number is not finite, the loss becomes so, or the checkpoint belongs to another training.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> angle, radius = generator.uniform(0, 6.28, (3, 500)), generator.uniform(0.5, 1.5, (2, 500))[[0, 0, 1]]
    >>> circles = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2).swapaxes(0, 1)
    >>> trained = train_siamese(circles, SiameseOptions(hidden=(16,), epochs=3), rng=0)
    >>> len(trained.history), trained.status
    (3, 'finished')
    """
    options = SiameseOptions() if options is None else options
    arrays = [_checked(triplets, "triplets")] + ([] if validation is None else [_checked(validation, "validation")])
    if len({array.shape[2] for array in arrays}) > 1:
        raise ShapeError(f"Triplets have {arrays[0].shape[2]} inputs, validation {arrays[1].shape[2]}; pass the same inputs.")
    seed = int(as_generator(rng).integers(2**62))
    shift, spread = _standards(arrays[0], options)
    data = [torch.tensor((array - shift) / spread, dtype=torch.float32) for array in arrays]
    run = _Run(options, seed, data[0], data[1] if len(data) > 1 else None)
    file = None if checkpoint is None else Path(checkpoint)
    if file is not None and resume and file.exists():
        run.restore(file)
    with _denormals_flushed():
        status = _train(run, Silent() if progress is None else progress, file)
    module = run.best_module()
    with torch.no_grad():  # the scaling moves into the first layer
        first = cast("torch.nn.Linear", module[0])
        first.weight /= torch.tensor(spread, dtype=torch.float32)
        first.bias -= first.weight @ torch.tensor(shift, dtype=torch.float32)
    return TrainedSiamese(module, options, tuple(run.history), run.best_epoch, status, run.seconds)


def build_siamese(options: SiameseOptions, n_inputs: int) -> "torch.nn.Sequential":
    """An untrained network, with its first weights from torch's generator.

    Examples
    --------
    >>> [name for name, _ in build_siamese(SiameseOptions(hidden=(8,)), 3).named_children()]
    ['hidden1', 'activation1', 'latent']
    """
    module = torch.nn.Sequential()
    kind = {"relu": torch.nn.ReLU, "elu": torch.nn.ELU}[options.activation]
    width = n_inputs
    for number, after in enumerate(options.hidden, start=1):
        module.add_module(f"hidden{number}", torch.nn.Linear(width, after))
        module.add_module(f"activation{number}", kind())
        width = after
    module.add_module("latent", torch.nn.Linear(width, options.latents))
    return module


def build_from_file(path: str | os.PathLike[str]) -> "torch.nn.Sequential":
    """The network that fits a file of `TrainedSiamese.save`, without its weights: a builder for ``closedform extract``.

    Raises
    ------
    ModelFileError
        If the file is not one of these.
    """
    safetensors = require("safetensors", extra="torch")
    try:
        with safetensors.safe_open(str(path), framework="pt") as file:
            stored = json.loads(file.metadata()[_METADATA])
            n_inputs = file.get_slice("hidden1.weight").get_shape()[1]
        stored["hidden"] = tuple(stored["hidden"])
        return build_siamese(SiameseOptions(**stored), n_inputs)
    except (OSError, KeyError, TypeError, ValueError, safetensors.SafetensorError) as error:
        raise ModelFileError(
            f"{Path(path).name} is no file that TrainedSiamese.save wrote ({error}); write your own builder for it."
        ) from error


def load_siamese(path: str | os.PathLike[str]) -> "torch.nn.Sequential":
    """Read a network that `TrainedSiamese.save` wrote.

    Raises
    ------
    ModelFileError
        If the file is not one of these.
    """
    module = build_from_file(path)
    weights = require("safetensors.torch", extra="torch").load_file(str(path))
    module.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    return module


def triplet_loss(latents: "torch.Tensor", margin: float = 1.0) -> "torch.Tensor":
    """Mean loss of latents, shape (n_triplets, 3, n_latents)."""
    anchor, positive, negative = latents.unbind(1)
    near, far = ((anchor - other).square().sum(1) for other in (positive, negative))
    return torch.relu(near - far + margin).mean()


def mean_triplet_loss(module: "torch.nn.Module", triplets: ArrayLike, margin: float = 1.0) -> float:
    """Mean loss of a network on triplets, shape (n_triplets, 3, n_inputs), such as those of a test."""
    array = torch.tensor(_checked(triplets, "triplets"), dtype=torch.float32)
    with torch.no_grad():
        return float(triplet_loss(_latents(module, array), margin))


@dataclass(slots=True)
class _Run:
    """The state of a training between two epochs."""

    options: SiameseOptions
    seed: int
    data: "torch.Tensor"
    validation: "torch.Tensor | None"
    module: Any = None
    optimizer: Any = None
    schedule: Any = None
    best: dict[str, Any] = field(default_factory=dict)
    best_epoch: int = -1
    history: list[Epoch] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        options = self.options
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.module = build_siamese(options, self.data.shape[2])
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
        if options.schedule == "plateau":
            self.schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
                self.optimizer, factor=options.factor, patience=options.patience
            )
        else:
            steps = options.epochs * -(-len(self.data) // options.batch_size)
            self.schedule = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, options.learning_rate, total_steps=steps)

    def epoch(self) -> None:
        """Pass over all triplets once."""
        # The order depends on the seed and the epoch alone, so that a resumed training sees the same one.
        order = torch.from_numpy(np.random.default_rng([self.seed, len(self.history)]).permutation(len(self.data)))
        total = 0.0
        for rows in order.split(self.options.batch_size):
            loss = triplet_loss(_latents(self.module, self.data[rows]), self.options.margin)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.options.schedule == "cycle":
                self.schedule.step()
            total += float(loss.detach()) * len(rows)
        validation = None
        if self.validation is not None:
            with torch.no_grad():
                validation = float(triplet_loss(_latents(self.module, self.validation), self.options.margin))
        record = Epoch(total / len(self.data), validation, self.optimizer.param_groups[0]["lr"])
        if not np.isfinite(record.loss):
            raise TrainingError(
                f"The loss is {record.loss} after epoch {len(self.history) + 1}; lower the learning rate, or standardize."
            )
        if self.options.schedule == "plateau":
            self.schedule.step(record.loss)
        if self.best_epoch < 0 or record.loss < self.history[self.best_epoch].loss:
            self.best_epoch = len(self.history)
            self.best = {name: tensor.clone() for name, tensor in self.module.state_dict().items()}
        self.history.append(record)

    def best_module(self) -> "torch.nn.Sequential":
        """The network of the best epoch; the untrained one if none was completed."""
        if self.best:
            self.module.load_state_dict(self.best)
        return self.module.eval()

    def fingerprint(self) -> str:
        """Changes with anything that changes the course of the training."""
        digest = hashlib.sha256(json.dumps([asdict(self.options), self.seed]).encode())
        for tensor in (self.data, self.validation):
            digest.update(b"none" if tensor is None else tensor.numpy().tobytes())
        return digest.hexdigest()

    def store(self, file: Path) -> None:
        """Write the state, in one move, so that an interruption leaves the old or the new one."""
        state = {
            "fingerprint": self.fingerprint(),
            "module": self.module.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "best": self.best,
            "best_epoch": self.best_epoch,
            "history": [[epoch.training_loss, epoch.validation_loss, epoch.learning_rate] for epoch in self.history],
            "seconds": self.seconds,
        }
        unfinished = file.with_name(file.name + ".part")
        torch.save(state, unfinished)
        os.replace(unfinished, file)

    def restore(self, file: Path) -> None:
        """Take up the state of a checkpoint."""
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)
            fits = state["fingerprint"] == self.fingerprint()
        except Exception as error:  # torch raises many kinds for a file that it refuses
            raise TrainingError(f"{file} is no checkpoint of a training ({error}); delete it, or name another.") from error
        if not fits:
            raise TrainingError(
                f"The checkpoint {file} is of a training with other options, triplets or seed. Delete it, name another, or "
                "pass resume=False to overwrite it."
            )
        self.module.load_state_dict(state["module"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        self.best, self.best_epoch, self.seconds = state["best"], state["best_epoch"], state["seconds"]
        self.history = [Epoch(*record) for record in state["history"]]


def _train(run: _Run, progress: Progress, file: Path | None) -> Status:
    options = run.options
    start, before, resumed = time.perf_counter(), run.seconds, len(run.history)
    stored = shown = start
    status: Status = "finished"
    try:
        while len(run.history) < options.epochs:
            if options.stop_after is not None and len(run.history) - run.best_epoch > options.stop_after >= 0 <= run.best_epoch:
                status = "stopped"
                break
            run.epoch()
            now = time.perf_counter()
            run.seconds = before + now - start
            last = len(run.history) == options.epochs
            if now - shown > _SHOW_EVERY or last:
                progress.show(_snapshot(run, (now - start) / (len(run.history) - resumed)))
                shown = now
            if file is not None and (now - stored > _SAVE_EVERY or last):
                run.store(file)
                stored = now
    except KeyboardInterrupt:
        status = "interrupted"
    finally:
        progress.close()
    return status


def _snapshot(run: _Run, seconds_per_epoch: float) -> Snapshot:
    done, last = len(run.history), run.history[-1]
    text = f"epoch {done}, loss {last.loss:.4f}, best {run.history[run.best_epoch].loss:.4f}"
    left = seconds_per_epoch * (run.options.epochs - done)
    return Snapshot("training", done / run.options.epochs, left, (("loss", text),))


def _latents(module: "torch.nn.Module", triplets: "torch.Tensor") -> "torch.Tensor":
    return module(triplets.reshape(-1, triplets.shape[2])).reshape(len(triplets), 3, -1)


def _standards(triplets: np.ndarray, options: SiameseOptions) -> tuple[np.ndarray, np.ndarray]:
    """Shift and spread of each input; 0 and 1 if they are to stay as they are, and spread 1 for a constant one."""
    n_inputs = triplets.shape[2]
    if not options.standardize:
        return np.zeros(n_inputs), np.ones(n_inputs)
    rows = triplets.reshape(-1, n_inputs)
    spread = rows.std(axis=0)
    return rows.mean(axis=0), np.where(spread > 0, spread, 1.0)


def _checked(triplets: ArrayLike, name: str) -> np.ndarray:
    array = np.asarray(triplets, dtype=np.float64)
    if array.ndim != 3 or array.shape[1] != 3 or 0 in array.shape:
        raise ShapeError(f"{name} has shape {array.shape}; pass (n_triplets, 3, n_inputs): anchors, positives, negatives.")
    bad = np.flatnonzero(~np.isfinite(array).all(axis=(1, 2)))
    if len(bad):
        raise TrainingError(f"{name} holds {len(bad)} triplets that are not finite, the first at {bad[0]}; leave them out.")
    return array


@contextmanager
def _denormals_flushed() -> Iterator[None]:
    """Numbers too small to be normal count as 0: weight decay makes them, and they slow training up to nine times."""
    # torch tells nobody the present setting; half of the smallest normal number shows it.
    before = bool((torch.full((1,), torch.finfo(torch.float64).tiny, dtype=torch.float64) * 0.5 == 0).item())
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
