"""What an ONNX file from somebody else may not do: each is refused in a sentence."""

import itertools
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from closedform.errors import DamagedFileError
from closedform.networks import onnx_file
from closedform.networks.model_files import load_network

WEIGHTS = np.random.default_rng(0).normal(size=(3, 2))


def info(name: str, shape: Any = ("rows", 3), kind: int = TensorProto.DOUBLE) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def model(
    *nodes: Any, tensors: Any = (), inputs: Any = None, opset: int = 17, **graph: Any
) -> onnx.ModelProto:
    made = helper.make_graph(
        list(nodes), "g", [info("x")] if inputs is None else inputs, [info("y", [])], list(tensors),
        **graph,
    )  # fmt: skip
    sets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 2)]
    sets.append(helper.make_opsetid("evil", 1))
    return helper.make_model(made, opset_imports=sets, ir_version=9)


def node(kind: str, *inputs: str, output: str = "y", **given: Any) -> Any:
    return helper.make_node(kind, list(inputs), [output], **given)


def weights(name: str = "w", values: Any = WEIGHTS) -> Any:
    return numpy_helper.from_array(np.asarray(values), name)


def outside(location: str, **more: str) -> onnx.ModelProto:
    made = model(node("MatMul", "x", "w"), tensors=[weights()])
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **more}.items():
        tensor.external_data.add(key=key, value=value)
    return made


def doubling() -> onnx.ModelProto:
    made = model(node("F29", "x", domain="f"))
    made.opset_import.append(helper.make_opsetid("f", 1))
    for place in range(30):
        kind, domain = ("Add", "") if place == 0 else (f"F{place - 1}", "f")
        calls = [
            helper.make_node(kind, ["a", "a"][: 2 if place == 0 else 1], ["b"], domain=domain),
            helper.make_node(kind, ["b", "b"][: 2 if place == 0 else 1], ["c"], domain=domain),
        ]
        made.functions.append(
            helper.make_function("f", f"F{place}", ["a"], ["c"], calls, made.opset_import)
        )
    return made


def loop() -> onnx.ModelProto:
    body = helper.make_graph([node("Identity", "a")], "b", [info("a")], [info("y")])
    return model(node("Loop", "", "", "x", body=body))


def claimed() -> onnx.ModelProto:
    made = model(node("MatMul", "x", "w"), tensors=[weights()])
    made.graph.initializer[0].dims[:] = [3, 10**12]
    return made


def sparse() -> onnx.ModelProto:
    made = model(node("MatMul", "x", "w"))
    made.graph.sparse_initializer.add()
    return made


def constant_bomb(kind: str) -> onnx.ModelProto:
    shape = weights("shape", np.array([10**6, 10**6]))
    if kind == "ConstantOfShape":
        return model(
            node(kind, "shape", output="b"), node("ReduceSum", "b", output="s"),
            node("Add", "x", "s"), tensors=[shape],
        )  # fmt: skip
    if kind == "Expand":
        return model(
            node(kind, "one", "shape", output="b"), node("ReduceSum", "b", output="s"),
            node("Add", "x", "s"), tensors=[shape, weights("one", np.ones((1, 1)))],
        )  # fmt: skip
    long = [weights("a", np.ones((10**5, 1))), weights("b", np.ones((1, 10**5)))]
    return model(
        node(kind, "a", "b", output="c"), node("ReduceSum", "c", output="s"), node("Add", "x", "s"),
        tensors=long,
    )  # fmt: skip


def many(count: int) -> onnx.ModelProto:
    names = ["x", *(f"v{place}" for place in range(count - 1)), "y"]
    return model(
        *(node("Relu", a, output=b) for a, b in itertools.pairwise(names))
    )  # fmt: skip


def squared(count: int) -> onnx.ModelProto:
    """A chain of products of one large constant with itself."""
    names = [f"w{place}" for place in range(count)]
    return model(
        *(node("MatMul", a, "w0", output=b) for a, b in itertools.pairwise(names)),
        node("ReduceSum", names[-1], output="s"), node("Add", "x", "s"),
        tensors=[weights("w0", np.ones((700, 700)))],
    )  # fmt: skip


