"""A torch module: differentiable, movable to a device, usable inside a network."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from closedform.expressions.evaluate import Library, value
from closedform.expressions.expression import Expression
from closedform.optional import require

if TYPE_CHECKING:
    import torch


def to_torch(expression: Expression) -> "torch.nn.Module":
    """A module from a tensor (..., n_inputs) to its values (...)."""
    torch = require("torch", extra="torch")

    class ExpressionModule(torch.nn.Module):
        """The expression as a module; it has no parameters."""

        def forward(self, points: Any) -> Any:
            library = _library(torch, points)
            result = value(expression.tree, points.unbind(-1), library)
            return result.expand(points.shape[:-1])

        def extra_repr(self) -> str:
            return str(expression)

    return ExpressionModule()


def _library(torch: Any, like: Any) -> Library:
    names = ("sin", "cos", "tan", "exp", "log", "tanh", "cosh", "atan", "sqrt", "absolute", "sign", "floor")
    functions = {name: getattr(torch, name) for name in names}
    functions |= {"power": torch.pow, "choose": torch.where}

    def number(exact: Fraction) -> Any:
        return torch.tensor(exact.numerator / exact.denominator, dtype=like.dtype, device=like.device)

    return Library(functions, number)
