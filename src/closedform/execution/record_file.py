"""One result as bytes: a line with format, key and checksum, then the record as JSON."""

import json
from hashlib import blake2b
from typing import Any

from closedform import limits
from closedform.errors import StorageError

SCHEMA = 1
_FORMAT = "closedform result"


def encode(key: str, record: dict[str, Any]) -> bytes:
    """The bytes of a file.

    Raises
    ------
    StorageError
        If the record holds what JSON does not know, or more than is read again.

    Examples
    --------
    >>> decode("k1", encode("k1", {"value": 0.1}))
    '{"value": 0.1}'
    """
    try:
        text = json.dumps(record)
    except (TypeError, ValueError) as error:
        raise StorageError(
            f"The record of {key!r} cannot be written as JSON ({error}); use numbers, text "
            f"and lists."
        ) from error
    content = text.encode()
    # A line of a kilobyte stands in front.
    if len(content) > limits.TEXT - 1024:
        raise StorageError(
            f"The record of {key!r} has {len(content):,} bytes, and at most {limits.TEXT:,} are "
            "read; keep large data in a file of its own."
        )
    header = {
        "format": _FORMAT,
        "schema": SCHEMA,
        "key": key,
        "checksum": _checksum(key, SCHEMA, content),
    }
    return json.dumps(header).encode() + b"\n" + content + b"\n"


def decode(key: str, data: bytes) -> str | None:
    """The record's JSON, or None where the file is damaged: torn, overwritten, another's, too
    long, or not a record.

    Raises
    ------
    StorageError
        If a later version wrote it.
    """
    if len(data) > limits.TEXT:
        return None
    first, _, rest = data.partition(b"\n")
    try:
        header = json.loads(first)
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict) or header.get("format") != _FORMAT or not rest.endswith(b"\n"):
        return None
    content, schema = rest[:-1], header.get("schema")
    if header.get("key") != key or header.get("checksum") != _checksum(key, schema, content):
        return None
    if not isinstance(schema, int) or schema > SCHEMA:
        raise StorageError(
            f"The result {key!r} has schema {schema}, and this version reads up to {SCHEMA}; "
            f"upgrade closedform."
        )
    text = content.decode(errors="replace")
    return None if as_record(text) is None else text


def as_record(text: str) -> dict[str, Any] | None:
    """What a text holds, or None where that is not a record.

    Examples
    --------
    >>> as_record('{"value": 0.1}'), as_record("[1]"), as_record("{")
    ({'value': 0.1}, None, None)
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _checksum(key: str, schema: Any, content: bytes) -> str:
    return blake2b(f"{schema} {key}\n".encode() + content, digest_size=16).hexdigest()
