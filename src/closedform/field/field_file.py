"""Fields on disk: a versioned ``.npz`` without pickle, the same bit for bit when read back."""

import json
import types
import zipfile
from dataclasses import asdict, fields
from math import isnan
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.basics import limits
from closedform.basics.files import read_arrays, read_header, reading, replacing
from closedform.basics.keywords import checked_keywords
from closedform.errors import FieldError, StorageError
from closedform.expressions.input_names import check_names
from closedform.expressions.units.units import as_units, plain_units, read_plain_units
from closedform.field.arguments import real_array
from closedform.field.findings import Finding
from closedform.field.gradient_field import GradientField
from closedform.field.quality import Quality
from closedform.field.redundancy import Redundancy
from closedform.field.tangent_space import TangentSpace

FORMAT = "closedform-field"
SCHEMA = 1
"""Version of the layout; a reader refuses newer ones."""

_REMEDY = "pass a file that field.save wrote, or write it again"

_Record = TypeVar("_Record", Quality, Finding, Redundancy)


def save_field(field: GradientField, path: str | Path) -> None:
    """Write a field.

    path: the file, conventionally ``.npz``; it is replaced if it exists, as a whole or not at all.
    """
    arrays: dict[str, np.ndarray] = {
        "points": field.points,
        "directions": field.directions,
        "frames": field.frames,
        "weights": field.weights,
        "scale": field.scale,
        "tangent_spectrum": field.tangent.spectrum,
    }
    optional = {
        "latents": field.latents,
        "slopes": field.slopes,
        "held": field.held,
        "tangent_basis": field.tangent.basis,
        "tangent_is_defined": field.tangent.is_defined,
    }
    arrays |= {name: array for name, array in optional.items() if array is not None}
    header = {
        "format": FORMAT,
        "schema": SCHEMA,
        "names": field.names,
        "notes": field.notes,
        "tangent": {
            "kind": field.tangent.kind,
            "rank": field.tangent.rank,
            "local_rank": field.tangent.local_rank,
        },
        "quality": asdict(field.quality),
        "units": None if field.units is None else plain_units(field.units),
        "is_signed": field.is_signed,
    }
    # One JSON text holds all that is no array: NumPy's own text arrays would cut trailing null
    # characters.
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
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
        return _build(_header(path, arrays), arrays)


def _header(path: str | Path, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The header, once the file is known to be a field that this version reads."""
    header = typed(read_header(arrays), dict, "header")
    if header["format"] != FORMAT:
        raise ValueError(f"it holds {header['format']!r}, not a gradient field")
    schema = typed(header.get("schema"), int, "schema")
    if schema < 1:
        raise ValueError(f"its schema is {schema}")
    if schema > SCHEMA:
        raise StorageError(
            f"'{path}' has schema {schema}, and this version reads up to {SCHEMA}; upgrade "
            f"closedform."
        )
    return header


def _build(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> GradientField:
    """The field; its constructor checks the numbers, so here only what JSON holds is checked."""

    def array(name: str) -> FloatArray:
        return frozen(real_array(arrays[name], name))

    def optional(name: str) -> FloatArray | None:
        return array(name) if name in arrays else None

    defined = arrays.get("tangent_is_defined")
    if defined is not None:
        defined.flags.writeable = False
    tangent = header["tangent"]
    space = TangentSpace(
        typed(tangent["kind"], str, "tangent's kind"),  # pyright: ignore[reportArgumentType]
        typed(tangent["rank"], int, "tangent's rank"),
        optional("tangent_basis"),
        array("tangent_spectrum"),
        defined,
        typed(tangent["local_rank"], int | None, "tangent's local rank"),
    )
    names = tuple(typed(header["names"], list, "names"))
    typed(names, tuple[str, ...], "names")
    check_names(names)
    quality = _quality(header["quality"])
    if quality.names != names:
        raise FieldError(
            f"Its quality is that of inputs {quality.names}, and its names are {names}."
        )
    return GradientField(
        points=array("points"),
        directions=array("directions"),
        frames=array("frames"),
        latents=optional("latents"),
        weights=array("weights"),
        names=names,
        scale=array("scale"),
        tangent=space,
        quality=quality,
        notes=typed(tuple(typed(header["notes"], list, "notes")), tuple[str, ...], "notes"),
        units=as_units(read_plain_units(header.get("units")), names),
        # Files of earlier versions do not say, and a sign that is not known decides nothing.
        is_signed=typed(header.get("is_signed", False), bool, "is_signed"),
        slopes=optional("slopes"),
        held=optional("held"),
    )


def _quality(data: dict[str, Any]) -> Quality:
    findings = tuple(_record(Finding, finding) for finding in data["findings"])
    redundant = tuple(_record(Redundancy, item) for item in data["redundant"])
    quality = _record(Quality, {**data, "findings": findings, "redundant": redundant})
    for degrees in (quality.noise_degrees, quality.noise_resolution_degrees):
        if degrees is not None and not 0 <= degrees <= 180:
            raise FieldError(f"Its noise is {degrees} degrees, which is not an angle.")
    return quality


def _record(kind: type[_Record], data: dict[str, Any]) -> _Record:
    """A dataclass from what JSON made of it, each entry of the type that it was written with."""
    wanted = {entry.name: entry.type for entry in fields(kind)}
    plain = {
        name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
    }
    return kind(**{name: typed(value, wanted[name], name) for name, value in plain.items()})


def typed(value: Any, kind: Any, what: str) -> Any:
    """The value, if it has the type.

    Examples
    --------
    >>> typed(2, int | None, "rank")
    2
    >>> typed("2", int | None, "rank")
    Traceback (most recent call last):
    closedform.errors.FieldError: Its rank is '2', which is not of the type int | None.
    """
    if not has_type(value, kind):
        said = kind.__name__ if isinstance(kind, type) and not get_args(kind) else kind
        raise FieldError(f"Its {what} is {value!r}, which is not of the type {said}.")
    return value


def has_type(value: Any, kind: Any) -> bool:
    """Whether a value has a type: plain ones, tuples of one, unions, literals and dictionaries.

    A float is not nan, and a boolean is not a number.

    Examples
    --------
    >>> has_type((1.0, 2), tuple[float, ...]), has_type(True, int), has_type(float("nan"), float)
    (True, False, False)
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(has_type(value, one) for one in arguments)
    if origin is Literal:
        return value in arguments
    if origin is tuple:
        return isinstance(value, tuple) and all(has_type(one, arguments[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict)
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind is float:
        return isinstance(value, int | float) and not isnan(value)
    return isinstance(value, kind)
