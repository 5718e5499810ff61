"""Ways to damage a file: bytes anywhere, entries of an archive, values in JSON."""

import io
import json
import random
import zipfile
from copy import deepcopy
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, 1e308, float("nan"), float("inf"), "", "x", "\ud800", "²", [], {},
    [[]], {"text": "x"}, "9" * 5000, "(" * 3000, [None] * 50,
)  # fmt: skip


def damaged_bytes(content: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, taken out, put in or doubled, or the end cut off."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        place = rng.randrange(len(data) + 1)
        length = rng.choice((1, 1, 2, 8, 100))
        way = rng.randrange(5)
        if way == 0:
            data[place : place + length] = rng.randbytes(min(length, len(data) - place))
        elif way == 1:
            del data[place : place + length]
        elif way == 2:
            data[place:place] = rng.randbytes(length)
        elif way == 3:
            data[place:place] = data[place : place + length]
        elif rng.random() < 0.2:
            del data[place:]
        else:
            data[place : place + length] = bytes(min(length, len(data) - place))
    return bytes(data)


def damaged_archive(content: bytes, rng: random.Random) -> bytes:
    """A sound archive with a damaged, missing, doubled or renamed entry: checksums do not tell."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
    place = rng.randrange(len(entries))
    entry, payload = entries[place]
    way = rng.randrange(6)
    if way == 0:
        del entries[place]
    elif way == 1:
        entries[place] = (entry, entries[rng.randrange(len(entries))][1])
    else:
        is_text = payload[:1] in (b"{", b"[")
        changed = damaged_json(payload, rng) if is_text and way < 4 else damaged_bytes(payload, rng)
        entries[place] = (entry, changed)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for one, one_payload in entries:
            archive.writestr(zipfile.ZipInfo(one.filename), one_payload, one.compress_type)
    return stream.getvalue()


def damaged_json(content: bytes, rng: random.Random) -> bytes:
    """JSON with an odd value somewhere, or an entry that is missing or misnamed."""
    whole = json.loads(content)
    for _ in range(rng.choice((1, 1, 2, 3))):
        part: Any = whole
        while True:
            keys = list(part) if isinstance(part, dict) else list(range(len(part)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(part[key], dict | list) and part[key] and rng.random() < 0.85:
                part = part[key]
                continue
            way = rng.random()
            if way < 0.15:
                del part[key]
            elif way < 0.2 and isinstance(part, dict):
                part[f"{key}_"] = part.pop(key)
            else:
                part[key] = deepcopy(rng.choice(ODD_VALUES))
            break
    return json.dumps(whole).encode()
