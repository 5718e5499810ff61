"""Velocities and steps from modules: PyTorch, JAX or NumPy, called as functions of rows."""

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ShapeError


@dataclass(slots=True)
class RowFunction:
    """A NumPy function from rows (n, d) to rows (n, d)."""

    call: Callable[..., Any]  # of points, or of time and points
    takes_time: bool  # as solvers of neural ODEs call it; it gets the time 0
    what: str  # for error messages
    precision: float = float(np.finfo(np.float64).eps)  # of the numbers that it last returned

    def __call__(self, points: FloatArray) -> FloatArray:
        """The rows."""
        found = np.asarray(self.call(0.0, points) if self.takes_time else self.call(points))
        if found.dtype.kind == "f":
            self.precision = float(np.finfo(found.dtype).eps)
        if found.shape != points.shape:
            raise ShapeError(
                f"The {self.what} returned the shape {found.shape} for points of the shape "
                f"{points.shape}; return one row for each (in JAX, use jax.vmap)."
            )
        return found.astype(np.float64, copy=False)


def as_row_function(module: Any, what: str = "flow") -> RowFunction:
    """A NumPy function from rows (n, d) to rows (n, d).

    module: a function of points, a `torch.nn.Module`, or what JAX has compiled.
    what: for error messages.
    """
    if not callable(module):
        raise TypeError(
            f"The {what} is {module!r:.60}; pass a function of points, a torch.nn.Module or a JAX "
            f"function."
        )
    call = _torch_call(module) if _is_torch(module) else module
    return RowFunction(call, _takes_time(getattr(module, "forward", module)), what)


def _is_torch(module: Any) -> bool:
    return any(kind.__module__.startswith("torch.nn") for kind in type(module).__mro__)


def _torch_call(module: Any) -> Callable[..., Any]:
    """Calls a module on its own device, without gradients: a copy in double precision where it runs
    in that. Rounding in single precision would force an integrator to tiny steps.
    """
    import torch

    weight = next(iter(module.parameters()), torch.zeros(0, dtype=torch.float64))

    def run(own: Any, dtype: Any, arguments: tuple[Any, ...]) -> Any:
        tensors = [torch.as_tensor(one, dtype=dtype, device=weight.device) for one in arguments]
        with torch.no_grad():
            return own(*tensors).cpu().numpy()

    ready: list[tuple[Any, Any]] = []

    def call(*arguments: Any) -> Any:
        if not ready and weight.is_floating_point() and weight.dtype != torch.float64:
            try:
                double = copy.deepcopy(module).double()
                found = run(double, torch.float64, arguments)
            except Exception:  # a network of the user's may not be copied, or not run in float64
                ready.append((module, weight.dtype))
            else:
                ready.append((double, torch.float64))
                return found
        return run(*(ready[0] if ready else (module, weight.dtype)), arguments)

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
