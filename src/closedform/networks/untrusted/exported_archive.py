"""Files of torch.export.save, in the three layouts that torch has had, checked and written anew."""

import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.archive import TRUSTED, read_archive, write_archive
from closedform.networks.untrusted.program import (
    clean_program,
    flag,
    integer,
    mapping,
    path,
    record,
    refused,
    tensor_rule,
    union,
)
from closedform.networks.untrusted.tensors import (
    check_extent,
    pickle_error,
    pickled_part,
    read_tensors,
)
from closedform.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")

_KNOWN = re.compile(
    r"archive_format|archive_version|byteorder|version|\.data/version|\.data/serialization_id"
    r"|\.format_version|\.storage_alignment|models/model\.json"
    r"|data/(weights|constants|sample_inputs)/model\.pt"
    r"|data/weights/(model_weights_config\.json|weight_[0-9]+)"
    r"|data/constants/(model_constants_config\.json|tensor_[0-9]+)|extra/.+"
)
_FIRST_PROGRAM = "serialized_exported_program.json"
_FIRST_LAYOUT = re.compile(
    r"version|serialized_exported_program\.json|serialized_(state_dict|constants)\.(pt|json)"
    r"|serialized_example_inputs\.pt|extra_files/.+"
)
_PICKLED = re.compile(r"data/constants/(custom|opaque)_obj.*")
_COMPILED = re.compile(r"data/(aotinductor|executorch|mtia)/.*|.*\.(so|dylib|dll|cubin|o)")
_MARKS = ("archive_format", "archive_version", "byteorder", "version", ".data/version")
_NUMBER = re.compile(rb"[0-9]{1,4}\n?|[0-9]{1,4}\.[0-9]{1,4}")

# The types of numbers that torch.export writes, by its own code for each, and their sizes in bytes.
_ITEM_TYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32",
    8: "float64", 9: "complex32", 10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16",
    28: "uint16", 29: "float8", 30: "float8", 31: "float8", 32: "float8", 33: "float8",
    34: "uint32", 35: "uint64",
}  # fmt: skip
_ITEM_SIZES = {"bool": 1, "bfloat16": 2} | {
    name: int(name.lstrip("abcdefghijklmnopqrstuvwxyz")) // 8
    for name in _ITEM_TYPES.values()
    if name not in ("bool", "bfloat16")
}
_PAYLOAD = record(
    path_name=lambda value: _payload_name(value),
    is_param=flag,
    use_pickle=flag,
    tensor_meta=tensor_rule(union(as_int=integer)),
)
_CONFIG = record(config=mapping(path, _PAYLOAD))


def clean_archive(file: Path) -> io.BytesIO:
    """A file for torch.export.load that holds the network of this one and cannot run code.

    Raises
    ------
    ModelFileError
        If it is not a file of torch.export.save, or holds something that could.
    """
    entries = read_archive(file, name=file.name)
    try:
        if _FIRST_PROGRAM in entries:
            return write_archive(_first_layout(entries, file.name))
        return write_archive(_later_layouts(_below_root(entries, file.name), file.name))
    except ModelFileError as error:
        if file.name in str(error):
            raise
        raise ModelFileError(f"{file.name}: {error}") from error


