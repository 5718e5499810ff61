"""Fields on disk: a versioned ``.npz`` without pickle, the same bit for bit when read back."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.basics import limits
from closedform.basics.files import read_arrays, read_header, reading, replacing
from closedform.basics.keywords import checked_keywords
from closedform.errors import FieldError
from closedform.expressions.json_files import JsonFormat
from closedform.expressions.printing import check_names
from closedform.expressions.units import Units, as_units
from closedform.field.arguments import real_array
from closedform.field.findings import Quality
from closedform.field.gradient_field import BY_POINT, GradientField
from closedform.field.tangent_space import Kind, TangentSpace

FORMAT = JsonFormat("closedform-field", schema=1, written_by="field.save", is_strict=True)

_REMEDY = (
    "pass a file that field.save or `closedform extract NETWORK DATA.npz --neuron LAYER:UNIT --out "
    "field.npz` wrote, or write it again"
)


@dataclass(frozen=True, slots=True)
class _Tangent:
    kind: Kind
    rank: int
    local_rank: int | None


@dataclass(frozen=True, slots=True)
class _Header:
    """What of a field is not an array."""

    names: tuple[str, ...]
    notes: tuple[str, ...]
    tangent: _Tangent
    quality: Quality
    units: Units | None = None
    # Files of earlier versions do not say, and a sign that is not known decides nothing.
    is_signed: bool = False


def save_field(field: GradientField, path: str | Path) -> None:
    """Write a field to a file, conventionally ``.npz``, as a whole or not at all."""
    every = {name: getattr(field, name) for name in (*BY_POINT, "scale")}
    of_tangent = ("spectrum", "basis", "is_defined")
    every |= {f"tangent_{name}": getattr(field.tangent, name) for name in of_tangent}
    arrays: dict[str, np.ndarray] = {n: array for n, array in every.items() if array is not None}
    tangent = _Tangent(field.tangent.kind, field.tangent.rank, field.tangent.local_rank)
    header = _Header(field.names, field.notes, tangent, field.quality, field.units, field.is_signed)
    content = {"format": FORMAT.name, "schema": FORMAT.schema, **FORMAT.plain(header)}
    # One JSON text holds all that is not an array: NumPy's own text arrays would cut trailing null
    # characters.
    arrays["header"] = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    # Not np.savez: it would append .npz to a path that lacks it, and before NumPy 2.1 it cannot
    # refuse to pickle.
    # A large file is not compressed: a reader refuses what becomes many times larger.
    is_large = sum(array.nbytes for array in arrays.values()) > limits.ARRAYS
    how = zipfile.ZIP_STORED if is_large else zipfile.ZIP_DEFLATED
    with replacing(path) as target, zipfile.ZipFile(target, "w", how) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


@checked_keywords
def load_field(path: str | Path) -> GradientField:
    """Read a field that `GradientField.save` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    GradientField

    Raises
    ------
    DamagedFileError
        If the file is not a field, or is damaged.
    StorageError
        If a newer version wrote it.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     GradientField.from_arrays(points, 2 * points).save(f"{folder}/field.npz")
    ...     load_field(f"{folder}/field.npz")
    GradientField(200 points, 2 inputs, rank 1, tangent none)
    """
    arrays = read_arrays(path, remedy=_REMEDY)
    with reading(path, _REMEDY):
        content = FORMAT.checked(read_header(arrays), path)
        if not isinstance(content["names"], list):  # a text is also a sequence of texts
            raise ValueError(f"its names are {content['names']!r:.50}")
        return _build(FORMAT.structured(content, _Header), arrays)


def _build(header: _Header, arrays: dict[str, np.ndarray]) -> GradientField:
    """The field; its constructor checks the numbers."""

    def array(name: str) -> FloatArray:
        return frozen(real_array(arrays[name], name))

    def optional(name: str) -> FloatArray | None:
        return array(name) if name in arrays else None

    defined = arrays.get("tangent_is_defined")
    if defined is not None:
        defined.flags.writeable = False
    quality = header.quality
    check_names(header.names)
    if quality.names != header.names:
        raise FieldError(
            f"Its quality is that of inputs {quality.names}, and its names are {header.names}."
        )
    for degrees in (quality.noise_degrees, quality.noise_resolution_degrees):
        if degrees is not None and not 0 <= degrees <= 180:
            raise FieldError(f"Its noise is {degrees} degrees, which is not an angle.")
    return GradientField(
        points=array("points"),
        directions=array("directions"),
        frames=array("frames"),
        latents=optional("latents"),
        weights=array("weights"),
        names=header.names,
        scale=array("scale"),
        tangent=TangentSpace(
            header.tangent.kind,
            header.tangent.rank,
            optional("tangent_basis"),
            array("tangent_spectrum"),
            defined,
            header.tangent.local_rank,
        ),
        quality=quality,
        notes=header.notes,
        units=as_units(header.units, header.names),
        is_signed=header.is_signed,
        slopes=optional("slopes"),
        held=optional("held"),
    )
