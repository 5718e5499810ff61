"""What surrounds a pass of a torch network: arrays as tensors, the step before the network, and all
that is recorded before and put back after it. And torch itself, or how to install it.
"""

import copy
import random
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.optional import require
from closedform.errors import ExtractionError

if TYPE_CHECKING:
    import torch
    from torch import nn
    from torch.overrides import TorchFunctionMode
else:
    torch = require("torch", extra="torch")
    nn, TorchFunctionMode = torch.nn, torch.overrides.TorchFunctionMode


COPIED_NUMBERS = 30_000_000
"""Up to this many weights are copied, so that even a forward pass that writes to them is undone."""

_CONTAINERS = (dict, OrderedDict, list, set)


@contextmanager
def untouched(*modules: Any, seed: int) -> Iterator[None]:
    """Run a block in evaluation mode, uncompiled, with gradients on, and restore everything that is
    known of the modules afterwards, with the random states, also after an error.
    """
    roots = [module for module in modules if isinstance(module, torch.nn.Module)]
    _refuse_lazy(roots)
    with ExitStack() as stack:
        stack.enter_context(random_state_kept(seed))
        # What is recorded last is put back first: attributes, values, flags, gradients.
        _record_tensors(stack, roots)
        every = {id(module): module for root in roots for module in root.modules()}.values()
        for module in every:
            _record_module(stack, module)
        for module in every:
            # The flag alone: a train() of the user's own may do more than set it.
            module.training = False
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(torch.autocast("cpu", enabled=False))
        if torch.cuda.is_available():
            stack.enter_context(torch.autocast("cuda", enabled=False))
            # cuDNN's recurrent layers have no backward pass in evaluation mode.
            stack.enter_context(torch.backends.cudnn.flags(enabled=False))
        yield


def _refuse_lazy(roots: list[Any]) -> None:
    for root in roots:
        for name, tensor in (*root.named_parameters(), *root.named_buffers()):
            if torch.nn.parameter.is_lazy(tensor):
                raise ExtractionError(
                    f"The weights {name!r} have no shape yet; run the network once on data, "
                    f"then extract."
                )


def _record_tensors(stack: ExitStack, roots: list[Any]) -> None:
    """Put gradients, flags and values back when the stack ends; no gradients until then."""
    parameters = {id(p): p for root in roots for p in root.parameters()}
    every = parameters | {id(b): b for root in roots for b in root.buffers()}
    for parameter in (one for one in parameters.values() if one.is_leaf):
        stack.callback(setattr, parameter, "grad", parameter.grad)
        parameter.grad = None
    for tensor in (one for one in every.values() if one.is_leaf):
        stack.callback(_restore_flag, tensor, tensor.requires_grad)
    is_large = sum(p.numel() for p in parameters.values()) > COPIED_NUMBERS
    for place, tensor in every.items():
        if not (is_large and place in parameters):
            stack.callback(_restore_values, tensor, tensor.data, tensor.detach().clone())


def _restore_flag(tensor: Any, flag: bool) -> None:
    if tensor.requires_grad != flag:
        tensor.requires_grad_(flag)


def _restore_values(tensor: Any, storage: Any, copy: Any) -> None:
    if tensor.data_ptr() != storage.data_ptr():
        tensor.data = storage
    if not torch.equal(storage, copy):
        storage.copy_(copy)


def _record_module(stack: ExitStack, module: Any) -> None:
    if isinstance(module, torch.jit.ScriptModule):
        stack.callback(setattr, module, "training", module.training)
        return
    attributes = dict(module.__dict__)
    contents = {
        key: value.copy() for key, value in attributes.items() if type(value) in _CONTAINERS
    }
    stack.callback(_restore_attributes, module, attributes, contents)


def _restore_attributes(module: Any, attributes: dict[str, Any], contents: dict[str, Any]) -> None:
    # Straight in the dictionary: __setattr__ of modules does more than set.
    current = module.__dict__
    for key in [key for key in current if key not in attributes]:
        del current[key]
    for key, value in attributes.items():
        if current.get(key) is not value:
            current[key] = value
    for key, content in contents.items():
        container = attributes[key]
        if isinstance(container, list):
            container[:] = content
        else:
            container.clear()
            container.update(content)


