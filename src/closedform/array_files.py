"""Arrays in ``.npz`` files, read without trust: sizes are checked before memory is asked for."""

import io
import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from closedform import limits
from closedform.errors import DamagedFileError
from closedform.files import reading

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


def read_header(arrays: dict[str, np.ndarray]) -> Any:
    """What is not an array: JSON as bytes, taken out of the arrays.

    Raises
    ------
    ValueError
        If it is too long, or not JSON.
    """
    text = arrays.pop("header").tobytes()
    if len(text) > limits.TEXT:
        raise ValueError(
            f"its header has {len(text):,} bytes, and at most {limits.TEXT:,} are read"
        )
    return json.loads(text.decode())


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
