"""ONNX files from others: measured before they are parsed, and reduced to plain operations.

An ONNX file is data, but it can name other files, claim sizes and carry graphs inside graphs. What
is refused here need not be understood anywhere else.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics import limits
from closedform.basics.files import reading
from closedform.basics.optional import require
from closedform.errors import ModelFileError

if TYPE_CHECKING:
    import onnx
    import torch
else:
    onnx = require("onnx", extra="onnx")
    torch = require("torch", extra="onnx")

MAX_FIELDS = 1_000_000
"""An empty node is two bytes of a file and 150 of memory once parsed, so fields are counted
first."""

MAX_NODES, MAX_ARGUMENTS, MAX_AXES = 10_000, 1_000, 16

OPSETS = range(7, 29)
"""The table was compared with these; a later set may mean something else by the same name."""

_EXPORT = "torch.onnx.export(model, inputs, path, external_data=False)"
_FLOATS = ("FLOAT", "DOUBLE", "FLOAT16")
_TYPES = {**dict.fromkeys(_FLOATS, np.float64), "INT64": np.int64, "INT32": np.int64, "BOOL": bool}


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """A node of a graph."""

    kind: str  # the operator, with its domain in front where that is not ONNX's own
    name: str
    inputs: tuple[str, ...]  # inputs, outputs: names of values; an input that is left out is empty
    outputs: tuple[str, ...]
    given: dict[str, Any]  # its attributes


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A network as plain operations in the order in which they run."""

    input: str  # name of the one input
    shape: tuple[int, ...]  # of one row of it
    rows: int | None  # how many rows it takes at once, where the file says so
    outputs: tuple[str, ...]
    # Weights and other constants, by name. Real numbers are in double precision.
    tensors: dict[str, "torch.Tensor"]
    operations: tuple[Operation, ...]


def read_graph(file: Path) -> Graph:
    """Read a file; nothing in it is run."""
    with reading(file, "get it again, or export it again"):
        data = _read(file)
        _check_fields(data)
        # onnx.load would open whatever other file this one names.
        model = onnx.ModelProto.FromString(data)
        _check_parts(file, model)
        _take_in_weights(file, model.graph)
        # Without full_check, which does not end on functions that double each other.
        onnx.checker.check_model(model)
        return _graph(file, model)


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        data = opened.read(limits.NETWORK + 1)
    if len(data) > limits.NETWORK:
        raise ModelFileError(
            f"{file.name} has more than {limits.NETWORK:,} bytes, the largest that is read. If "
            "you made it yourself, pass the network in Python instead."
        )
    return data


def _check_fields(data: bytes) -> None:
    """Walk over the fields of all messages; refuse too many, and names that are not text."""
    parts: list[tuple[int, int, Any]] = [(0, len(data), onnx.ModelProto.DESCRIPTOR)]
    count = 0
    while parts:
        at, end, kind = parts.pop()
        while at < end:
            count += 1
            if count > MAX_FIELDS:
                raise ValueError(f"it has more than {MAX_FIELDS:,} fields")
            tag, at = _varint(data, at)
            wire, length = tag & 7, 0
            if wire in (0, 2):
                number, at = _varint(data, at)
                length = number if wire == 2 else 0
            elif wire in (1, 5):
                length = 8 if wire == 1 else 4
            else:
                raise ValueError(f"wire type {wire}")
            field = kind.fields_by_number.get(tag >> 3) if wire == 2 else None
            if field is not None and field.message_type is not None:
                parts.append((at, at + length, field.message_type))
            elif field is not None and field.type == field.TYPE_STRING:
                data[at : at + length].decode()
            at += length
        if at > end:
            raise ValueError("it ends too early")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = data[at]
    if value < 128:
        return value, at + 1
    value, shift = value & 127, 7
    while shift < 70:
        at += 1
        value |= (data[at] & 127) << shift
        if data[at] < 128:
            return value, at + 1
        shift += 7
    raise ValueError("a number is too long")


def _check_parts(file: Path, model: "onnx.ModelProto") -> None:
    """What the table could never run, and what would make a check of it endless."""
    graph = model.graph
    sets = {entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")}
    control = {
        node.op_type
        for node in graph.node
        for attribute in node.attribute
        if attribute.HasField("g") or attribute.graphs
    }
    reason = ""
    if len(sets) != 1 or min(sets) not in OPSETS:
        stated = ", ".join(map(str, sorted(sets)[:5])) or "none"
        reason = f"its operator set is {stated}, and {OPSETS[0]} to {OPSETS[-1]} are read"
    elif len(graph.node) > MAX_NODES:
        reason = f"it has {len(graph.node):,} nodes, and at most {MAX_NODES:,} are read"
    elif any(len(n.input) + len(n.output) > MAX_ARGUMENTS for n in graph.node):
        reason = f"a node has more than {MAX_ARGUMENTS:,} arguments"
    elif model.functions:
        reason = "it defines functions of its own; export it with inlined functions"
    elif control:
        reason = f"it has control flow ({', '.join(sorted(control)):.100})"
    elif graph.sparse_initializer:
        reason = "it has sparse tensors; store them densely"
    if reason:
        raise ModelFileError(f"{file.name} is not opened: {reason}.", path=str(file))


def _take_in_weights(file: Path, graph: "onnx.GraphProto") -> None:
    """Move weights from the file beside this one into the graph.

    torch.onnx.export writes them to ``FILE.data``. That name is read, and no other: a file may name
    any path, and would get to see whatever is there.
    """
    beside = file.with_name(f"{file.name}.data")
    outside = [t for t in graph.initializer if t.data_location == onnx.TensorProto.EXTERNAL]
    if not outside:
        return
    places = [{entry.key: entry.value for entry in tensor.external_data} for tensor in outside]
    strange = next((p for p in places if p.get("location") != beside.name), None)
    if strange is not None or beside.is_symlink() or not beside.is_file():
        named = beside.name if strange is None else strange.get("location", "")
        raise ModelFileError(
            f"{file.name} keeps weights in another file, {named!r:.100}. Only a plain file "
            f"{beside.name!r} beside it is read. Export it in one piece with {_EXPORT}, or with "
            "onnx.save(onnx.load(path), other_path)."
        )
    content = _read(beside)
    # Many tensors may name the same bytes.
    if sum(_bytes(tensor) for tensor in outside) > limits.NETWORK:
        raise ModelFileError(
            f"{file.name} claims more than {limits.NETWORK:,} bytes of {beside.name}."
        )
    for tensor, place in zip(outside, places, strict=True):
        # Longer numbers are beyond any file.
        start, size = (int(place.get(key, "0")[:15]) for key in ("offset", "length"))
        if start < 0 or size not in (0, _bytes(tensor)):
            raise ValueError(f"the tensor {tensor.name!r:.60} lies at {start}, {size} bytes")
        tensor.raw_data = content[start : start + _bytes(tensor)]
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]


