"""The arguments of a torch network: rows of data as tensors, fixed arguments, and what stands in
front of the network.
"""

import copy
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.optional import require
from closedform.networks.copies import own_copy
from closedform.networks.datasets import Key
from closedform.networks.errors import ExtractionError

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")


def as_tensor(value: Any, dtype: Any, device: Any) -> Any:
    """An array as a tensor on a device; real numbers get the type in which the network runs."""
    tensor = (
        value.detach() if isinstance(value, torch.Tensor) else torch.from_numpy(np.array(value))
    )
    return tensor.to(device=device, dtype=dtype if tensor.is_floating_point() else tensor.dtype)


def fixed_arguments(
    fixed: Mapping[int | str, Any] | None, count: int, dtype: Any, device: Any
) -> dict[Key, Any]:
    """The arguments that stay the same, for a batch of this size."""
    arguments: dict[Key, Any] = {}
    for key, value in (fixed or {}).items():
        if callable(value) and not isinstance(value, torch.nn.Module):
            value = value(count)
        is_array = isinstance(value, np.ndarray | torch.Tensor)
        arguments[key] = as_tensor(own_copy(value), dtype, device) if is_array else value
    return arguments


def transformed(transform: Any, parts: dict[Key, Any]) -> dict[Key, Any]:
    """The inputs after the step in front of the network: ``transform`` may return a tensor, a tuple
    or a dictionary.
    """
    if transform is None:
        return parts
    places = sorted(key for key in parts if isinstance(key, int))
    named = {key: value for key, value in parts.items() if isinstance(key, str)}
    result = transform(*(parts[place] for place in places), **named)
    if isinstance(result, Mapping):
        return dict(result)
    if isinstance(result, tuple):
        return dict(enumerate(result))
    return {next(iter(parts)) if len(parts) == 1 else 0: result}


def transform_for(transform: Any, dtype: Any, device: Any) -> Any:
    """The step in front of the network, ready for a type and a device; a fitted scaler becomes an
    affine map.
    """
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
    with warnings.catch_warnings():
        # Scalers that were fitted on a table want its column names; the order of columns is what
        # counts here.
        warnings.simplefilter("ignore")
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
