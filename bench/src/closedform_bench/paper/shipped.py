"""The networks that come with the package: trained once under the profile 'paper', seed 0."""

import json
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from closedform.networks.siamese import load_siamese

if TYPE_CHECKING:
    import torch

SEED = 0
"""Of their data and weights."""

_DIRECTORY = files("closedform_bench.paper") / "checkpoints"


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


def checkpoint_records() -> dict[int, dict[str, Any]]:
    """How each network was trained and how well it carries its concept, by number; see
    `closedform_bench.paper.assess`.
    """
    return {
        record["number"]: record
        for record in json.loads((_DIRECTORY / "networks.json").read_text(encoding="utf-8"))
    }
