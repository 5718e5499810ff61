"""torch, for whoever works with it: imported, or an error that says how to install it."""

from typing import TYPE_CHECKING

from closedform.basics.optional import require

if TYPE_CHECKING:
    import torch
    from torch import nn
    from torch.overrides import TorchFunctionMode
else:
    torch = require("torch", extra="torch")
    nn, TorchFunctionMode = torch.nn, torch.overrides.TorchFunctionMode

__all__ = ["TorchFunctionMode", "nn", "torch"]
