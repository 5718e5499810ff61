"""Real networks of every kind come back from their clean copy as they were."""

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from closedform.networks.errors import ModelFileError
from closedform.networks.model_files import load_model
from closedform.networks.untrusted.exported_archive import clean_archive


class Structured(nn.Module):
    """Dictionaries and lists come out; constants, sizes and a block without gradients go in."""

    factor: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.register_buffer("factor", torch.full((3,), 2.0), persistent=False)

    def forward(self, x: torch.Tensor) -> Any:
        flat = self.layer(x * self.factor).reshape(-1)
        with torch.no_grad():
            scaled = flat * 2
        return {
            "flat": torch.cat([flat, flat[::2]]),
            "rest": [scaled, x[:, :2] + torch.tensor([1.0, 2.0]), x.shape[0] * 2],
        }


class Branches(nn.Module):
    """Control flow, and layers under names that are not Python's."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleDict({"a-b": nn.Linear(3, 3), "c d": nn.Linear(3, 3)})
        self.last = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layers["c d"](self.layers["a-b"](x))
        return torch.cond(x.sum() > 0, lambda x: self.last(x), lambda x: x * 2, (x,))


class Shared(nn.Module):
    """Layers and weights that occur twice, and two types of numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.again = self.first
        self.embedding = nn.Embedding(10, 3)
        self.head = nn.Linear(3, 10, bias=False)
        self.head.weight = self.embedding.weight
        self.narrow = nn.Linear(3, 3).half()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shift = self.narrow(x.half()).float().sum()
        return self.head(self.again(torch.tanh(self.first(x)))) + shift


class Loop(nn.Module):
    """One layer called several times, and operators with texts and infinities."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = x
        for _ in range(3):
            state = self.cell(x, state)
        return torch.einsum("bi,bj->bij", state, state).mean(1).clamp(float("-inf"), 9.0)


class Counting(nn.Module):
    """A size that only the data decide."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[x[:, 0] > 0].sum(0)


def image() -> nn.Module:
    return nn.Sequential(
        nn.Conv1d(1, 4, 3, padding="same"),
        nn.BatchNorm1d(4),
        nn.GELU(),
        nn.MaxPool1d(2),
        nn.Flatten(),
        nn.Linear(4, 2),
    )


class Image(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = image()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x[:, None, :])


def attention() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 8), nn.TransformerEncoderLayer(8, 2, 16, batch_first=True))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "structured": Structured,
    "branches": Branches,
    "shared": Shared,
    "loop": Loop,
    "counting": Counting,
    "image": Image,
    "attention": attention,
    "nested": lambda: nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU())),
}


def export(model: nn.Module, path: Path, *, decompose: bool = False, strict: bool = False) -> Path:
    shapes: Any = ({0: torch.export.Dim("batch", min=2, max=1000)},)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's own recurrent layers
        inputs = (torch.randn(6, 3),)
        program = torch.export.export(model.eval(), inputs, dynamic_shapes=shapes, strict=strict)
        program = program.run_decompositions() if decompose else program
        torch.export.save(program, path)
    return path


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [part for key in value for part in flat(value[key])]
    if isinstance(value, list | tuple):
        return [part for entry in value for part in flat(entry)]
    return [value]


def check_same(model: nn.Module, path: Path) -> None:
    inputs = torch.randn(8, 3)
    # Where gradients are on, control flow outside exported networks warns.
    with torch.no_grad():
        found, expected = flat(load_model(path).model(inputs)), flat(model.eval()(inputs))
    assert len(found) == len(expected)
    for left, right in zip(found, expected, strict=True):
        torch.testing.assert_close(left, right)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_compute_what_they_did(tmp_path: Path, name: str) -> None:
    torch.manual_seed(0)
    model = NETWORKS[name]()

    check_same(model, export(model, tmp_path / "model.pt2"))


@pytest.mark.parametrize("name", ["structured", "image"])
def test_networks_that_were_taken_apart(tmp_path: Path, name: str) -> None:
    model = NETWORKS[name]()

    check_same(model, export(model, tmp_path / "model.pt2", decompose=True))


def test_networks_that_were_traced_strictly(tmp_path: Path) -> None:
    model = Structured()

    check_same(model, export(model, tmp_path / "model.pt2", strict=True))


def test_weights_as_one_pickle_are_read_as_torch_2_8_wrote_them(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 2))
    path = export(model, tmp_path / "model.pt2")
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    kept = {name: payload for name, payload in entries.items() if "/data/weights/" not in name}
    weights = io.BytesIO()
    torch.save(dict(model.named_parameters()), weights)
    with zipfile.ZipFile(path, "w") as archive:
        for name, payload in {**kept, "model/data/weights/model.pt": weights.getvalue()}.items():
            archive.writestr(name, payload)

    loaded = load_model(path)

    torch.testing.assert_close(loaded.model(torch.ones(4, 3)), model(torch.ones(4, 3)))


def test_the_clean_copy_holds_neither_pickles_nor_paths(tmp_path: Path) -> None:
    clean = clean_archive(export(Structured(), tmp_path / "model.pt2"))

    with zipfile.ZipFile(clean) as archive:
        program = json.loads(archive.read("model/models/model.json"))
        assert archive.read("model/data/sample_inputs/model.pt") == b""
        assert not any(b"\x80\x02" in archive.read(name)[:2] for name in archive.namelist())
    nodes = program["graph_module"]["graph"]["nodes"]
    assert {key for node in nodes for key in node["metadata"]} == {"nn_module_stack"}
    assert "guards_code" not in program
    assert str(Path(__file__).parent) not in json.dumps(program)


def test_custom_operators_are_named_in_the_refusal(tmp_path: Path) -> None:
    @torch.library.custom_op("closedform_tests::double", mutates_args=())
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @double.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)

    class Custom(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return double(x)

    path = export(Custom(), tmp_path / "model.pt2")

    with pytest.raises(ModelFileError, match=r"closedform_tests\.double.*--allow-pickle"):
        load_model(path)
    assert load_model(path, allow_pickle=True).model is not None