HOSTILE: dict[str, tuple[Callable[[], onnx.ModelProto], str]] = {
    "cycle": (lambda: model(node("Add", "x", "z"), node("Relu", "y", output="z")), "sorted"),
    "twice": (lambda: model(node("Relu", "x"), node("Tanh", "x")), "SSA"),
    "loop": (loop, r"control flow \(Loop\)"),
    "functions": (doubling, "functions of its own"),
    "sparse": (sparse, "sparse"),
    "custom domain": (
        lambda: model(helper.make_node("Evil", ["x"], ["y"], domain="evil")),
        r"'evil\.Evil' is not among",
    ),
    "unknown operator": (lambda: model(node("Det", "x")), "'Det' is not among"),
    "old operators": (lambda: model(node("Relu", "x"), opset=6), "operator set is 6"),
    "new operators": (lambda: model(node("Relu", "x"), opset=29), "operator set is 29"),
    "trees": (
        lambda: model(helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml")),
        "no gradient: trees",
    ),
    "claimed shape": (claimed, "declared shape"),
    "large input": (
        lambda: model(node("Relu", "x"), inputs=[info("x", ["n", 10**12])]), "1024|1,024 rows",
    ),
    "many rows": (
        lambda: model(node("Relu", "x"), inputs=[info("x", [10**12, 3])]), "rows would take",
    ),
    "negative input": (lambda: model(node("Relu", "x"), inputs=[info("x", [2, -3])]), "stated"),
    "no columns": (lambda: model(node("Relu", "x"), inputs=[info("x", ["n", "m"])]), "stated"),
    "texts": (
        lambda: model(node("Identity", "x"), inputs=[info("x", ["n", 2], TensorProto.STRING)]),
        "real numbers",
    ),
    "two inputs": (
        lambda: model(node("Add", "x", "z"), inputs=[info("x"), info("z")]),
        r"2 inputs \('x', 'z'\).*side by side",
    ),
    "no input": (lambda: model(node("Relu", "w"), tensors=[weights()], inputs=[]), "0 inputs"),
    "constants of a shape": (lambda: constant_bomb("ConstantOfShape"), "constants alone"),
    "expanded": (lambda: constant_bomb("Expand"), "constants alone"),
    "broadcast": (lambda: constant_bomb("Add"), "constants alone"),
    "outer product": (lambda: constant_bomb("MatMul"), "constants alone"),
    "much work": (lambda: squared(50), "constants alone"),
    "many nodes": (lambda: many(10_001), "10,001 nodes"),
    "many arguments": (lambda: model(node("Sum", *["x"] * 1000)), "arguments"),
    "wrong shapes": (
        lambda: model(node("MatMul", "x", "w"), tensors=[weights("w", np.ones((5, 2)))]),
        r"node '' \(MatMul\) does not fit its inputs",
    ),
    "wrong attribute": (lambda: model(node("Elu", "x", alpha="text")), "alpha"),
    "shape from numbers": (
        lambda: model(
            node("Cast", "x", output="s", to=TensorProto.INT64), node("Reshape", "x", "s")
        ),
        "depends on the numbers",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_at_once(name: str, tmp_path: Path) -> None:
    make, reason = HOSTILE[name]
    path = tmp_path / "net.onnx"
    path.write_bytes(make().SerializeToString())
    began = time.process_time()

    with pytest.raises(DamagedFileError, match=reason) as caught:
        load_network(path)

    assert time.process_time() - began < 5
    assert "net.onnx" in str(caught.value)


def test_empty_nodes_are_counted_before_they_take_memory(tmp_path: Path) -> None:
    nodes = b"\x0a\x00" * 2_000_000
    length = len(nodes)
    size = bytes([(length >> shift) & 127 | 128 for shift in (0, 7, 14)]) + bytes([length >> 21])
    (tmp_path / "net.onnx").write_bytes(b"\x3a" + size + nodes)
    with pytest.raises(DamagedFileError, match="1,000,000 fields"):
        load_network(tmp_path / "net.onnx")


def test_large_files_are_refused_unread(tmp_path: Path) -> None:
    with open(tmp_path / "net.onnx", "wb") as file:
        file.truncate(2**40)
    with pytest.raises(DamagedFileError, match="33,554,432 bytes"):
        load_network(tmp_path / "net.onnx")


@pytest.mark.parametrize("location", ["/etc/passwd", "../secret", "secret", "net.onnx", ""])
def test_other_files_are_never_read(tmp_path: Path, location: str) -> None:
    (tmp_path / "secret").write_bytes(WEIGHTS.tobytes())
    (tmp_path / "net.onnx").write_bytes(outside(location).SerializeToString())
    with pytest.raises(DamagedFileError, match="external_data=False"):
        load_network(tmp_path / "net.onnx")


def test_weights_beside_the_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "net.onnx.data").write_bytes(b"12345678" + WEIGHTS.tobytes())
    path = tmp_path / "net.onnx"
    path.write_bytes(outside("net.onnx.data", offset="8").SerializeToString())
    weight = next(load_network(path).model.parameters())
    np.testing.assert_array_equal(weight.numpy(), WEIGHTS)

    places = [{"offset": offset} for offset in ("9", "99999999999999999999", "-8", "x")]
    for place in (*places, {"offset": "8", "length": "47"}):
        path.write_bytes(outside("net.onnx.data", **place).SerializeToString())
        with pytest.raises(DamagedFileError, match=r"net\.onnx"):
            load_network(path)


def test_a_link_beside_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(WEIGHTS.tobytes())
    os.symlink(tmp_path / "secret", tmp_path / "net.onnx.data")
    (tmp_path / "net.onnx").write_bytes(outside("net.onnx.data").SerializeToString())
    with pytest.raises(DamagedFileError, match="plain file"):
        load_network(tmp_path / "net.onnx")


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    content = bytearray(model(node("MatMul", "x", "w"), tensors=[weights()]).SerializeToString())
    rng = np.random.default_rng(0)
    path = tmp_path / "net.onnx"
    said = []
    for _ in range(100):
        damaged = content.copy()
        damaged[rng.integers(len(content))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged[: rng.integers(len(content))] if rng.random() < 0.3 else damaged)
        with suppress(DamagedFileError):
            load_network(path)
            continue
        said.append(path)
    assert len(said) > 10


def test_names_that_are_not_text_are_refused(tmp_path: Path) -> None:
    content = model(node("Relu", "x", name="longname")).SerializeToString()
    path = tmp_path / "net.onnx"
    path.write_bytes(content.replace(b"longname", b"long\xffame"))
    with pytest.raises(DamagedFileError):
        load_network(path)


def test_fields_are_counted_as_the_parser_finds_them() -> None:
    content = model(node("Relu", "x")).SerializeToString()
    onnx_file._check_fields(content)
    for cut in (b"\xff" * 12, b"\x3a\x7f", b"\x0b", b"\x3a"):
        with pytest.raises((ValueError, IndexError)):
            onnx_file._check_fields(cut)
