"""A task, its limits, and the key under which its result is stored."""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from hashlib import blake2b
from importlib import import_module
from typing import Any

import numpy as np

from closedform.errors import ClosedformError

Function = Callable[[dict[str, Any]], dict[str, Any]]

KEY_BYTES = 16
"""Among 10^9 keys of 16 bytes two are alike with a probability of about 10^-21."""


class TaskError(ClosedformError, ValueError):
    """A task or its limits cannot be used."""


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work."""

    key: str  # of its result in the store
    function: str
    """``"package.module:function"``, called with the payload; it returns the record. A name and not
    a function, so that nothing but text travels.
    """
    payload: Mapping[str, Any]
    """What JSON can hold; large arrays stay on shared storage and are named here."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Goes into the record of a task that failed, where there is no other."""
    label: str = "status"  # the entry of the record that progress counts

    @property
    def request(self) -> dict[str, Any]:
        """What the process that runs it is told."""
        return {"function": self.function, "payload": dict(self.payload)}

    def __str__(self) -> str:
        return (
            " ".join(str(value) for value in self.about.values() if value is not None) or self.key
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """What a task may use before it is stopped and recorded as failed.

    Attributes
    ----------
    seconds : float or None
        Time of one attempt. It only stops what hangs: effort is limited by what the task itself
        counts.
    memory : int or None
        Bytes of resident memory.
    attempts : int
        How often a task that fails, dies or exceeds a limit is tried.
    losses : int
        How often a task is sent again if its worker is lost, which is seldom the task's fault.
    patience : float
        Seconds that a run waits while a cluster has no workers at all, as an adaptive one may for
        a while.
    """

    seconds: float | None = 1800.0
    memory: int | None = 4 * 2**30
    attempts: int = 2
    losses: int = 10
    patience: float = 600.0

    def __post_init__(self) -> None:
        for name in ("seconds", "memory", "attempts", "losses", "patience"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise TaskError(f"The limit on {name} must be positive; got {value}.")


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What a worker says about a task; the record itself is in the store."""

    key: str
    label: str = ""  # from the record; empty if there is none
    fault: str | None = None  # why there is no record
    is_of_store: bool = False  # whether the store is at fault and not the task


def resolve(function: str) -> Function:
    """Import a function by name."""
    module, _, name = function.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise TaskError(
            f"The function {function!r} cannot be imported ({error}); is the same closedform "
            f"installed on every worker?"
        ) from error


class KeyContentError(ClosedformError, TypeError):
    """A value has no content that every machine would see alike."""


def content_key(content: Mapping[str, Any]) -> str:
    """A name for what a task is made of: equal content gives the same key, anything else another.

    Content is numbers, text, bytes, None, arrays, dataclasses, and lists, tuples and mappings of
    these. The order of a mapping's entries does not count; an integer and a float of the same value
    differ.

    Examples
    --------
    >>> content_key({"seed": 0, "engine": "terms"}) == content_key({"engine": "terms", "seed": 0})
    True
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
