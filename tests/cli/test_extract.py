import numpy as np
import pytest

import closedform as cf

torch = pytest.importorskip("torch")


BUILDER = """
from torch.nn import Linear, Sequential, Tanh

def make():
    return Sequential(Linear(2, 8), Tanh(), Linear(8, 1))
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A network of two inputs as .pt2 and as safetensors with a builder, and its data."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "extracted_nets.py").write_text(BUILDER)
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
    ).eval()
    inputs = np.random.default_rng(0).normal(size=(300, 2)).astype(np.float32)
    np.savez(folder / "data.npz", inputs=inputs, names=np.array(["x", "v"]))
    batch = torch.export.Dim("batch")
    torch.export.save(
        torch.export.export(model, (torch.tensor(inputs),), dynamic_shapes=({0: batch},)),
        folder / "net.pt2",
    )
    from safetensors.torch import save_file

    save_file(model.state_dict(), folder / "net.safetensors")
    points = torch.tensor(inputs, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(model.double()(points).sum(), points)
    return folder, gradient.numpy()


@pytest.mark.parametrize(
    "arguments", [["net.pt2"], ["net.safetensors", "--builder", "extracted_nets:make"]]
)
def test_a_field_is_written(command, monkeypatch, files, arguments):
    folder, expected = files
    monkeypatch.chdir(folder)
    result = command(
        "extract", arguments[0], "data.npz", *arguments[1:], "--neuron", "2:0", "--out", "field.npz"
    )
    assert result.code == 0, result.err
    field = cf.load_field(folder / "field.npz")
    assert field.names == ("x", "v")
    assert field.rank == 1
    unit = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(
        np.abs((field.directions[:, :, 0] * unit).sum(axis=1)), 1.0, atol=1e-6
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["net.pt2", "data.npz", "--neuron", "9:0"], "9"),
        (["net.safetensors", "data.npz", "--neuron", "2:0"], "--builder"),
        (["missing.pt2", "data.npz", "--neuron", "2:0"], "missing.pt2"),
        (["net.pt2", "missing.npz", "--neuron", "2:0"], "missing.npz"),
    ],
)
def test_mistakes_are_told_without_a_traceback(command, monkeypatch, files, arguments, message):
    folder, _ = files
    monkeypatch.chdir(folder)
    result = command("extract", *arguments, "--out", "other.npz")
    assert result.code == 2
    assert message in result.err
    assert not (folder / "other.npz").exists()
