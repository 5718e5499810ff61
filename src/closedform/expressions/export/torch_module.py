"""A torch module: differentiable, movable to a device, usable inside a network."""

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from closedform.basics.optional import require
from closedform.expressions.evaluate import Library, value
from closedform.expressions.expression import Expression

if TYPE_CHECKING:
    import torch


def to_torch(expression: Expression) -> "torch.nn.Module":
    """A module from a tensor (..., n_inputs) to its values (...)."""
    torch = require("torch", extra="torch")

    class ExpressionModule(torch.nn.Module):
        """The expression as a module; it has no parameters."""

        def forward(self, points: Any) -> Any:
            library = torch_library(torch, points.dtype, points.device)
            result = value(expression.tree, points.unbind(-1), library)
            return result.expand(points.shape[:-1])

        def extra_repr(self) -> str:
            return str(expression)

    return ExpressionModule()


@lru_cache(maxsize=16)
def torch_library(torch: Any, dtype: Any, device: Any) -> Library:
    """torch's functions, with numbers of this type on this device."""

    def number(exact: Fraction) -> Any:
        return torch.tensor(exact.numerator / exact.denominator, dtype=dtype, device=device)

    return Library("torch", torch, number, {"power": torch.pow, "choose": torch.where})
