"""Keys by content: the same work has the same name on every machine, so that nothing is done
twice.
"""

import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from closedform.errors import ClosedformError

KEY_BYTES = 16
"""Among 10^9 keys of 16 bytes two are alike with a probability of about 10^-21."""


class KeyContentError(ClosedformError, TypeError):
    """A value has no content that every machine would see alike."""


def content_key(content: Mapping[str, Any]) -> str:
    """A name for what a task is made of: equal content gives the same key, anything else another.

    Parameters
    ----------
    content : mapping
        Numbers, text, bytes, None, arrays, dataclasses, and lists, tuples and mappings of these.
        The order of a mapping's entries does not count; an integer and a float of the same value
        differ.

    Returns
    -------
    str
        32 characters, 0-9 and a-f.

    Raises
    ------
    KeyContentError
        If there is a value of another type, such as a function.

    Examples
    --------
    >>> content_key({"seed": 0, "engine": "terms"}) == content_key({"engine": "terms", "seed": 0})
    True
    >>> content_key({"seed": 0}) == content_key({"seed": 1})
    False
    """
    digest = blake2b(digest_size=KEY_BYTES)
    _feed(digest, content)
    return digest.hexdigest()


def _feed(digest: blake2b, value: Any) -> None:
    """Each value with its kind and length in front, so that no two contents give the same bytes."""
    if isinstance(value, np.generic):
        value = value.item()
    plain = _plain_bytes(value)
    if plain is not None:
        _piece(digest, type(value).__name__, plain)
    elif isinstance(value, np.ndarray):
        # Bytes in one order for all machines.
        ordered = np.ascontiguousarray(value.astype(value.dtype.newbyteorder("<"), copy=False))
        if ordered.dtype.hasobject:
            raise KeyContentError(
                f"An array of {value.dtype} holds objects, which have no bytes; pass numbers "
                f"or text."
            )
        _piece(digest, "array", f"{ordered.dtype.str}{value.shape}".encode())
        _piece(digest, "bytes", ordered.tobytes())
    elif isinstance(value, Mapping):
        _piece(digest, "mapping", str(len(value)).encode())
        for name in sorted(value):
            _feed(digest, name)
            _feed(digest, value[name])
    elif isinstance(value, list | tuple):
        _piece(digest, "sequence", str(len(value)).encode())
        for entry in value:
            _feed(digest, entry)
    elif is_dataclass(value) and not isinstance(value, type):
        _piece(digest, "dataclass", type(value).__qualname__.encode())
        _feed(digest, {field.name: getattr(value, field.name) for field in fields(value)})
    else:
        raise KeyContentError(
            f"{value!r} is a {type(value).__name__}, which has no content that every machine sees "
            "alike; describe it by numbers and text."
        )


def _plain_bytes(value: Any) -> bytes | None:
    if isinstance(value, bytes):
        return value
    if isinstance(value, float):
        return struct.pack("<d", value)
    if value is None or isinstance(value, bool | int | str):
        return str(value).encode()
    return None


def _piece(digest: blake2b, kind: str, content: bytes) -> None:
    digest.update(f"{kind}:{len(content)}:".encode())
    digest.update(content)
