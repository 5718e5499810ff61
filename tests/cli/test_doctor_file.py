"""The exit code of ``closedform doctor FILE`` is what opening the file does."""

import json
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pyarrow
import pytest
import torch
from onnx import TensorProto, helper
from pyarrow import parquet
from safetensors.torch import save_file
from torch import nn
from typer.testing import CliRunner

import closedform as cf
from closedform.cli.app import app
from closedform.cli.doctor_command import look
from closedform.errors import ClosedformError
from closedform.networks.model_files import load_inputs, load_network, read_safetensors
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.supervisor import end_children
from closedform.sweeping.sweep_result import sweep_table

POINTS = np.random.default_rng(0).uniform(-1, 1, (120, 2))
FIELD = cf.GradientField.from_arrays(POINTS, 2 * POINTS, names=["x", "v"])


@pytest.fixture(scope="module", autouse=True)
def _no_child_is_left() -> Iterator[None]:
    """Other tests start theirs with other paths."""
    yield
    end_children()


def run(path: Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["doctor", str(path)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def opens(reader: Callable[[Path], Any], path: Path) -> bool:
    try:
        reader(path)
    except ClosedformError:
        return False
    return True


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("answer") / "answer.json"
    cf.interpret_field(FIELD, engine="terms", budget=cf.Budget(evaluations=300), rng=0).save(path)
    return json.loads(path.read_text())


def network() -> onnx.ModelProto:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Tanh", ["x"], ["y"], name="\x1b[2Jevil")], "g",
        [info("x", TensorProto.FLOAT, ["n", 2])], [info("y", TensorProto.FLOAT, [])],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


ANSWERS: dict[str, tuple[bool, Callable[[dict[str, Any]], bytes]]] = {
    "sound": (True, lambda a: json.dumps(a).encode()),
    "utf-16": (False, lambda a: json.dumps(a).encode("utf-16")),
    "byte order mark": (False, lambda a: json.dumps(a).encode("utf-8-sig")),
    "floor": (False, lambda a: json.dumps({**a, "floor": float("nan")}).encode()),
    "schema": (False, lambda a: json.dumps({**a, "schema": 4.0}).encode()),
    "late schema": (False, lambda a: json.dumps({**a, "schema": 99}).encode()),
    "format": (False, lambda a: json.dumps({**a, "format": "else"}).encode()),
    "list": (False, lambda a: b"[1]"),
    "broken": (False, lambda a: b"{"),
    "deep": (False, lambda a: b"[" * 100_000),
    "large": (False, lambda a: b" " * 2**24 + b"{}"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(tmp_path: Path, answer: dict[str, Any], name: str) -> None:
    is_sound, made = ANSWERS[name]
    path = tmp_path / "answer.json"
    path.write_bytes(made(answer))

    code, output = run(path)

    assert opens(cf.load_interpretation, path) == is_sound == (code == 0), output
    assert output.splitlines()[-1].startswith("closedform opens" if is_sound else "closedform ref")


def test_search_results(tmp_path: Path) -> None:
    cf.search(FIELD, engine="terms", budget=cf.Budget(evaluations=300), rng=0).save(
        tmp_path / "result.json"
    )
    code, output = run(tmp_path / "result.json")
    assert code == 0
    assert "search result" in output


@pytest.mark.parametrize(
    ("name", "write", "reader", "is_sound"),
    [
        ("data.npz", lambda p: np.savez(p, inputs=POINTS, names=["x", "v"]), load_inputs, True),
        ("data.npz", lambda p: np.savez(p, points=POINTS), load_inputs, False),
        ("data.npz", lambda p: np.savez(p, inputs=POINTS, names=["x", "x"]), load_inputs, False),
        ("data.npz", lambda p: np.savez(p, inputs=np.array([[{}]])), load_inputs, False),
        ("data.npz", lambda p: p.write_bytes(b"PK"), load_inputs, False),
        ("field.npz", FIELD.save, cf.load_field, True),
        ("field.npz", lambda p: np.savez(p, header=np.zeros(3)), cf.load_field, False),
        ("w.safetensors", lambda p: save_file({"a": torch.ones(2, 3)}, p), read_safetensors, True),
        ("w.safetensors", lambda p: p.write_bytes(b"\xff" * 30), read_safetensors, False),
        ("net.onnx", lambda p: p.write_bytes(network().SerializeToString()), load_network, True),
        ("net.onnx", lambda p: p.write_bytes(b"\x08"), load_network, False),
        ("net.pt", lambda p: torch.save(nn.Linear(2, 1), p), load_network, False),
        ("net.pt2", lambda p: p.write_bytes(b"PK"), load_network, False),
        ("net.h5", lambda p: p.write_bytes(b"x"), load_network, False),
    ],
)
def test_files(
    tmp_path: Path, name: str, write: Callable[[Path], Any], reader: Any, is_sound: bool
) -> None:
    write(tmp_path / name)

    code, output = run(tmp_path / name)

    assert opens(reader, tmp_path / name) == is_sound == (code == 0), output


def test_stores(tmp_path: Path) -> None:
    ResultStore(tmp_path / "store").put("k1", {"neuron": "a:0", "status": "done"})
    (tmp_path / "empty").mkdir()

    code, output = run(tmp_path / "store")

    assert code == 0
    assert "done  1" in output
    assert run(tmp_path / "empty")[0] == 1
    assert not opens(lambda path: sweep_table(ResultStore(path)), tmp_path / "empty")


def test_a_large_store_is_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("closedform.cli.doctor_command.MOST_RECORDS", 3)
    store = ResultStore(tmp_path)
    for place in range(5):
        store.put(f"k{place}", {"status": "done"})
    opened: list[str] = []
    monkeypatch.setattr(
        "closedform.sweeping.execution.store.decode",
        lambda key, data: opened.append(key) or '{"status": 1}',
    )

    found = look({"path": str(tmp_path)})

    assert found["parts"] == [("1", "3"), ("These are the first 3.", "")]
    assert len(opened) == 3


def test_a_part_that_claims_little_and_holds_much_ends_the_process_that_looks(
    tmp_path: Path,
) -> None:
    # One text of a dictionary 3,000 times is 3 GB once it is read.
    text = pyarrow.array([json.dumps({"status": "x" * 2**20})])
    records = pyarrow.DictionaryArray.from_arrays(np.zeros(3000, np.int32), text)
    table = pyarrow.table({"key": [f"k{place}" for place in range(3000)], "record": records})
    (tmp_path / "parts").mkdir()
    part = tmp_path / "parts" / "part"
    parquet.write_table(
        table, part, compression="zstd", store_schema=False, dictionary_pagesize_limit=2**24
    )
    checksum = blake2b(part.read_bytes(), digest_size=16).hexdigest()
    part = part.rename(part.with_name(f"{1:020d}-{checksum}.parquet"))
    assert part.stat().st_size < 2**16

    code, output = run(tmp_path)

    assert code == 1
    assert "its limit is 1024 MB" in output


def test_what_is_in_a_file_is_listed(tmp_path: Path) -> None:
    tensors = {f"layer.{place}": torch.ones(2, 3) for place in range(60)}
    save_file(tensors, tmp_path / "w.safetensors")
    (tmp_path / "net.onnx").write_bytes(network().SerializeToString())

    weights, layers = run(tmp_path / "w.safetensors")[1], run(tmp_path / "net.onnx")[1]

    assert "layer.0   2x3 float32" in weights
    assert "and 20 more" in weights
    assert "y  Tanh 2" in layers


def test_names_cannot_move_the_cursor(tmp_path: Path) -> None:
    save_file({"\x1b[2Jevil": torch.ones(2)}, tmp_path / "w.safetensors")

    code, output = run(tmp_path / "w.safetensors")

    assert code == 0
    assert "\x1b" not in output
    assert "\\x1b[2Jevil" in output


def test_a_missing_file(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["doctor", str(tmp_path / "absent.onnx")])
    assert "There is no file" in str(result.exception)
