"""Velocities and steps from modules: PyTorch, JAX or NumPy, called as functions of rows."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ShapeError

RowFunction = Callable[[FloatArray], FloatArray]


def as_row_function(module: Any, what: str = "flow") -> RowFunction:
    """A NumPy function from rows (n, d) to rows (n, d).

    module: a function of points, a `torch.nn.Module`, or what JAX has compiled. One that takes time
        and state, as solvers of neural ODEs call it, gets the time 0.
    what: for error messages.
    """
    if not callable(module):
        raise TypeError(
            f"The {what} is {module!r:.60}; pass a function of points, a torch.nn.Module or a JAX "
            f"function."
        )
    call = _torch_call(module) if _is_torch(module) else module
    takes_time = _takes_time(getattr(module, "forward", module))

    def rows(points: FloatArray) -> FloatArray:
        found = np.asarray(call(0.0, points) if takes_time else call(points), dtype=np.float64)
        if found.shape != points.shape:
            raise ShapeError(
                f"The {what} returned the shape {found.shape} for points of the shape "
                f"{points.shape}; return one row for each (in JAX, use jax.vmap)."
            )
        return found

    return rows


def _is_torch(module: Any) -> bool:
    return any(kind.__module__.startswith("torch.nn") for kind in type(module).__mro__)


def _torch_call(module: Any) -> Callable[..., Any]:
    """Calls a module on its own device and in its own precision, without gradients."""
    import torch

    weight = next(iter(module.parameters()), torch.zeros(0, dtype=torch.float64))

    def call(*arguments: Any) -> Any:
        tensors = [
            torch.as_tensor(one, dtype=weight.dtype, device=weight.device) for one in arguments
        ]
        with torch.no_grad():
            return module(*tensors).cpu().numpy()

    return call


def _takes_time(function: Any) -> bool:
    """Whether a function asks for two arguments, time and state."""
    try:
        asked = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [
        one
        for one in asked
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    return len(needed) == 2
