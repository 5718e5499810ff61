"""A network as a whole: out of a file, told by its weights, untrained, or as a plain function."""

import copy
import inspect
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.errors import ShapeError
from closedform.networks.options import tried
from closedform.networks.rows import as_parts

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A network out of a file."""

    model: Any  # a torch.nn.Module
    fixed_batch: int | None = None
    """The one number of points that an exported network takes at once, if it was exported so."""
    make_double: Callable[[], Any] | None = None
    """Makes a copy in float64, where copying the module itself does not work."""
    notes: tuple[str, ...] = ()  # what was decided while loading


def torch_network(model: Any) -> Any | None:
    """The torch module of a network, which may come out of a file; None for any other."""
    network = model.model if isinstance(model, LoadedModel) else model
    is_module = hasattr(network, "state_dict") and hasattr(network, "named_modules")
    return network if is_module else None


def fingerprint(model: Any) -> str | None:
    """A checksum of a torch module's layers and weights, or None for any other network."""
    network = torch_network(model)
    if network is None:
        return None
    digest = blake2b(digest_size=16)
    digest.update(repr(network).encode())
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(name.encode())
        if hasattr(tensor, "detach"):
            array = tensor.detach().cpu()
            # NumPy has no bfloat16; doubles hold every number of it.
            values = (array.double() if array.is_floating_point() else array).numpy()
            digest.update(f"{array.dtype}{values.shape}".encode())
            digest.update(np.ascontiguousarray(values).tobytes())
        else:
            digest.update(repr(tensor).encode())
    return digest.hexdigest()


def behaviour(model: Any, points: Any) -> str:
    """A checksum of what any other network is seen to be: the arrays that it holds, or its outputs
    at a few points; empty where neither can be had.
    """
    jax = sys.modules.get("jax")
    held = [] if jax is None else jax.tree_util.tree_leaves(model)
    arrays = [leaf for leaf in held if hasattr(leaf, "shape")]
    if not arrays:
        result = tried(getattr(model, "predict", model), as_parts(points))
        # What it returns may be no array.
        with suppress(Exception):
            several = result if isinstance(result, tuple) else (result,)
            arrays = [] if result is None else [np.asarray(each) for each in several]
    if not arrays:
        return ""
    digest = blake2b(digest_size=16)
    for each in arrays:
        values = np.asarray(each)
        digest.update(f"{values.dtype.str}{values.shape}".encode() + values.tobytes())
    return digest.hexdigest()


def untrained_twin(model: Any, seed: int) -> Any | None:
    """A copy of a torch network with fresh weights, or None for any other. Weights of layers that
    cannot start anew, such as those of an ONNX file, are shuffled.
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
    """A NumPy function from rows (n, d) to rows (n, d), of a function, a torch module or what JAX
    has compiled.
    """
    if not callable(module):
        raise TypeError(
            f"The {what} is {module!r:.60}; pass a function of points, a torch.nn.Module or a JAX "
            f"function."
        )
    kinds: tuple[type, ...] = getattr(type(module), "__mro__", ())
    is_torch = any(kind.__module__.startswith("torch.nn") for kind in kinds)
    call = _torch_call(module) if is_torch else module
    return RowFunction(call, _takes_time(getattr(module, "forward", module)), what)


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
