"""Expressions as functions of other libraries: NumPy, torch and JAX."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.optional import require
from closedform.expressions.evaluate import NUMPY, Library, value
from closedform.expressions.expression import Expression

if TYPE_CHECKING:
    import torch


def to_numpy(expression: Expression) -> Callable[..., Any]:
    """A function of one array per input, in the order of the expression's names, which broadcasts
    like NumPy; points of shape (n_points, n_inputs) are taken too, as the expression takes them.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> function = to_numpy(parse("x + 2*y"))
    >>> float(function(1.0, 10.0)), function([[1.0, 10.0], [2.0, 0.0]])
    (21.0, array([21.,  2.]))
    """

    def function(*inputs: Any) -> Any:
        if len(inputs) == 1 and np.ndim(inputs[0]) == 2:
            points = np.asarray(inputs[0], dtype=np.float64)
            if points.shape[1] == len(expression.names):
                inputs = tuple(points.T)
        if len(inputs) != len(expression.names):
            raise TypeError(
                f"The function takes {len(expression.names)} arrays "
                f"({', '.join(expression.names)}) or points "
                f"of shape (n_points, {len(expression.names)}); got {len(inputs)}."
            )
        arrays = [np.asarray(array, dtype=np.float64) for array in inputs]
        with np.errstate(all="ignore"):
            result = value(expression.tree, arrays, NUMPY)
        return result + np.zeros(np.broadcast_shapes(*(array.shape for array in arrays)))

    function.__doc__ = f"{expression} of ({', '.join(expression.names)})."
    return function


def to_torch(expression: Expression) -> "torch.nn.Module":
    """A module from a tensor (..., n_inputs) to its values (...)."""
    torch = require("torch", extra="torch")

    class ExpressionModule(torch.nn.Module):
        """The expression as a module; it has no parameters."""

        def forward(self, points: Any) -> Any:
            library = torch_library(torch, points.dtype, points.device)
            result = value(expression.tree, expression.columns(points, library), library)
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


def to_jax(expression: Expression) -> Callable[[Any], Any]:
    """A function from an array (..., n_inputs) to its values (...)."""
    jnp = require("jax.numpy", extra="jax")
    library = jax_library()

    def function(points: Any) -> Any:
        points = jnp.asarray(points)
        result = value(expression.tree, expression.columns(points, library), library)
        return jnp.broadcast_to(jnp.asarray(result, dtype=points.dtype), points.shape[:-1])

    function.__doc__ = f"{expression} of ({', '.join(expression.names)})."
    return function


def jax_library() -> Library:
    """JAX's functions, with Python's numbers."""
    jnp = require("jax.numpy", extra="jax")
    return Library(
        "jax", jnp, lambda exact: exact.numerator / exact.denominator, {"choose": jnp.where}
    )
