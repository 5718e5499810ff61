import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from closedform.errors import ModelFileError
from closedform.networks.extract import extract_samples
from closedform.networks.model_files import load_network

POINTS = np.random.default_rng(0).normal(size=(11, 3))


class Network(nn.Module):
    def __init__(self, dropout: float = 0.5) -> None:
        super().__init__()
        self.first = nn.Linear(3, 6)
        self.norm = nn.BatchNorm1d(6)
        self.drop = nn.Dropout(dropout)
        self.second = nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.second(self.drop(torch.tanh(self.norm(self.first(x))))))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(1, 4, num_layers=2, dropout=0.3, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gru(x[:, :, None])[0][:, -1]


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.1, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x[:, :, None].expand(-1, -1, 4)).sum(dim=(1, 2))


def export(model: nn.Module, path: Path, *, training: bool = False, dynamic: bool = True) -> Path:
    shapes: Any = ({0: torch.export.Dim.DYNAMIC},) if dynamic else None
    with warnings.catch_warnings():
        # torch warns of the way in which its own recurrent layers keep their weights.
        warnings.simplefilter("ignore")
        program = torch.export.export(
            model.train(training), (torch.randn(4, 3),), dynamic_shapes=shapes
        )
    torch.export.save(program, path)
    return path


@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize("neuron", ["first:4", "norm:1", ":1"])
def test_layers_come_back_under_their_names(tmp_path: Path, dynamic: bool, neuron: str) -> None:
    torch.manual_seed(0)
    model = Network()
    loaded = load_network(export(model, tmp_path / "model.pt2", dynamic=dynamic), trust=True)

    found = extract_samples(loaded, POINTS, neuron)

    assert loaded.fixed_batch == (None if dynamic else 4)
    np.testing.assert_allclose(
        found.jacobians, extract_samples(model, POINTS, neuron).jacobians, rtol=1e-9
    )
    assert not any("own precision" in note for note in found.notes)
    assert any("sigmoid" in note for note in found.notes) == (neuron == ":1")


@pytest.mark.parametrize(
    ("model", "operation"),
    [(Network(), "dropout"), (Recurrent(), "gru"), (Attention(), "scaled_dot_product_attention")],
)
def test_networks_exported_in_training_mode_are_refused(
    tmp_path: Path, model: nn.Module, operation: str
) -> None:
    with pytest.raises(ModelFileError, match=operation) as caught:
        load_network(export(model, tmp_path / "training.pt2", training=True), trust=True)

    assert "model.eval()" in str(caught.value)
    assert load_network(export(model, tmp_path / "evaluation.pt2"), trust=True).model is not None


def test_what_only_looks_like_training_is_accepted(tmp_path: Path) -> None:
    class Harmless(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.InstanceNorm1d(3)
            self.drop = nn.Dropout(0.0)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.drop(self.norm(x[:, None].expand(-1, 3, -1))).sum(dim=(1, 2))

    assert (
        load_network(export(Harmless(), tmp_path / "model.pt2", training=True), trust=True).model
        is not None
    )


def test_files_that_are_no_archive_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.pt2").write_bytes(b"no archive")

    with pytest.raises(ModelFileError, match="cannot be opened by torch"):
        load_network(tmp_path / "model.pt2", trust=True)
