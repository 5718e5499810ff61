"""The networks that come with the package: trained once under the profile 'paper', seed 0."""

import json
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, NamedTuple

from closedform.arrays import FloatArray
from closedform.experiments.catalogue import EXPERIMENTS
from closedform.networks.siamese import load_siamese

if TYPE_CHECKING:
    import torch

SEED = 0
"""Of their data and weights."""

_DIRECTORY = files("closedform.experiments") / "checkpoints"


def load_checkpoint(number: int) -> "torch.nn.Sequential":
    """The network of an experiment.

    Raises
    ------
    ModelFileError
        If there is none of this number.

    Examples
    --------
    >>> [name for name, _ in load_checkpoint(11).named_children()]
    ['hidden1', 'activation1', 'hidden2', 'activation2', 'latent']
    """
    with as_file(_DIRECTORY / f"experiment_{number:02d}.safetensors") as file:
        return load_siamese(file)


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


def load_example(number: int, n_points: int = 4000) -> Example:
    """The network of an experiment with data of its test split, to try closedform on.

    Examples
    --------
    >>> load_example(8).names
    ('x', 'v')
    """
    experiment = EXPERIMENTS[number]
    return Example(load_checkpoint(number), experiment.split("test", n_points, seed=SEED)[:, 0], tuple(experiment.inputs))


def checkpoint_records() -> dict[int, dict[str, Any]]:
    """How each network was trained and how well it carries its concept, by number; see `closedform.experiments.assess`."""
    return {record["number"]: record for record in json.loads((_DIRECTORY / "networks.json").read_text())}