def described_tensors(entries: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Names, and shapes with types, of the tensors that the configurations in an archive list.

    Raises
    ------
    ModelFileError
        If a configuration is not of a known form.
    """
    for entry in entries:
        if entry.endswith(("/model_weights_config.json", "/model_constants_config.json")):
            for name, payload in _checked_config(entries[entry]).get("config", {}).items():
                meta = payload.get("tensor_meta", {})
                sizes = "x".join(str(size["as_int"]) for size in meta.get("sizes", ()))
                yield name, f"{sizes or 'one number'} {_ITEM_TYPES.get(meta.get('dtype'), '?')}"


def _checked_config(content: bytes) -> dict[str, Any]:
    try:
        return _CONFIG(json.loads(content))
    except (ValueError, RecursionError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise refused("the list of tensors", content) from error


def _below_root(entries: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    """Entries under their names in the one folder that holds them all."""
    roots = {entry.split("/")[0] for entry in entries}
    if len(roots) != 1 or not all("/" in entry for entry in entries):
        raise _not_exported(name, "its entries are not in one folder")
    return {entry.split("/", 1)[1]: payload for entry, payload in entries.items()}


def _later_layouts(entries: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    """Since torch 2.8: a PT2 archive, with the weights pickled at first and as raw bytes later."""
    for entry in entries:
        if not _KNOWN.fullmatch(entry):
            raise _unknown_entry(name, entry)
    if entries.get("archive_format") != b"pt2" or entries.get("byteorder", b"little") != b"little":
        raise _not_exported(name, "its format or byte order is not supported")
    if "models/model.json" not in entries:
        raise _not_exported(name, "it holds no network under the name 'model'")
    _check_sample(entries.get("data/sample_inputs/model.pt", b""), name)
    clean = {entry: _mark(entries[entry], name) for entry in _MARKS if entry in entries}
    clean |= {
        "models/model.json": clean_program(entries["models/model.json"]),
        "data/sample_inputs/model.pt": b"",
    }
    clean |= _payloads(entries, "data/weights/", "model_weights_config.json", name)
    clean |= _payloads(entries, "data/constants/", "model_constants_config.json", name)
    return {f"model/{entry}": payload for entry, payload in clean.items()}


def _first_layout(entries: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    """Up to torch 2.7: a ZIP with weights and constants as pickles, whatever their ending says."""
    for entry in entries:
        if not _FIRST_LAYOUT.fullmatch(entry):
            raise _unknown_entry(name, entry)
    _check_sample(entries.get("serialized_example_inputs.pt", b""), name)
    clean = {"version": _mark(entries.get("version", b""), name)}
    clean[_FIRST_PROGRAM] = clean_program(entries[_FIRST_PROGRAM])
    for part in ("state_dict", "constants"):
        places = (f"serialized_{part}.pt", f"serialized_{part}.json")
        stored = [entries[place] for place in places if place in entries]
        if len(stored) != 1:
            raise _not_exported(name, f"it has {len(stored)} parts {part}")
        clean[f"serialized_{part}.pt"] = _written_again(stored[0], name)
    clean["serialized_example_inputs.pt"] = b""
    return clean


def _payloads(
    entries: Mapping[str, bytes], folder: str, config_name: str, name: str
) -> dict[str, bytes]:
    """The tensors of a folder: a configuration and raw bytes, or one pickle."""
    pickled, config = f"{folder}model.pt", f"{folder}{config_name}"
    if (pickled in entries) == (config in entries):
        raise _not_exported(name, f"it describes {folder} twice, or not at all")
    if pickled in entries:
        return {pickled: _written_again(entries[pickled], name)}
    checked = _checked_config(entries[config])
    clean = {}
    for tensor, payload in checked.get("config", {}).items():
        place = f"{folder}{payload.get('path_name')}"
        if payload.get("use_pickle") is not False:
            raise pickle_error(name, f"keeps {tensor} as a pickle")
        clean[place] = _checked_payload(entries.get(place), payload.get("tensor_meta"), tensor)
    return clean | {config: json.dumps(checked).encode()}


def _checked_payload(content: bytes | None, meta: Any, tensor: str) -> bytes:
    try:
        if content is None or meta is None:
            raise ValueError("a tensor without bytes")
        width = _ITEM_SIZES[_ITEM_TYPES[meta["dtype"]]]
        sizes = [size["as_int"] for size in meta["sizes"]]
        strides = [stride["as_int"] for stride in meta["strides"]]
        if len(content) % width or (not content and math.prod(sizes)):
            raise ValueError(f"{len(content)} bytes for a tensor of shape {tuple(sizes)!r:.100}")
        check_extent(sizes, strides, meta["storage_offset"]["as_int"], len(content) // width)
    except (KeyError, ValueError) as error:
        message = f"The tensor {tensor!r:.100} is damaged ({error}). Export the network again."
        raise ModelFileError(message) from error
    return content


def _payload_name(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"(weight|tensor)_[0-9]{1,9}", value):
        return value
    if isinstance(value, str) and value.startswith(("custom_obj", "opaque_obj")):
        raise pickle_error("The file", f"keeps {value[:50]} as a pickle")
    raise refused("the name of a stored tensor", value)


def _written_again(payload: bytes, name: str) -> bytes:
    """A pickle of tensors, made by torch here from tensors that were read without unpickling."""
    if not payload:
        return b""
    found = read_tensors(payload, name=name)
    values = found.values() if isinstance(found, dict) else [found]
    if not isinstance(found, dict) or not all(isinstance(v, torch.Tensor) for v in values):
        raise pickle_error(name, "holds more than named tensors")
    buffer = io.BytesIO()
    torch.save({path(key): value for key, value in found.items()}, buffer)
    return buffer.getvalue()


def _check_sample(payload: bytes, name: str) -> None:
    """Sample inputs are never passed on; ones that would run code give the file away."""
    if payload:
        pickled_part(
            read_archive(payload, name=f"{name} (its sample inputs)"),
            name=f"{name} (its sample inputs)",
        )


def _mark(payload: bytes, name: str) -> bytes:
    if payload in (b"pt2", b"little") or _NUMBER.fullmatch(payload):
        return payload
    raise _not_exported(name, f"it gives its version as {payload!r:.50}")


def _not_exported(name: str, reason: str) -> ModelFileError:
    return ModelFileError(f"{name} is not from torch.export.save: {reason}. Export it again.")


def _unknown_entry(name: str, entry: str) -> ModelFileError:
    if _PICKLED.fullmatch(entry):
        return pickle_error(name, f"has an entry {entry}")
    is_compiled = _COMPILED.fullmatch(entry)
    reason = "which is compiled code" if is_compiled else "which torch.export.save does not write"
    found = f"{name} has an entry {entry!r:.200}, {reason}."
    return ModelFileError(f"{found} Export the network again. {TRUSTED}")
