"""An atlas from the command line: a network added, a formula found, a site built."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file


class Energy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor([1.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.exp(self.scale * (x[:, :1] * x[:, 1:] ** 2))


def make() -> torch.nn.Module:
    return Energy()


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    points = np.random.default_rng(0).uniform(0.5, 1.5, (300, 2))
    np.savez(tmp_path / "data.npz", inputs=points, names=np.array(["m", "v"]))
    save_file(make().state_dict(), tmp_path / "net.safetensors")
    return [tmp_path / "net.safetensors", tmp_path / "data.npz"]


def test_a_network_is_added_found_and_shown(files, tmp_path, command, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    store = tmp_path / "store"
    added = command(
        "atlas", "add", *files, "--store", store, "--name", "energy", "--licence", "MIT",
        "--builder", "test_atlas_command:make", "--layer", "output", "--terms", 300,
        "--evaluations", 1, "--units", "m=kg", "--no-untrained", "--json",
    )  # fmt: skip
    assert added.code == 0, added.err
    assert json.loads(added.out)["verdicts"] == {"verified": 1}
    again = command(
        "atlas", "add", *files, "--store", store, "--name", "energy", "--licence", "MIT",
        "--builder", "test_atlas_command:make", "--layer", "output", "--terms", 300,
        "--evaluations", 1, "--units", "m=kg", "--no-untrained",
    )  # fmt: skip
    assert again.out.strip().endswith(": 1 neuron, 1 verified")
    found = command("atlas", "find", "-log(a) - 2*log(b)", "--store", store, "--json")
    assert found.code == 0
    (match,) = json.loads(found.out)["matches"]
    assert (match["match"], match["network"], match["neuron"]) == ("exact", "energy", "output:0")
    assert match["inputs"] == {"m": "a", "v": "b"}
    assert command("atlas", "find", "a + b*c", "--store", store).code == 1
    built = command("atlas", "build", store, "--out", tmp_path / "site")
    assert built.code == 0
    assert "1 network, 1 concept, 1 law" in built.out
    assert (tmp_path / "site" / "index.html").is_file()


def test_bad_calls_are_told(tmp_path, command):
    lost = command("atlas", "find", "x*y", "--store", tmp_path / "none")
    assert lost.code == 2
    assert "There is no store" in lost.err
    store = tmp_path / "store"
    (store / "atlas").mkdir(parents=True)
    constant = command("atlas", "find", "1 + 2", "--store", store)
    assert constant.code == 2
    assert "constant" in constant.err
