"""What a network is made of, as a short text: the same weights give the same one, on every machine
and every day.
"""

from hashlib import blake2b
from typing import Any

import numpy as np

from closedform.networks.model_files import LoadedModel


def fingerprint(model: Any) -> str | None:
    """A checksum of a torch module's layers and weights, or None where a network cannot be told by
    its parts.

    Parameters
    ----------
    model : object
        As in `closedform.extract_field`.

    Examples
    --------
    >>> import torch
    >>> layer = torch.nn.Linear(2, 1)
    >>> before = fingerprint(layer)
    >>> with torch.no_grad():
    ...     layer.weight += 1
    >>> before == fingerprint(layer), fingerprint(abs)
    (False, None)
    """
    network = model.model if isinstance(model, LoadedModel) else model
    if not (hasattr(network, "state_dict") and hasattr(network, "named_modules")):
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
