"""The points of a sweep with their tangent space: computed once, kept on shared storage, read by
every worker.
"""

import io
import json
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.basics.files import read_arrays, read_header, reading
from closedform.errors import StorageError
from closedform.field.tangent_space import TangentSpace
from closedform.sweeping.execution.shared_folder import SharedFolder

FOLDER = "inputs"


@dataclass(frozen=True, slots=True, eq=False)
class SweepInputs:
    """What all fields of a sweep share.

    Attributes
    ----------
    points : ndarray, shape (n_points, n_inputs)
    names : tuple of str
    tangent : TangentSpace
    """

    points: FloatArray
    names: tuple[str, ...]
    tangent: TangentSpace

    def save(self, folder: SharedFolder) -> str:
        """Write the file, unless it is there; its name is a checksum."""
        space = self.tangent
        arrays = {
            "points": self.points,
            "spectrum": space.spectrum,
            "basis": space.basis,
            "is_defined": space.is_defined,
        }
        header = {
            "names": self.names,
            "kind": space.kind,
            "rank": space.rank,
            "local_rank": space.local_rank,
        }
        stream = io.BytesIO()
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        np.savez(
            stream,
            header=text,
            **{name: array for name, array in arrays.items() if array is not None},
        )
        content = _stripped_of_times(arrays, text)
        name = f"{FOLDER}/{blake2b(content, digest_size=16).hexdigest()}.npz"
        if not folder.exists(name):
            folder.write(name, stream.getvalue())
        return name


@lru_cache(maxsize=4)
def load_inputs(path: str, options: tuple[tuple[str, Any], ...], name: str) -> SweepInputs:
    """Read what `SweepInputs.save` wrote; a process keeps the last few.

    Raises
    ------
    StorageError
        If the file is missing or damaged.
    """
    content = SharedFolder(path, **dict(options)).read(name)
    place = f"{path}/{name}"
    if content is None:
        raise StorageError(f"The sweep's inputs {place} are missing; resume it.")
    arrays = read_arrays(place, remedy="resume the sweep", content=content)
    with reading(place, "resume the sweep"):
        header = read_header(arrays)
        defined = arrays.get("is_defined")
        if defined is not None:
            defined.flags.writeable = False
        space = TangentSpace(
            header["kind"],
            header["rank"],
            frozen(arrays["basis"]) if "basis" in arrays else None,
            frozen(arrays["spectrum"]),
            defined,
            header["local_rank"],
        )
        return SweepInputs(frozen(arrays["points"]), tuple(header["names"]), space)


def _stripped_of_times(arrays: dict[str, Any], text: np.ndarray) -> bytes:
    """The content alone: an archive also holds the time at which it was written."""
    parts = [text.tobytes()]
    for name, array in arrays.items():
        if array is not None:
            parts += [
                f"{name}{array.dtype.str}{array.shape}".encode(),
                np.ascontiguousarray(array).tobytes(),
            ]
    return b"\n".join(parts)