def _bytes(tensor: "onnx.TensorProto") -> int:
    kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    return math.prod(tensor.dims) * kind.itemsize


def _tensor(tensor: "onnx.TensorProto") -> "torch.Tensor | None":
    """A tensor, or None for texts and other kinds that no operator here takes."""
    wanted = _TYPES.get(onnx.TensorProto.DataType.Name(tensor.data_type))
    if wanted is None:
        return None
    label = f"the tensor {tensor.name!r:.60}"
    if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.HasField("segment"):
        raise ValueError(f"{label} lies elsewhere")
    if len(tensor.dims) > MAX_AXES or any(length < 0 for length in tensor.dims):
        raise ValueError(f"{label} claims shape {list(tensor.dims)!r:.100}")
    if tensor.HasField("raw_data") and len(tensor.raw_data) != _bytes(tensor):
        raise ValueError(f"{label} claims {_bytes(tensor)} bytes and has {len(tensor.raw_data)}")
    return torch.from_numpy(onnx.numpy_helper.to_array(tensor).astype(wanted))


def _graph(file: Path, model: "onnx.ModelProto") -> Graph:
    graph = model.graph
    opset = next(e.version for e in model.opset_import if e.domain in ("", "ai.onnx"))
    tensors = _known((tensor.name, _tensor(tensor)) for tensor in graph.initializer)
    operations = []
    for node in graph.node:
        given = {a.name: _attribute(a) for a in node.attribute}
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
            tensors |= _known([(node.output[0], _constant(given))])
            continue
        own = node.domain in ("", "ai.onnx")
        named = [place for place, name in enumerate(node.output, 1) if name]
        outputs = tuple(node.output)[: max(named, default=0)]
        operations.append(
            Operation(
                node.op_type if own else f"{node.domain}.{node.op_type}",
                node.name,
                tuple(node.input),
                outputs,
                given | {"opset": opset, "outputs": len(outputs)},
            )
        )
    stored = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in stored]
    rows, shape = _input_shape(file, inputs)
    outputs = tuple(value.name for value in graph.output)
    return Graph(inputs[0].name, shape, rows, outputs, tensors, tuple(operations))


def _known(named: Iterable[tuple[str, Any]]) -> dict[str, "torch.Tensor"]:
    return {name: tensor for name, tensor in named if tensor is not None}


def _attribute(attribute: "onnx.AttributeProto") -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return _tensor(value)
    if isinstance(value, bytes):
        return value.decode()
    return list(value) if attribute.type >= onnx.AttributeProto.FLOATS else value


def _constant(given: Mapping[str, Any]) -> "torch.Tensor | None":
    """The value of a Constant, which has one of several attributes."""
    name, value = next(iter(given.items()))
    if name == "value":
        return value
    if name.startswith(("value_float", "value_int")):
        return torch.tensor(value, dtype=torch.float64 if "float" in name else torch.int64)
    return None


def _input_shape(
    file: Path, inputs: "list[onnx.ValueInfoProto]"
) -> tuple[int | None, tuple[int, ...]]:
    """How many rows the network takes at once, where that is fixed, and the shape of one."""
    names = ", ".join(repr(value.name) for value in inputs[:5])
    if len(inputs) != 1:
        raise ModelFileError(
            f"{file.name} has {len(inputs)} inputs ({names:.200}); one is needed, with a row for "
            "each point. Export a network that takes its inputs side by side in one array."
        )
    kind = inputs[0].type.tensor_type
    rows, *shape = [entry.dim_value for entry in kind.shape.dim] or [0]
    is_real = onnx.TensorProto.DataType.Name(kind.elem_type) in _FLOATS
    if not is_real or not 0 < len(shape) < MAX_AXES or min(shape) < 1 or rows < 0:
        raise ModelFileError(
            f"{file.name}: its input {names:.100} must hold real numbers with axes (rows, columns) "
            f"or more, all but the rows of a stated length; it states {[rows, *shape]!r:.100}. "
            "Export it with example inputs of the real shape."
        )
    return rows or None, tuple(shape)
