import warnings

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
    """A network of two inputs as .onnx, as .pt2 and as safetensors with a builder, and its data."""
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the newer way of torch needs onnxscript
        torch.onnx.export(
            model, (torch.tensor(inputs),), str(folder / "net.onnx"), dynamo=False,
            input_names=["x"], dynamic_axes={"x": {0: "rows"}},
        )  # fmt: skip
    from safetensors.torch import save_file

    save_file(model.state_dict(), folder / "net.safetensors")
    points = torch.tensor(inputs, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(model.double()(points).sum(), points)
    return folder, gradient.numpy()


@pytest.mark.parametrize(
    "arguments",
    [
        ["net.onnx", "--neuron", "output:0"],
        ["net.onnx", "--neuron", "1/Tanh:0"],
        ["net.pt2", "--trust", "--neuron", "2:0"],
        ["net.safetensors", "--builder", "extracted_nets:make", "--neuron", "2:0"],
    ],
)
def test_a_field_is_written(command, monkeypatch, files, arguments):
    folder, expected = files
    monkeypatch.chdir(folder)
    result = command("extract", arguments[0], "data.npz", *arguments[1:], "--out", "field.npz")
    assert result.code == 0, result.err
    field = cf.load_field(folder / "field.npz")
    assert field.names == ("x", "v")
    assert field.rank == 1
    if "1/Tanh:0" in arguments:
        return
    unit = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(
        np.abs((field.directions[:, :, 0] * unit).sum(axis=1)), 1.0, atol=1e-6
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["net.onnx", "data.npz", "--neuron", "9:0"], "9"),
        (["net.pt2", "data.npz", "--neuron", "2:0"], "--trust"),
        (["net.safetensors", "data.npz", "--neuron", "2:0"], "--builder"),
        (["missing.onnx", "data.npz", "--neuron", "2:0"], "missing.onnx"),
        (["net.onnx", "missing.npz", "--neuron", "2:0"], "missing.npz"),
    ],
)
def test_mistakes_are_told_without_a_traceback(command, monkeypatch, files, arguments, message):
    folder, _ = files
    monkeypatch.chdir(folder)
    result = command("extract", *arguments, "--out", "other.npz")
    assert result.code == 2
    assert message in result.err
    assert not (folder / "other.npz").exists()
