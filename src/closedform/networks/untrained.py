"""A network of the same shape that has learned nothing: what it shows as well, training did not
put there.
"""

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from closedform.basics.optional import require
from closedform.networks.model_files import LoadedModel, torch_network

if TYPE_CHECKING:
    import torch


def untrained_twin(model: Any, seed: int) -> Any | None:
    """A copy of a torch network with fresh weights, or None for any other.

    Layers that know how to start do so. Weights of others, such as those of an ONNX file, are
    shuffled: their sizes stay, and what they say is lost.

    model: as in `closedform.extract_field`.
    seed: of the fresh weights.
    """
    network = torch_network(model)
    if network is None:
        return None
    torch = require("torch", extra="torch")
    try:
        twin = copy.deepcopy(network)
    except Exception:  # modules of others may refuse to be copied with any error
        return None
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        for module in twin.modules():
            _restart(module)
    return replace(model, model=twin, make_double=None) if isinstance(model, LoadedModel) else twin


def _restart(module: "torch.nn.Module") -> None:
    restart = getattr(module, "reset_parameters", None)
    if callable(restart):
        restart()
        return
    import torch

    for weights in module.parameters(recurse=False):
        if weights.is_floating_point() and weights.numel() > 1:
            flat = weights.flatten()
            weights.copy_(flat[torch.randperm(len(flat))].reshape(weights.shape))
