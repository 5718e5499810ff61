import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from closedform.errors import DamagedFileError, ModelFileError
from closedform.networks.extract import extract_samples
from closedform.networks.model_files import load_inputs, load_network

POINTS = np.random.default_rng(0).normal(size=(10, 3))

BUILDER = """
from torch import nn

def make_model():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))

def make_text():
    return "no network"
"""


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A builder in the current directory, which is not a package that is installed."""
    (tmp_path / "my_networks.py").write_text(BUILDER)
    monkeypatch.chdir(tmp_path)
    yield "my_networks:make_model"
    sys.modules.pop("my_networks", None)


def same(loaded: Any) -> bool:
    found, expected = (
        extract_samples(model, POINTS, "0:2").jacobians for model in (loaded, network())
    )
    return bool(np.array_equal(found, expected))


def test_safetensors_with_a_builder(tmp_path: Path, builder: str) -> None:
    save_file(network().state_dict(), str(tmp_path / "model.safetensors"))
    path = list(sys.path)

    assert same(load_network(tmp_path / "model.safetensors", builder=builder))
    assert sys.path == path


@pytest.mark.parametrize(
    "wrap",
    [
        lambda d: d,
        lambda d: {"state_dict": d, "epoch": 3},
        lambda d: {f"module.{k}": v for k, v in d.items()},
    ],
)
def test_state_dicts_as_training_loops_write_them(tmp_path: Path, builder: str, wrap: Any) -> None:
    torch.save(wrap(dict(network().state_dict())), tmp_path / "model.pt")

    assert same(load_network(tmp_path / "model.pt", builder=builder, trust=True))


def test_a_removed_prefix_is_noted(tmp_path: Path, builder: str) -> None:
    torch.save(
        {f"module.{key}": value for key, value in network().state_dict().items()},
        tmp_path / "model.pt",
    )

    loaded = load_network(tmp_path / "model.pt", builder=builder, trust=True)

    assert "prefix 'module.'" in loaded.notes[0]
    assert loaded.notes[0] in extract_samples(loaded, POINTS, "0:2").notes


def test_networks_that_torch_saved_are_opened_with_trust(tmp_path: Path, builder: str) -> None:
    torch.save(network(), tmp_path / "model.pt")
    torch.save(dict(network().state_dict()), tmp_path / "weights.pt")

    assert same(load_network(tmp_path / "model.pt", trust=True))
    with pytest.raises(ModelFileError, match="not a state dict"):
        load_network(tmp_path / "model.pt", builder=builder, trust=True)
    with pytest.raises(ModelFileError, match="give a builder"):
        load_network(tmp_path / "weights.pt", trust=True)


class Bomb:
    def __reduce__(self) -> Any:
        return (exec, ("import pathlib; pathlib.Path('exploded').touch()",))


@pytest.mark.parametrize("name", ["model.pt", "model.pth", "model.bin", "model.ckpt", "model.pt2"])
def test_what_may_run_code_needs_trust(tmp_path: Path, builder: str, name: str) -> None:
    torch.save({"weights": Bomb()}, tmp_path / name)

    for given in (None, builder):
        with pytest.raises(ModelFileError, match=r"--trust.*torch\.onnx\.export.*safetensors"):
            load_network(tmp_path / name, builder=given)

    assert not (tmp_path / "exploded").exists()


def test_weights_that_do_not_fit_are_named(tmp_path: Path, builder: str) -> None:
    save_file(nn.Linear(2, 2).state_dict(), str(tmp_path / "model.safetensors"))

    with pytest.raises(ModelFileError, match=r"do not fit[\s\S]*0\.weight"):
        load_network(tmp_path / "model.safetensors", builder=builder)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("my_networks", "form 'package.module:function'"),
        ("my_networks:absent", "cannot be imported"),
        ("absent_package:make", "cannot be imported"),
        ("my_networks:make_text", "returned a str"),
    ],
)
def test_builders_that_do_not_work_are_named(
    tmp_path: Path, builder: str, text: str, reason: str
) -> None:
    save_file(network().state_dict(), str(tmp_path / "model.safetensors"))

    with pytest.raises(ModelFileError, match=reason):
        load_network(tmp_path / "model.safetensors", builder=text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("model.onnx", "operator set"), ("model.h5", "are read from"), ("model", "no ending")],
)
def test_other_files_are_refused_with_advice(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / name).touch()

    with pytest.raises(DamagedFileError, match=reason) as caught:
        load_network(tmp_path / name)
    assert caught.value.path == str(tmp_path / name)
    with pytest.raises(ModelFileError, match="There is no file"):
        load_network(tmp_path / "absent.pt2")


def test_data_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "plain.npz", inputs=POINTS)
    np.savez(tmp_path / "named.npz", inputs=np.arange(6).reshape(2, 3), names=["x", "v", "t"])

    inputs, names = load_inputs(tmp_path / "plain.npz")
    assert inputs.tolist() == POINTS.tolist()
    assert names is None
    inputs, names = load_inputs(tmp_path / "named.npz")
    assert names == ("x", "v", "t")
    assert inputs.dtype == np.float64


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"points": POINTS}, "holds points"),
        ({"inputs": POINTS[:, 0]}, "shape"),
        ({"inputs": POINTS[:0]}, "shape"),
        ({"inputs": np.array([["a"]])}, "type"),
        ({"inputs": np.array([[object()]], dtype=object)}, "Object arrays"),
        ({"inputs": POINTS, "names": ["x"]}, "3 texts"),
        ({"inputs": POINTS, "names": [1, 2, 3]}, "3 texts"),
    ],
)
def test_data_files_of_another_form_are_refused(
    tmp_path: Path, arrays: dict[str, Any], reason: str
) -> None:
    np.savez(tmp_path / "data.npz", **arrays)

    with pytest.raises(DamagedFileError, match=reason):
        load_inputs(tmp_path / "data.npz")


def test_data_files_that_are_no_archive_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("x,v\n1,2\n")
    np.save(tmp_path / "array.npy", POINTS)

    with pytest.raises(DamagedFileError):
        load_inputs(tmp_path / "text.npz")
    with pytest.raises(DamagedFileError):
        load_inputs(tmp_path / "array.npy")
    with pytest.raises(DamagedFileError, match="There is no file"):
        load_inputs(tmp_path / "absent.npz")
