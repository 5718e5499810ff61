import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from closedform.field.gradient_field import GradientField
from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.inspection import inspect_file

POINTS = np.random.default_rng(0).normal(size=(20, 2))


def test_an_exported_network(tmp_path: Path) -> None:
    program = torch.export.export(nn.Sequential(nn.Linear(3, 2)).eval(), (torch.randn(4, 3),))
    torch.export.save(program, tmp_path / "model.pt2")

    found = inspect_file(tmp_path / "model.pt2")

    assert found.kind == "network of torch.export"
    assert {(part.name, part.detail) for part in found.tensors} == {
        ("0.weight", "2x3 float32"),
        ("0.bias", "2 float32"),
    }
    assert any(part.name.endswith("models/model.json") for part in found.entries)
    # The sample inputs are a pickle, and stay closed.
    assert "torch._utils._rebuild_tensor_v2" in found.imports
    assert found.refusal == ""


@pytest.mark.parametrize("name", ["model.pt", "model.ckpt"])
def test_a_state_dict(tmp_path: Path, name: str) -> None:
    torch.save({"state_dict": nn.Linear(3, 2).double().state_dict(), "epoch": 3}, tmp_path / name)

    found = inspect_file(tmp_path / name)

    assert {(part.name, part.detail) for part in found.tensors} == {
        ("state_dict.weight", "2x3 double"),
        ("state_dict.bias", "2 double"),
    }
    assert found.refusal == ""


def test_a_pickled_model_names_what_it_would_import(tmp_path: Path) -> None:
    torch.save(nn.Linear(3, 2), tmp_path / "model.pt")

    found = inspect_file(tmp_path / "model.pt")

    assert "torch.nn.modules.linear.Linear" in found.imports
    assert "torch.nn.modules.linear.Linear" in found.refusal
    assert "--allow-pickle" in found.refusal


def test_files_of_torch_before_1_6(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    torch.save(model.state_dict(), tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    torch.save(model, tmp_path / "model.pt", _use_new_zipfile_serialization=False)

    assert inspect_file(tmp_path / "old.pt").refusal == ""
    assert {part.detail for part in inspect_file(tmp_path / "old.pt").tensors} == {
        "2x3 float",
        "2 float",
    }
    assert "Linear" in inspect_file(tmp_path / "model.pt").refusal


def test_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"a": torch.ones(2, 3)}, str(path), metadata={"author": "x"})
    content = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "cut.safetensors").write_bytes(content[:-4])

    found = inspect_file(tmp_path / "model.safetensors")

    assert [(part.name, part.detail) for part in found.tensors] == [("a", "2x3 F32")]
    assert found.entries[0].name == "author"
    assert found.refusal == ""
    assert "damaged" in inspect_file(tmp_path / "cut.safetensors").refusal


def test_data_and_fields(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", inputs=POINTS, names=["x", "v"])
    np.savez(tmp_path / "other.npz", points=POINTS)
    np.savez(tmp_path / "objects.npz", inputs=np.array([[{}]], dtype=object))
    GradientField.from_arrays(POINTS, 2 * POINTS).save(tmp_path / "field.npz")

    assert inspect_file(tmp_path / "data.npz").refusal == ""
    assert {part.detail for part in inspect_file(tmp_path / "data.npz").tensors} == {
        "20x2 float64",
        "2 <U1",
    }
    assert "'inputs'" in inspect_file(tmp_path / "other.npz").refusal
    assert "pickled" in inspect_file(tmp_path / "objects.npz").refusal
    assert inspect_file(tmp_path / "field.npz").kind == "gradient field"
    assert inspect_file(tmp_path / "field.npz").refusal == ""


def test_results_and_other_json(tmp_path: Path) -> None:
    result = {"format": "closedform interpretation", "schema": 3}
    (tmp_path / "result.json").write_text(json.dumps(result))
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "broken.json").write_text("{")

    assert inspect_file(tmp_path / "result.json").kind == "closedform interpretation, schema 3"
    assert "not an interpretation" in inspect_file(tmp_path / "list.json").refusal
    assert "not JSON" in inspect_file(tmp_path / "broken.json").refusal


def test_other_files(tmp_path: Path) -> None:
    (tmp_path / "model.h5").write_bytes(b"x")
    (tmp_path / "model.pt").write_bytes(b"nothing of the kind")

    assert "ending" in inspect_file(tmp_path / "model.h5").refusal
    assert "neither" in inspect_file(tmp_path / "model.pt").refusal
    with pytest.raises(ModelFileError, match="There is no file"):
        inspect_file(tmp_path / "absent.pt")


def test_a_pickle_with_another_ending_inside_an_archive_is_found(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "model.pt2", "w") as archive:
        archive.writestr("model/notes.txt", pickle.dumps(print))

    assert "builtins.print" in inspect_file(tmp_path / "model.pt2").imports
