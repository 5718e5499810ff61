"""Read a network of an experiment: field, search, choice, verdict. The same way for all, and
without the answers.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from closedform.basics.progress import Progress
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.networks.siamese import load_siamese
from closedform.reading.one_field import interpret_field
from closedform.searching.budget import Budget
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.extraction import extract_experiment
from closedform_bench.paper.shipped import SEED, checkpoint_records, load_checkpoint
from closedform_bench.paper.train import network_file, read_record, train_into

if TYPE_CHECKING:
    import torch

Source = Literal["checkpoint", "quick", "paper"]

BUDGET = 4.0
"""Seconds for search, choice and verdict: a minute for the twelve."""

SMOOTHING = 0.05
"""Radius over which the gradients of rectified networks are averaged, as a share of the spread;
others are read as they are.
"""


@dataclass(frozen=True, slots=True)
class TrainedNetwork:
    """A network of an experiment.

    Attributes
    ----------
    module : torch.nn.Module
    seed : int
        Of its data.
    train_seconds : float
        What its training took, whenever that was.
    """

    module: "torch.nn.Module"
    seed: int
    train_seconds: float


@dataclass(frozen=True, slots=True)
class ExperimentReading:
    """What was read from a network.

    Attributes
    ----------
    number : int
    field : GradientField
    interpretation : Interpretation
    """

    number: int
    field: GradientField
    interpretation: Interpretation


def get_network(
    number: int, source: Source, directory: Path, *, seed: int = 0, progress: Progress | None = None
) -> TrainedNetwork:
    """The shipped network, or one that is trained into a directory; an interrupted training goes
    on.

    Raises
    ------
    ModelFileError
        If no network of this number is shipped.
    """
    if source == "checkpoint":
        module = load_checkpoint(number)
        return TrainedNetwork(module, SEED, checkpoint_records()[number]["train_seconds"])
    train_into(directory, number, source, seed=seed, progress=progress)
    return TrainedNetwork(
        load_siamese(network_file(directory, number)),
        seed,
        read_record(directory, number)["train_seconds"],
    )


def read_network(
    number: int,
    network: TrainedNetwork,
    *,
    budget: float | Budget = BUDGET,
    seed: int = 0,
    progress: Progress | None = None,
    command: str = "",
) -> ExperimentReading:
    """Extract the field of a network and interpret it.

    Parameters
    ----------
    number : int
        Of the experiment.
    network : TrainedNetwork
    budget, seed, progress, command
        As in `closedform.interpret_field`.
    """
    smoothing = SMOOTHING if is_rectified(network.module) else 0.0
    field = extract_experiment(number, network.module, smoothing=smoothing, seed=network.seed)
    title = f"Experiment {number}: {EXPERIMENTS[number].name}"
    found = interpret_field(
        field, budget=budget, rng=seed, progress=progress, title=title, command=command
    )
    return ExperimentReading(number, field, found)


def is_rectified(module: "torch.nn.Module") -> bool:
    """Whether the gradients of a network are piecewise constant.

    Examples
    --------
    >>> is_rectified(load_checkpoint(11))
    True
    """
    return any(type(layer).__name__ in ("ReLU", "LeakyReLU", "PReLU") for layer in module.modules())