@contextmanager
def random_state_kept(seed: int, generators: Iterable[Any] = ()) -> Iterator[None]:
    """Seed every global generator, and restore them and others at the end, also after an error."""
    with ExitStack() as stack:
        for generator in generators:
            if generator is not None:
                stack.callback(generator.set_state, generator.get_state())
        # The global states are the user's, and are given back.
        stack.callback(random.setstate, random.getstate())
        random.seed(seed)
        stack.callback(np.random.set_state, np.random.get_state())  # noqa: NPY002
        np.random.seed(seed % 2**32)  # noqa: NPY002
        stack.callback(torch.set_rng_state, torch.get_rng_state())
        # torch.manual_seed would leave a seed waiting for a device that is started later.
        torch.default_generator.manual_seed(seed)
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            stack.callback(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all())
            torch.cuda.manual_seed_all(seed)
        if torch.backends.mps.is_available():
            stack.callback(torch.mps.set_rng_state, torch.mps.get_rng_state())
            torch.mps.manual_seed(seed)
        yield


def drawn_so_far() -> tuple[bytes, ...]:
    """The states of the global generators, which change when anything is drawn."""
    numpy = np.random.get_state(legacy=False)  # noqa: NPY002
    states = [
        torch.get_rng_state().numpy().tobytes(),
        repr(numpy).encode(),
        repr(random.getstate()).encode(),
    ]
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        states += [state.numpy().tobytes() for state in torch.cuda.get_rng_state_all()]
    return tuple(states)


def as_tensor(value: Any, dtype: Any, device: Any) -> Any:
    """An array as a tensor on a device; real numbers get the type in which the network runs."""
    tensor = (
        value.detach() if isinstance(value, torch.Tensor) else torch.from_numpy(np.array(value))
    )
    return tensor.to(device=device, dtype=dtype if tensor.is_floating_point() else tensor.dtype)


def as_like(value: Any, like: Any) -> Any:
    """An array as a tensor beside another one."""
    return as_tensor(value, like.dtype, like.device)


def transform_for(transform: Any, dtype: Any, device: Any) -> Any:
    """The step before the network for a type and device; a fitted scaler becomes affine."""
    if isinstance(transform, torch.nn.Module):
        if all(
            p.dtype == dtype and p.device == device
            for p in transform.parameters()
            if p.is_floating_point()
        ):
            return transform
        return copy.deepcopy(transform).to(device=device, dtype=dtype)
    if transform is None or callable(transform):
        return transform
    if hasattr(transform, "transform"):
        matrix, offset = affine_map(transform)
        slope, shift = as_tensor(matrix, dtype, device), as_tensor(offset, dtype, device)
        return lambda inputs: inputs @ slope + shift
    raise ExtractionError(
        f"transform={transform!r} is neither a function nor a fitted scaler. Pass a function of "
        "tensors, a torch module, or an object with a transform method."
    )


def affine_map(scaler: Any) -> tuple[np.ndarray, np.ndarray]:
    """Matrix and offset of a fitted scaler ``x -> x @ matrix + offset``, found by probing it."""
    n_inputs = getattr(scaler, "n_features_in_", None)
    if n_inputs is None:
        raise ExtractionError(
            f"transform={scaler!r} is not fitted; fit it, or pass a function of tensors."
        )
    probes = np.random.default_rng(0).normal(size=(8, n_inputs))
    # Scalers that were fitted on a table want its column names; the order is what counts here.
    with warnings.catch_warnings(action="ignore"):
        offset = np.asarray(scaler.transform(np.zeros((1, n_inputs))), dtype=float)[0]
        matrix = np.asarray(scaler.transform(np.eye(n_inputs)), dtype=float) - offset
        # A copy, since some scalers work in place.
        expected = np.asarray(scaler.transform(probes.copy()), dtype=float)
    if not np.allclose(
        probes @ matrix + offset, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max()
    ):
        raise ExtractionError(
            f"transform={scaler!r} is not affine, so it has no known gradient. Write it as a "
            f"torch function."
        )
    return matrix, offset
