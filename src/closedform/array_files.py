"""Arrays in ``.npz`` files, read without trust: sizes are checked before memory is asked for."""

import io
import math
import os
import zipfile
from pathlib import Path

import numpy as np

from closedform.errors import DamagedFileError
from closedform.files import reading

MAX_MEMORY = 2**28
"""Bytes that a file may take in memory, however small it is."""

MAX_TEXT = 2**24
"""Bytes of JSON that are read: far more than answers have, and Python takes 25 times as many."""

MAX_EXPANSION = 200
"""How many times its own size a file may take beyond that; zlib reaches 1,000 with zeros."""

_WRITE_AGAIN = "write it again with numpy.savez, without objects"


def read_arrays(
    path: str | os.PathLike[str], *, remedy: str = _WRITE_AGAIN, content: bytes | None = None
) -> dict[str, np.ndarray]:
    """The arrays of a file, by name; nothing is unpickled.

    Parameters
    ----------
    path : str or path-like
        The file.
    remedy : str
        What to do if it is damaged, as the end of a sentence.
    content : bytes, optional
        What the file holds, where it has been read already.

    Raises
    ------
    DamagedFileError
        If it is damaged, holds something else, or would take far more memory than real data.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> stream = io.BytesIO()
    >>> np.savez(stream, inputs=np.eye(2))
    >>> read_arrays("data.npz", content=stream.getvalue())["inputs"].shape
    (2, 2)
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


def check_sizes(path: str | os.PathLike[str], entries: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse a small file that would fill the memory.

    Parameters
    ----------
    path : str or path-like
        The file, for the message.
    entries : list of ZipInfo
        What is in it.
    size : int
        Its bytes.

    Raises
    ------
    DamagedFileError
        If it would, or holds an array twice.
    """
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise DamagedFileError(f"{path} holds an array twice; {_WRITE_AGAIN}.", path=str(path))
    expanded = sum(entry.file_size for entry in entries)
    if expanded > max(MAX_MEMORY, MAX_EXPANSION * size):
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
