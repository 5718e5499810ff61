"""What a network is made of, as a short text: the same for the same weights on every machine."""

import sys
from contextlib import suppress
from hashlib import blake2b
from typing import Any

import numpy as np

from closedform.networks.model_files import torch_network
from closedform.networks.rows import as_parts
from closedform.networks.wrt import tried


def fingerprint(model: Any) -> str | None:
    """A checksum of a torch module's layers and weights, or None where a network cannot be told by
    its parts.

    model: as in `closedform.extract_field`.
    """
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

    points: the network's inputs at a few points.

    Examples
    --------
    >>> points = np.ones((2, 3))
    >>> behaviour(lambda x: 2 * x, points) == behaviour(lambda x: 3 * x, points)
    False
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
