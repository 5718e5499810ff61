"""State dicts that torch.save wrote, read without torch.load: tensors are made from raw bytes."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.archive import TRUSTED, read_archive
from closedform.networks.untrusted.limits import MAX_REPEATED
from closedform.networks.untrusted.pickles import Call, Name, Pickle, Reference, read_pickle
from closedform.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")

_STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}  # fmt: skip
_KNOWN = re.compile(
    r"data\.pkl|byteorder|version|\.data/version|\.data/serialization_id|\.format_version"
    r"|\.storage_alignment|data/[0-9]+"
)
_DICT = Name("collections", "OrderedDict")
_SIZE = Name("torch", "Size")
_TENSOR = Name("torch._utils", "_rebuild_tensor_v2")
_TYPED_TENSOR = Name("torch._utils", "_rebuild_tensor_v3")
_PARAMETER = Name("torch._utils", "_rebuild_parameter")
_STATEFUL_PARAMETER = Name("torch._utils", "_rebuild_parameter_with_state")
_WITH_STATE = Name("torch._tensor", "_rebuild_from_type_v2")
_CLASSES = (Name("torch", "Tensor"), Name("torch.nn.parameter", "Parameter"))
_UNTYPED = Name("torch.storage", "UntypedStorage")
_PLAIN = {
    _DICT,
    _SIZE,
    _TENSOR,
    _TYPED_TENSOR,
    _PARAMETER,
    _STATEFUL_PARAMETER,
    _WITH_STATE,
    *_CLASSES,
    _UNTYPED,
}


def is_plain(name: Name) -> bool:
    """Whether a pickle of tensors, numbers and texts alone may name this."""
    if name in _PLAIN:
        return True
    is_type = name.attribute in _STORAGES or _dtype(name.attribute) is not None
    return name.module == "torch" and is_type


def pickled_part(entries: Mapping[str, bytes], *, name: str) -> tuple[str, Pickle]:
    """The folder and the pickle of an archive that torch.save wrote.

    Raises
    ------
    ModelFileError
        If there is none, or it names something other than tensors.
    """
    folder = next(iter(entries), "").split("/")[0]
    for entry in entries:
        if not entry.startswith(f"{folder}/") or not _KNOWN.fullmatch(entry[len(folder) + 1 :]):
            raise pickle_error(name, f"has an entry {entry!r:.200}, unknown to torch.save")
    content = entries.get(f"{folder}/data.pkl", b"")
    pickle = read_pickle(content)
    strange = [str(named) for named in pickle.names if not is_plain(named)]
    if strange:
        raise pickle_error(name, f"names {', '.join(strange[:5]):.300}")
    if pickle.problem or pickle.length < len(content):
        raise pickle_error(name, f"is damaged ({pickle.problem or 'something follows its pickle'})")
    return folder, pickle


def read_tensors(source: Any, *, name: str) -> Any:
    """What torch.save wrote, as dictionaries, lists, numbers, texts and tensors.

    Raises
    ------
    ModelFileError
        If there is anything else in it.
    """
    entries = read_archive(source, name=name)
    folder, pickle = pickled_part(entries, name=name)
    if entries.get(f"{folder}/byteorder", b"little") != b"little":
        raise ModelFileError(f"{name} is big-endian; save it again on a little-endian machine.")
    try:
        return _TensorReader(entries, folder).value(pickle.value)
    except (
        TypeError,
        ValueError,
        KeyError,
        IndexError,
        AttributeError,
        RuntimeError,
        RecursionError,
        OverflowError,
    ) as error:
        raise pickle_error(name, f"is damaged ({str(error)[:200]})") from error


def check_extent(sizes: Sequence[int], strides: Sequence[int], offset: int, available: int) -> None:
    """Refuse a tensor that would reach beyond its bytes.

    Raises
    ------
    ValueError
        If it does, or its shape makes no sense.
    """
    shape = f"a tensor of shape {tuple(sizes)!r:.100}"
    numbers = (*sizes, *strides, offset)
    if len(sizes) != len(strides) or not all(type(n) is int and n >= 0 for n in numbers):
        raise ValueError(f"{shape} with strides {tuple(strides)!r:.100}")
    count = math.prod(sizes)
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if count and (last >= available or count > max(available, MAX_REPEATED)):
        raise ValueError(f"{shape} in a storage of {available} numbers")


def pickle_error(name: str, reason: str) -> ModelFileError:
    """What is said of a pickle that is more than plain tensors."""
    return ModelFileError(
        f"{name} holds a pickled object that is not a plain state dict: it {reason}. Opening it "
        "could run code. Save model.state_dict(), or export a network whose constants are plain "
        f"tensors. {TRUSTED}"
    )


def _dtype(name: str) -> Any:
    found = getattr(torch, name, None) if name.isidentifier() else None
    return found if isinstance(found, torch.dtype) else None


class _TensorReader:
    def __init__(self, entries: Mapping[str, bytes], folder: str) -> None:
        self._entries = entries
        self._folder = folder
        self._storages: dict[tuple[str, Any], Any] = {}

    def value(self, found: Any) -> Any:
        match found:
            case None | bool() | int() | float() | str() | bytes():
                return found
            case Name():
                return str(found)
            case dict():
                return {key: self.value(part) for key, part in found.items()}
            case list() | tuple():
                return type(found)(self.value(part) for part in found)
            case Call(function=function, arguments=arguments, items=items):
                return self._made(function, arguments, items)
        raise TypeError(f"something of type {type(found).__name__}")

    def _made(self, function: Any, arguments: Any, items: list[Any]) -> Any:
        if function == _DICT:
            given = list(arguments[0]) if arguments else []
            pairs = [(key, part) for key, part in (*given, *items) if not isinstance(key, tuple)]
            return {key: self.value(part) for key, part in pairs}
        if function == _SIZE:
            return tuple(int(length) for length in arguments[0])
        if function in (_PARAMETER, _STATEFUL_PARAMETER):
            return torch.nn.Parameter(self.value(arguments[0]), requires_grad=arguments[1] is True)
        if function == _WITH_STATE and arguments[1] in _CLASSES:
            # Attributes that somebody hung on a tensor are left out.
            return self._made(arguments[0], arguments[2], [])
        if function == _TENSOR:
            return self._tensor(arguments, None)
        if function == _TYPED_TENSOR:
            return self._tensor(arguments, _dtype(arguments[6].attribute))
        raise TypeError(f"a call of {function}")

    def _tensor(self, arguments: Any, dtype: Any) -> Any:
        storage, offset, sizes, strides, *_ = arguments
        sizes, strides = (tuple(self.value(part)) for part in (sizes, strides))
        flat = self._storage(storage, dtype)
        check_extent(sizes, strides, offset, flat.numel())
        return torch.as_strided(flat, sizes, strides, offset)

    def _storage(self, storage: Any, dtype: Any) -> Any:
        if not isinstance(storage, Reference) or storage.identity[0] != "storage":
            raise TypeError("a tensor without bytes")
        _, kind, key, *_ = storage.identity
        dtype = dtype if kind == _UNTYPED else _dtype(_STORAGES[kind.attribute])
        place = (str(key), dtype)
        if place not in self._storages:
            payload = self._entries[f"{self._folder}/data/{key}"]
            # torch would warn of bytes that cannot be written to, and refuses to take none.
            flat = bytearray(payload) or bytearray(16)
            whole = torch.frombuffer(flat, dtype=dtype)
            self._storages[place] = whole if payload else whole[:0]
        return self._storages[place]
