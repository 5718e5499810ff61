"""ZIP archives as torch writes them, read strictly: plain names, once each, nothing compressed."""

import io
import re
import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.limits import MAX_ENTRIES

TRUSTED = "With allow_pickle=True (--allow-pickle) it is opened unchecked, and its code runs."
"""What refusals end with."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_@+=\-. ]+(/[A-Za-z0-9_@+=\-. ]+)*")
_UTF8_NAME, _SIZES_FOLLOW = 0x800, 0x8
_END = struct.Struct("<4s4H2LH")


def is_archive(content: bytes) -> bool:
    """Whether these bytes begin as a ZIP archive."""
    return content[:4] == b"PK\x03\x04"


def read_archive(source: Path | bytes, *, name: str) -> dict[str, bytes]:
    """The entries of an archive, by name.

    torch compresses nothing, so compressed entries are refused, and with them everything that
    grows when it is opened: the entries together are at most as large as the file.

    Raises
    ------
    ModelFileError
        If it is not such an archive; `name` is what the message calls it.
    """
    content = source if isinstance(source, bytes) else source.read_bytes()
    _check_ends(content, name)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check_entries(entries, len(content), name)
            return {entry.filename: archive.read(entry) for entry in entries}
    except (
        zipfile.BadZipFile,
        struct.error,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ) as error:
        raise _broken(name, str(error)) from error


def write_archive(entries: Mapping[str, bytes]) -> io.BytesIO:
    """An archive of these entries, for torch to read."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, payload in entries.items():
            archive.writestr(zipfile.ZipInfo(name), payload)
    buffer.seek(0)
    return buffer


def _check_ends(content: bytes, name: str) -> None:
    """The archive is the whole file: nothing before it, nothing after it, no comment."""
    if not is_archive(content) or len(content) < _END.size:
        raise _broken(name, "it does not begin as a ZIP archive")
    signature, *_, comment = _END.unpack(content[-_END.size :])
    if signature != b"PK\x05\x06" or comment:
        raise _broken(name, "something follows its ZIP archive")


def _check_entries(entries: list[zipfile.ZipInfo], length: int, name: str) -> None:
    if len(entries) > MAX_ENTRIES:
        raise _broken(name, f"it has {len(entries):,} entries; at most {MAX_ENTRIES:,} are read")
    seen: set[str] = set()
    for entry in entries:
        reason = _reason_against(entry)
        if reason is None and entry.filename.casefold() in seen:
            reason = "occurs twice, perhaps in capitals, and readers differ in which they take"
        if reason is not None:
            raise _broken(name, f"its entry {entry.orig_filename!r:.200} {reason}")
        seen.add(entry.filename.casefold())
    if sum(entry.file_size for entry in entries) > length:
        raise _broken(name, "its entries overlap")
    if entries and min(entry.header_offset for entry in entries) > 0:
        raise _broken(name, "something stands before its ZIP archive")


def _reason_against(entry: zipfile.ZipInfo) -> str | None:
    if entry.filename != entry.orig_filename or not _PLAIN_NAME.fullmatch(entry.filename):
        return "does not have a plain relative name"
    if any(part.strip(" .") == "" for part in entry.filename.split("/")):
        return "points out of the archive"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "is a symbolic link"
    if entry.flag_bits & ~(_UTF8_NAME | _SIZES_FOLLOW):
        return "is encrypted or patched"
    if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
        return "is compressed, which torch never does"
    return None


def _broken(name: str, reason: str) -> ModelFileError:
    return ModelFileError(
        f"{name} is not a file as torch.export.save or torch.save writes it: {reason}. "
        "It was changed or damaged on the way. Get it again, or save it again with torch. "
        f"{TRUSTED}"
    )
