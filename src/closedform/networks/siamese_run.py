"""The course of a Siamese training: epochs, checkpoints, progress."""

import hashlib
import io
import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from closedform.basics.files import write_bytes
from closedform.basics.progress import Progress, Snapshot
from closedform.errors import ClosedformWarning, SaveError, TrainingError
from closedform.networks.siamese_network import SiameseOptions, build_siamese, latents_of, loss_of
from closedform.networks.torch_library import torch

Status = Literal["finished", "stopped", "interrupted"]

_SAVE_EVERY = 5.0
"""Seconds between checkpoints, at the least."""
_SHOW_EVERY = 0.2
"""Seconds between two looks of the progress: faster than anybody reads."""


_STATEFUL, _KEPT = ("module", "optimizer", "schedule"), ("best", "best_epoch", "seconds")
"""What a checkpoint holds of a run: parts by their own states, and values as they are."""


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
        In the last step of the epoch.
    """

    training_loss: float
    validation_loss: float | None
    learning_rate: float

    @property
    def loss(self) -> float:
        """What decides which epoch is best."""
        return self.training_loss if self.validation_loss is None else self.validation_loss


@dataclass(slots=True)
class TrainingRun:
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
        self.optimizer = torch.optim.Adam(
            self.module.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay
        )
        if options.schedule == "plateau":
            self.schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
                self.optimizer, factor=options.factor, patience=options.patience
            )
        else:
            steps = options.epochs * -(-len(self.data) // options.batch_size)
            self.schedule = torch.optim.lr_scheduler.OneCycleLR(
                self.optimizer, options.learning_rate, total_steps=steps
            )

    def epoch(self) -> None:
        """Pass over all triplets once."""
        # The order depends on the seed and the epoch alone, so that a resumed training sees the
        # same one.
        order = torch.from_numpy(
            np.random.default_rng([self.seed, len(self.history)]).permutation(len(self.data))
        )
        total = 0.0
        for rows in order.split(self.options.batch_size):
            loss = loss_of(
                latents_of(self.module, self.data[rows]), self.options, len(self.history)
            )
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.options.schedule == "cycle":
                self.schedule.step()
            total += float(loss.detach()) * len(rows)
        validation = None
        if self.validation is not None:
            with torch.no_grad():
                validation = self._validation_loss(self.validation)
        record = Epoch(total / len(self.data), validation, self.optimizer.param_groups[0]["lr"])
        if not np.isfinite(record.loss):
            raise TrainingError(
                f"The loss is {record.loss} after epoch {len(self.history) + 1}; lower the "
                f"learning rate, or standardize."
            )
        if self.options.schedule == "plateau":
            self.schedule.step(record.loss)
        if (
            self.options.anneals
            or self.best_epoch < 0
            or record.loss < self.history[self.best_epoch].loss
        ):
            self.best_epoch = len(self.history)
            self.best = {name: tensor.clone() for name, tensor in self.module.state_dict().items()}
        self.history.append(record)

    def _validation_loss(self, triplets: "torch.Tensor") -> float:
        """Mean over batches as in training: with more negatives contrast is another number."""
        parts = triplets.split(self.options.batch_size)
        losses = [
            float(loss_of(latents_of(self.module, part), self.options, len(self.history)))
            for part in parts
        ]
        return float(np.average(losses, weights=[len(part) for part in parts]))

    def best_module(self) -> "torch.nn.Sequential":
        """The network of the best epoch."""
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
        state = {name: getattr(self, name) for name in _KEPT}
        state |= {name: getattr(self, name).state_dict() for name in _STATEFUL}
        state |= {
            "fingerprint": self.fingerprint(),
            "history": [list(astuple(epoch)) for epoch in self.history],
        }
        # Into memory first: torch reports a full disk in its own way, and may leave the file open.
        content = io.BytesIO()
        torch.save(state, content)
        write_bytes(file, content.getvalue())

    def restore(self, file: Path) -> None:
        """Take up the state of a checkpoint."""
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)
            fits = state["fingerprint"] == self.fingerprint()
        except Exception as error:  # torch raises many kinds for a file that it refuses
            raise TrainingError(
                f"{file} is not a training checkpoint ({error}); delete it, or name another."
            ) from error
        if not fits:
            raise TrainingError(
                f"The checkpoint {file} is from training with other options, triplets or seed. "
                "Delete it, name another, or pass resume=False to overwrite it."
            )
        for name in _STATEFUL:
            getattr(self, name).load_state_dict(state[name])
        for name in _KEPT:
            setattr(self, name, state[name])
        self.history = [Epoch(*record) for record in state["history"]]


def train(run: TrainingRun, progress: Progress, file: Path | None) -> Status:
    """Train to the end, or until someone interrupts; the checkpoint is written on the way."""
    options = run.options
    start, before, resumed = time.perf_counter(), run.seconds, len(run.history)
    stored = shown = start
    status: Status = "finished"
    try:
        while len(run.history) < options.epochs:
            if (
                options.stop_after is not None
                and len(run.history) - 1 - run.best_epoch >= options.stop_after
            ):
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
                stored = now
                try:
                    run.store(file)
                except SaveError as error:  # a full disk must not cost the training
                    warnings.warn(
                        f"{error} The training goes on without it.", ClosedformWarning, stacklevel=3
                    )
    except KeyboardInterrupt:
        if not run.history:
            raise
        status = "interrupted"
    finally:
        progress.close()
    return status


def _snapshot(run: TrainingRun, seconds_per_epoch: float) -> Snapshot:
    done, last = len(run.history), run.history[-1]
    text = f"epoch {done}, loss {last.loss:.4f}, best {run.history[run.best_epoch].loss:.4f}"
    left = seconds_per_epoch * (run.options.epochs - done)
    return Snapshot("training", done / run.options.epochs, left, (("loss", text),))


@contextmanager
def small_layers() -> Iterator[None]:
    """Settings for layers of a few hundred neurons. Denormal numbers count as 0: weight decay makes
    them, and they slow training ninefold. And threads gain little, and wait on a busy machine.
    """
    # torch tells nobody the present setting; half of the smallest normal number shows it.
    tiny = torch.full((1,), torch.finfo(torch.float64).tiny, dtype=torch.float64)
    flushed, threads = bool((tiny * 0.5 == 0).item()), torch.get_num_threads()
    torch.set_flush_denormal(True)
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed)
        torch.set_num_threads(threads)
