"""What a file holds, told without opening it: nothing in it is imported, called or evaluated."""

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from closedform.array_files import MAX_MEMORY, check_sizes
from closedform.errors import ClosedformError, DamagedFileError
from closedform.networks.errors import ModelFileError
from closedform.networks.model_files import STATE_DICTS
from closedform.networks.untrusted.pickles import Call, Name, Pickle, Reference, read_pickles
from closedform.optional import require

_PICKLED = "pickled objects"
_PICKLE_ENDINGS = (".pkl", ".pickle")
_BROKEN_ARCHIVE = (
    zipfile.BadZipFile,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class FilePart:
    """A named part of a file: an entry of an archive, or a tensor.

    Attributes
    ----------
    name : str
    detail : str
        Its size, or its shape and type.
    """

    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file holds.

    Attributes
    ----------
    kind : str
        What the file is.
    size : int
        In bytes.
    entries : tuple of FilePart
        The entries of an archive, or the fields of a JSON file.
    tensors : tuple of FilePart
        Arrays and tensors, as far as the file names them.
    imports : tuple of str
        What unpickling it would import, and so could run.
    refusal : str
        Why closedform does not open it; empty if it does.
    """

    kind: str
    size: int
    entries: tuple[FilePart, ...] = ()
    tensors: tuple[FilePart, ...] = ()
    imports: tuple[str, ...] = ()
    refusal: str = ""


def inspect_file(path: str | os.PathLike[str]) -> FileContent:
    """Say what a model file, a data file or a result holds, and whether closedform opens it.

    Parameters
    ----------
    path : path
        A ``.pt2``, ``.safetensors``, ``.pt``, ``.pth``, ``.bin``, ``.ckpt``, ``.npz`` or ``.json``.

    Returns
    -------
    FileContent

    Raises
    ------
    ModelFileError
        If there is no such file.
    """
    file = Path(path)
    if not file.is_file():
        raise ModelFileError(f"There is no file {str(file)!r}.")
    ending = file.suffix.lower()
    if ending == ".pt2":
        return _exported(file)
    if ending == ".safetensors":
        return _safetensors(file)
    if ending in STATE_DICTS:
        return _saved(file)
    if ending == ".npz":
        return _arrays(file)
    if ending == ".json":
        return _json(file)
    known = ", ".join((".pt2", ".safetensors", *STATE_DICTS, ".npz", ".json"))
    return FileContent("unknown", _size(file), refusal=f"Its ending is not one of {known}.")


def _size(file: Path) -> int:
    return file.stat().st_size


def _refusal(check: Any, *arguments: Any, **options: Any) -> str:
    """Why a check refuses; empty if it does not."""
    try:
        check(*arguments, **options)
    except ClosedformError as error:
        return str(error)
    return ""


def _exported(file: Path) -> FileContent:
    from closedform.networks.untrusted.exported_archive import clean_archive

    entries, pickles = _archive_entries(file)
    return FileContent(
        "network of torch.export",
        _size(file),
        entries=entries,
        tensors=tuple(_configured_tensors(file)),
        imports=_imports(pickles),
        refusal=_refusal(clean_archive, file),
    )


def _saved(file: Path) -> FileContent:
    from closedform.networks.untrusted.tensors import is_plain, read_tensors

    if zipfile.is_zipfile(file):
        entries, pickles = _archive_entries(file)
        kind, refusal = "archive of torch.save", _refusal(read_tensors, file, name=file.name)
    elif tarfile.is_tarfile(file):
        refusal = "Its layout is not read. Save it again with torch 1.6 or later."
        return FileContent("tar archive of an old torch", _size(file), refusal=refusal)
    else:
        # Before 1.6, torch wrote five pickles and then the bytes of the tensors.
        entries, pickles = (), list(islice(read_pickles(file.read_bytes()), 5))
        kind = "pickle" if pickles and not pickles[0].problem else "unknown"
        strange = [name for pickle in pickles for name in pickle.names if not is_plain(name)]
        refusal = f"It is not a plain state dict: it names {strange[0]}." if strange else ""
        refusal = refusal or ("" if kind == "pickle" else "It is neither an archive nor a pickle.")
    tensors = [part for pickle in pickles for part in _pickled_tensors(pickle.value)]
    return FileContent(kind, _size(file), entries, tuple(tensors), _imports(pickles), refusal)


def _imports(pickles: list[Pickle]) -> tuple[str, ...]:
    found = [str(name) for pickle in pickles for name in pickle.names]
    found += [f"(a broken pickle: {pickle.problem})" for pickle in pickles if pickle.problem]
    return tuple(dict.fromkeys(found))


def _archive_entries(file: Path) -> tuple[tuple[FilePart, ...], list[Pickle]]:
    """The entries of an archive, and the pickles in it."""
    try:
        with zipfile.ZipFile(file) as archive:
            listed = archive.infolist()
            entries = [FilePart(entry.orig_filename, _described_entry(entry)) for entry in listed]
            return tuple(entries), list(_pickles_of(archive, _size(file), depth=0))
    except _BROKEN_ARCHIVE as error:
        return (FilePart("(the archive)", f"cannot be read: {error}"),), []


def _described_entry(entry: zipfile.ZipInfo) -> str:
    if entry.compress_type == zipfile.ZIP_STORED:
        return f"{entry.file_size:,} bytes"
    return f"{entry.file_size:,} bytes, packed into {entry.compress_size:,}"


def _pickles_of(archive: zipfile.ZipFile, length: int, depth: int) -> Iterator[Pickle]:
    """The pickles in an archive and in archives in it; what is packed is not unpacked."""
    stored = [entry for entry in archive.infolist() if entry.compress_type == zipfile.ZIP_STORED]
    if depth > 3 or sum(entry.file_size for entry in stored) > length:
        return
    for entry in stored:
        payload = archive.read(entry)
        if payload[:4] == b"PK\x03\x04":
            with suppress(*_BROKEN_ARCHIVE), zipfile.ZipFile(io.BytesIO(payload)) as inner:
                yield from _pickles_of(inner, len(payload), depth + 1)
        elif _looks_pickled(entry.filename, payload):
            yield from read_pickles(payload)


def _looks_pickled(name: str, payload: bytes) -> bool:
    is_framed = payload[:1] == b"\x80" and payload[-1:] == b"."
    return is_framed or name.lower().endswith(_PICKLE_ENDINGS)


def _configured_tensors(file: Path) -> Iterator[FilePart]:
    """The tensors that an exported network lists in its own configuration."""
    from closedform.networks.untrusted.archive import read_archive
    from closedform.networks.untrusted.exported_archive import described_tensors

    try:
        for name, description in described_tensors(read_archive(file, name=file.name)):
            yield FilePart(name, description)
    except ModelFileError:
        return


def _pickled_tensors(value: Any, prefix: str = "", depth: int = 0) -> Iterator[FilePart]:
    """Tensors in the dictionaries of a pickle, under dotted names."""
    if depth > 8:
        return
    if isinstance(value, Call):
        if str(value.function).startswith("torch._utils._rebuild_parameter") and value.arguments:
            value = value.arguments[0]
        if str(value.function) == "collections.OrderedDict":
            value = {item[0]: item[1] for item in value.items if _is_named(item)}
    if isinstance(value, Call):
        if str(value.function).startswith("torch._utils._rebuild_tensor"):
            yield FilePart(prefix or "(unnamed)", _described_tensor(value.arguments))
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _pickled_tensors(part, f"{prefix}.{key}" if prefix else str(key), depth + 1)


def _is_named(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)


def _described_tensor(arguments: Any) -> str:
    match arguments:
        case (Reference(identity=("storage", Name(attribute=kind), *_)), _, tuple() as sizes, *_):
            shape = "x".join(str(size) for size in sizes if isinstance(size, int)) or "one number"
            return f"{shape} {kind.removesuffix('Storage').lower()}"
    return "unreadable"


def _safetensors(file: Path) -> FileContent:
    try:
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(8), "little")
            if not 0 < length <= _size(file) - 8:
                raise ValueError(f"its header claims {length:,} bytes")
            header = json.loads(opened.read(length))
        tensors = [
            FilePart(name, f"{'x'.join(map(str, value['shape'])) or 'one number'} {value['dtype']}")
            for name, value in header.items()
            if name != "__metadata__"
        ]
        metadata = header.get("__metadata__") or {}
        entries = [FilePart(str(key), f"{str(value)[:60]!r}") for key, value in metadata.items()]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        refusal = f"{file.name} is damaged or not a .safetensors file ({error}). Write it again."
        return FileContent("unknown", _size(file), refusal=refusal)
    refusal = _refusal(_check_safetensors, file)
    kind = "weights as .safetensors"
    return FileContent(kind, _size(file), tuple(entries), tuple(tensors), refusal=refusal)


def _check_safetensors(file: Path) -> None:
    """Let the format's own reader look at the header; it maps the file and reads no tensor."""
    safetensors = require("safetensors", extra="torch")
    try:
        with safetensors.safe_open(str(file), framework="numpy"):
            pass
    except Exception as error:  # its own kind is not a public name in every version
        raise ModelFileError(f"{file.name} is damaged ({error}). Write it again.") from error


def _arrays(file: Path) -> FileContent:
    try:
        with zipfile.ZipFile(file) as archive:
            check_sizes(file, archive.infolist(), _size(file))
            arrays = []
            for entry in archive.infolist():
                with archive.open(entry) as opened:
                    arrays.append(
                        FilePart(entry.filename.removesuffix(".npy"), _array_header(opened))
                    )
    except DamagedFileError as error:
        return FileContent("data", _size(file), refusal=str(error))
    except Exception as error:  # NumPy, zipfile and zlib each have their own kinds
        refusal = f"{file.name} is not an .npz of plain arrays ({error})."
        return FileContent("unknown", _size(file), refusal=refusal)
    names = {array.name for array in arrays}
    kind = "gradient field" if "header" in names and "points" in names else "data"
    pickled = [array.name for array in arrays if _PICKLED in array.detail]
    refusal = f"The array {pickled[0]!r} is pickled, and pickles are not opened." if pickled else ""
    if not refusal and kind == "data" and "inputs" not in names:
        held = ", ".join(sorted(names)) or "nothing"
        refusal = f"It holds {held}; it must hold an array named 'inputs'."
    return FileContent(kind, _size(file), tensors=tuple(arrays), refusal=refusal)


def _array_header(opened: Any) -> str:
    version = np.lib.format.read_magic(opened)
    layout = np.lib.format
    is_first = version == (1, 0)
    read = layout.read_array_header_1_0 if is_first else layout.read_array_header_2_0
    shape, _, dtype = read(opened)
    return f"{'x'.join(map(str, shape)) or 'one number'} {_PICKLED if dtype.hasobject else dtype}"


def _json(file: Path) -> FileContent:
    if _size(file) > MAX_MEMORY:
        refusal = f"It has {_size(file):,} bytes; results are far smaller."
        return FileContent("JSON", _size(file), refusal=refusal)
    try:
        content = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        return FileContent("unknown", _size(file), refusal=f"It is not JSON ({error}).")
    fields = content.items() if isinstance(content, dict) else ()
    entries = tuple(FilePart(str(key), type(value).__name__) for key, value in fields)
    stated = content.get("format") if isinstance(content, dict) else None
    if stated == "closedform interpretation":
        kind = f"closedform interpretation, schema {content.get('schema')!r:.20}"
        return FileContent(kind, _size(file), entries)
    refusal = "It is not an interpretation that closedform wrote."
    return FileContent("JSON", _size(file), entries, refusal=refusal)
