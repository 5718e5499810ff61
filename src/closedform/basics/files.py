"""The one way to write a file: next to its place first, then into it in one move. And the one way
to say that a file which was read is damaged.
"""

import io
import json
import math
import os
import stat
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import numpy as np

from closedform.basics import limits
from closedform.errors import DamagedFileError, SaveError, StorageError, first_line

PARTIAL = ".partial-"
"""How the names of unfinished files begin; only a process that was killed leaves one behind."""

_WRITE_AGAIN = "write it again with numpy.savez, without objects"


@contextmanager
def replacing(
    path: str | os.PathLike[str],
    *,
    workshop: str | os.PathLike[str] | None = None,
    is_durable: bool = True,
) -> Iterator[BinaryIO]:
    """Open a file for writing whose content takes the place of a file in one move, at the end.

    Whoever looks sees the old file or the new one, never half of one: also when the disk is full,
    when the writing raises, and when the process is killed. The file gets the mode of the one that
    it replaces, or what the umask allows. A link is followed, and what is not a plain file, such
    as ``/dev/stdout``, is written to directly.

    workshop: an existing folder on the same disk for the unfinished file; by default the file's.
    is_durable: whether the content is flushed to the disk first, so that a power cut leaves a whole
        file too.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/a.txt") as file:
    ...         _ = file.write(b"new")
    ...     Path(folder, "a.txt").read_text(), os.listdir(folder)
    ('new', ['a.txt'])
    """
    with _told(path):
        if _is_special(path):
            with open(path, "wb") as file:
                yield file
            return
        target = _checked_place(path)
        partial = (target.parent if workshop is None else Path(workshop)) / _partial_name()
        try:
            # With the mode that the umask allows; tempfile would make it the owner's alone.
            with open(partial, "xb") as file:
                yield file
                file.flush()
                if is_durable:
                    os.fsync(file.fileno())
            if target.exists():
                os.chmod(partial, stat.S_IMODE(target.stat().st_mode))
            os.replace(partial, target)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def write_bytes(
    path: str | os.PathLike[str],
    content: bytes,
    *,
    workshop: str | os.PathLike[str] | None = None,
    is_durable: bool = True,
) -> None:
    """Write a file, or leave the old one; see `replacing`."""
    with replacing(path, workshop=workshop, is_durable=is_durable) as file:
        file.write(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file in UTF-8, or leave the old one; see `replacing`."""
    # Encoded first, and not by the file, which would write other line ends on some systems.
    write_bytes(path, text.encode())


@contextmanager
def reading(path: str | os.PathLike[str], remedy: str) -> Iterator[None]:
    """Say which file it was, and what to do, whatever a damaged one makes its reader raise;
    `remedy` ends the sentence. Errors that speak of files themselves pass.

    Examples
    --------
    >>> with reading("a.json", "write it again"):
    ...     {}["points"]
    Traceback (most recent call last):
    closedform.errors.DamagedFileError: a.json is damaged or of another kind ('points' is missing);
    write it again.
    """
    try:
        yield
    except (StorageError, FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except Exception as error:  # NumPy, zipfile, zlib, json and cattrs each have their own kinds
        said = first_line(error)
        if isinstance(error, KeyError):
            said += " is missing"
        raise DamagedFileError(
            f"{path} is damaged or of another kind ({said}); {remedy}.", path=str(path)
        ) from error


def check_output(path: str | os.PathLike[str], endings: Sequence[str] = ()) -> None:
    """Raise a SaveError if a file cannot be written, before the work whose result it is to hold.

    Its name may end in `endings` only, if there are any; ``/dev/stdout`` and the like may have any
    name.
    """
    with _told(path):
        if _is_special(path):
            return
        target = _checked_place(path)
        if endings and target.suffix.lower() not in endings:
            allowed = " or ".join(endings)
            raise SaveError(f"{path} cannot be written: its name must end in {allowed}.")
        # Permissions do not tell all: a disk may be read-only, or have no entry left.
        probe = target.parent / _partial_name()
        open(probe, "xb").close()
        probe.unlink()


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise a SaveError if files cannot be written into a folder that exists or can be made;
    nothing is made.
    """
    folder = Path(os.path.abspath(path))
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise SaveError(f"{path} cannot be a folder: {folder} is a file. Name a folder.")
    check_output(folder / _partial_name())


def path_fault(path: object) -> str | None:
    """Why something cannot be a path, or None. Numbers would be taken for descriptors."""
    if not isinstance(path, str | os.PathLike):
        return f"{type(path).__name__} is not a path"
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        return "it is empty" if not text else "it is made of bytes"
    # Half a character has no bytes.
    is_broken = any("\ud800" <= one <= "\udc7f" or "\udd00" <= one <= "\udfff" for one in text)
    return "it holds characters that no path has" if is_broken or "\0" in text else None


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Whether it is neither a file nor a folder but a terminal, a pipe or a device."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _checked_place(path: str | os.PathLike[str]) -> Path:
    """The file that a path, possibly a link, stands for."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise SaveError(f"{path} cannot be written: it is a folder. Name a file.")
    if not target.parent.is_dir():
        folder = Path(path).parent
        raise SaveError(f"{path} cannot be written: there is no folder {folder}. Make it first.")
    return target


@contextmanager
def _told(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say which file it was: the system would name the unfinished one, or none."""
    fault = path_fault(path)
    if fault is not None:
        raise SaveError(f"{path!r:.200} cannot be written: {fault}. Name a file.")
    try:
        yield
    except SaveError:
        raise
    except OSError as error:
        said = error.strerror or str(error)
        raise SaveError(
            f"{path} cannot be written: {said}. What was there before is unchanged."
        ) from error


def _partial_name() -> str:
    return f"{PARTIAL}{uuid4().hex}"


def read_arrays(
    path: str | os.PathLike[str], *, remedy: str = _WRITE_AGAIN, content: bytes | None = None
) -> dict[str, np.ndarray]:
    """The arrays of a file, or of its `content` where that has been read already, by name; nothing
    is unpickled.

    A file that is damaged, holds something else, or would take far more memory than real data is a
    DamagedFileError, which ends in `remedy`.
    """
    with reading(path, remedy):
        source = Path(path) if content is None else io.BytesIO(content)
        size = Path(path).stat().st_size if content is None else len(content)
        with zipfile.ZipFile(source) as archive:
            entries = archive.infolist()
            check_sizes(path, entries, size)
            return {
                entry.filename.removesuffix(".npy"): _array(archive, entry) for entry in entries
            }


def read_header(arrays: dict[str, np.ndarray]) -> Any:
    """What is not an array: JSON as bytes, taken out of the arrays."""
    text = arrays.pop("header").tobytes()
    if len(text) > limits.TEXT:
        raise ValueError(
            f"its header has {len(text):,} bytes, and at most {limits.TEXT:,} are read"
        )
    return json.loads(text.decode())


def check_sizes(path: str | os.PathLike[str], entries: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse a small file, of `size` bytes, that would fill the memory or holds an array twice."""
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise DamagedFileError(f"{path} holds an array twice; {_WRITE_AGAIN}.", path=str(path))
    expanded = sum(entry.file_size for entry in entries)
    if expanded > limits.ARRAYS * limits.scale(size):
        raise DamagedFileError(
            f"{path} has {size:,} bytes but would take {expanded:,} in memory, far more than real "
            "data. If it is your own file, write it again with numpy.savez, which does not "
            "compress.",
            path=str(path),
        )


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    """One array; its header must claim as many bytes as follow it, or NumPy would ask for any."""
    layout = np.lib.format
    with archive.open(entry) as opened:
        is_first = layout.read_magic(opened) == (1, 0)
        read = layout.read_array_header_1_0 if is_first else layout.read_array_header_2_0
        shape, _, dtype = read(opened)
        left = entry.file_size - opened.tell()
    if not dtype.hasobject and math.prod(shape) * dtype.itemsize != left:
        raise ValueError(f"{entry.filename!r} claims shape {shape} and has {left} bytes")
    with archive.open(entry) as opened:
        return layout.read_array(opened, allow_pickle=False)
