import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from closedform.errors import DamagedFileError, ExtractionError
from closedform.networks.extract import extract_field, extract_samples
from closedform.networks.model_files import load_network
from closedform.networks.torch_layers import list_layers
from closedform.networks.whole_network import LoadedModel, fingerprint

POINTS = np.random.default_rng(0).normal(size=(20, 3))


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.encoder = nn.Sequential(
            nn.Linear(3, 8), nn.SiLU(), nn.LayerNorm(8), nn.Linear(8, 6), nn.GELU(), nn.Linear(6, 4)
        )
        self.norm = nn.BatchNorm1d(4)
        self.last = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.tanh(self.norm(self.encoder(x)))
        left, right = hidden.chunk(2, dim=1)
        joined = torch.cat([left * right, nn.functional.softplus(left)], dim=1)
        return torch.sigmoid(self.last(joined.reshape(-1, 4)))


def export(model: nn.Module, path: Path, *, rows: int | None = None) -> Path:
    """As torch has done it for years; the newer way needs onnxscript."""
    axes = None if rows else {"x": {0: "rows"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model.eval(), (torch.randn(rows or 5, 3),), str(path), dynamo=False,
            input_names=["x"], output_names=["answer"], dynamic_axes=axes,
        )  # fmt: skip
    return path


def written(path: Path, nodes: list[Any], outputs: list[str], **arrays: Any) -> LoadedModel:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info("x", TensorProto.DOUBLE, ["rows", 3])],
        [info(name, TensorProto.DOUBLE, []) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )  # fmt: skip
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 2)]
    path.write_bytes(helper.make_model(graph, opset_imports=sets, ir_version=9).SerializeToString())
    return load_network(path)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Network, LoadedModel]:
    model = Network()
    return model, load_network(export(model, tmp_path_factory.mktemp("onnx") / "net.onnx"))


@pytest.mark.parametrize(
    ("neuron", "same"),
    [(":1", ":1"), ("answer:0", ":0"), ("encoder/encoder_3/Gemm:4", "encoder.3:4")],
)
def test_torch_exports_have_the_gradients_of_their_network(
    exported: tuple[Network, LoadedModel], neuron: str, same: str
) -> None:
    model, loaded = exported

    found, expected = extract_samples(loaded, POINTS, neuron), extract_samples(model, POINTS, same)

    np.testing.assert_allclose(found.latents, expected.latents, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.jacobians, expected.jacobians, rtol=1e-5, atol=1e-7)
    assert any("sigmoid" in note for note in found.notes) == (neuron != "encoder/encoder_3/Gemm:4")
    assert not any("own precision" in note for note in found.notes)


@pytest.mark.parametrize("neuron", ["Tanh:2", "answer:0"])
def test_gradients_agree_with_finite_differences(
    exported: tuple[Network, LoadedModel], neuron: str
) -> None:
    loaded = exported[1]
    step = 1e-5
    found = extract_samples(loaded, POINTS, neuron).jacobians[:, 0]
    for column in range(3):
        move = np.zeros(3)
        move[column] = step
        up, down = (
            extract_samples(loaded, POINTS + sign * move, neuron).latents[:, 0] for sign in (1, -1)
        )
        np.testing.assert_allclose(found[:, column], (up - down) / (2 * step), rtol=1e-7, atol=1e-9)


def test_layers_are_listed_with_their_units(exported: tuple[Network, LoadedModel]) -> None:
    layers = {layer.name: layer for layer in list_layers(exported[1])}

    assert layers["encoder/encoder_0/Gemm"].units == "8"
    assert layers["encoder/encoder_0/Gemm"].weights == 3 * 8 + 8
    assert layers["encoder/encoder_0/Gemm"].kind == "Gemm"
    assert layers["answer"].kind == "Sigmoid"
    assert list_layers(exported[1], POINTS) == list(layers.values())


def test_an_exported_network_is_read_like_any_other(exported: tuple[Network, LoadedModel]) -> None:
    field = extract_field(exported[1], POINTS, "answer:1", names=["a", "b", "c"])
    assert field.names == ("a", "b", "c")


def test_copies_are_the_same(exported: tuple[Network, LoadedModel]) -> None:
    model = exported[1].model
    copies = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    x = torch.from_numpy(POINTS)
    assert all(torch.equal(again(x), model(x)) for again in copies)
    assert {fingerprint(again) for again in copies} == {fingerprint(model)}


def test_what_a_network_computes_decides_its_fingerprint(tmp_path: Path) -> None:
    prints = {
        fingerprint(written(tmp_path / "n.onnx", [helper.make_node(*node)], ["y"], w=np.ones(3)))
        for node in (("Add", ["x", "w"], ["y"]), ("Mul", ["x", "w"], ["y"]), ("Tanh", ["x"], ["y"]))
    }
    assert len(prints) == 3


def test_a_fixed_number_of_rows_is_kept(tmp_path: Path) -> None:
    model = Network()
    loaded = load_network(export(model, tmp_path / "net.onnx", rows=6))
    assert loaded.fixed_batch == 6
    found, expected = (extract_samples(m, POINTS, ":0").jacobians for m in (loaded, model))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_weights_in_the_file_beside_it(tmp_path: Path) -> None:
    path = export(Network(), tmp_path / "one.onnx")
    onnx.save(
        onnx.load(path), str(tmp_path / "two.onnx"), save_as_external_data=True,
        location="two.onnx.data", size_threshold=0,
    )  # fmt: skip
    found, expected = (
        extract_samples(load_network(p), POINTS, 0).jacobians for p in (tmp_path / "two.onnx", path)
    )
    np.testing.assert_array_equal(found, expected)


def test_rows_that_mix_are_evaluated_alone(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=[0], keepdims=1),
        helper.make_node("Add", ["x", "mean"], ["sum"]),
        helper.make_node("Mul", ["sum", "sum"], ["y"]),
    ]
    found = extract_samples(written(tmp_path / "n.onnx", nodes, ["y"]), POINTS, "y:0")
    assert any("mixes the points" in note for note in found.notes)
    # One row is its own mean.
    np.testing.assert_allclose(found.jacobians[:, 0, 0], 8 * POINTS[:, 0], rtol=1e-12)


def test_several_outputs_and_several_parts(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Split", ["x", "sizes"], ["one", "two"], name="cut", axis=1),
        helper.make_node("Tanh", ["one"], ["first"]),
        helper.make_node("Exp", ["two"], ["second"]),
    ]
    loaded = written(tmp_path / "n.onnx", nodes, ["first", "second"], sizes=np.array([1, 2]))
    neurons = ["output[second]:1", "second:1", "cut[1]:1"]
    found = extract_samples(loaded, POINTS, neurons)
    np.testing.assert_allclose(found.latents[:, 0], np.exp(POINTS[:, 2]))
    np.testing.assert_allclose(found.latents[:, 1], np.exp(POINTS[:, 2]))
    np.testing.assert_allclose(found.latents[:, 2], POINTS[:, 2])


def test_what_is_behind_an_unknown_operator_is_left_out(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Tanh", ["x"], ["hidden"]),
        helper.make_node("ZipMap", ["hidden"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[1]),
    ]
    loaded = written(tmp_path / "n.onnx", nodes, ["y"])
    assert "ZipMap" in loaded.notes[0]
    assert "'hidden'" in loaded.notes[1]
    np.testing.assert_allclose(extract_samples(loaded, POINTS, "hidden:0").jacobians[:, 0, 1:], 0)


@pytest.mark.parametrize("name", ["forward", "a.b[0]@1:2", "", "/", "x" * 1000, "training"])
def test_names_of_nodes_can_always_be_selected(tmp_path: Path, name: str) -> None:
    nodes = [
        helper.make_node("Tanh", ["x"], ["one"], name=name),
        helper.make_node("Exp", ["one"], ["two"], name=name),
        helper.make_node("Sin", ["two"], ["y"], name=name),
    ]
    loaded = written(tmp_path / "n.onnx", nodes, ["y"])
    layers = list_layers(loaded)
    assert len({layer.name for layer in layers}) == 3
    for layer in layers:
        assert extract_samples(loaded, POINTS, layer.example).latents.shape == (20, 1)


def test_inputs_of_another_width_are_refused(exported: tuple[Network, LoadedModel]) -> None:
    with pytest.raises(ExtractionError, match=r"rows of shape \(3,\)"):
        extract_field(exported[1], POINTS[:, :2], ":0")


def test_networks_of_scikit_learn(tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    target = POINTS[:, 0] * POINTS[:, 1]
    network = MLPRegressor(
        hidden_layer_sizes=(16,), activation="tanh", max_iter=50, tol=1.0, random_state=0
    )
    models = {
        "net": make_pipeline(StandardScaler(), network).fit(POINTS, target),
        "classes": MLPClassifier(hidden_layer_sizes=(8,), max_iter=50, tol=1.0).fit(
            POINTS, target > 0
        ),
        "trees": RandomForestRegressor(3).fit(POINTS, target),
    }
    for name, model in models.items():
        made: Any = skl2onnx.to_onnx(model, POINTS[:1])
        (tmp_path / f"{name}.onnx").write_bytes(made.SerializeToString())

    found = extract_samples(load_network(tmp_path / "net.onnx"), POINTS, ":0")
    np.testing.assert_allclose(found.latents[:, 0], models["net"].predict(POINTS), rtol=1e-9)
    step = 1e-6 * np.eye(3)
    slopes = [
        (models["net"].predict(POINTS + h) - models["net"].predict(POINTS - h)) / 2e-6 for h in step
    ]
    np.testing.assert_allclose(found.jacobians[:, 0], np.stack(slopes, 1), rtol=1e-5, atol=1e-7)
    classes = load_network(tmp_path / "classes.onnx")
    assert any("ZipMap" in note for note in classes.notes)
    with pytest.raises(DamagedFileError, match="trees are constant"):
        load_network(tmp_path / "trees.onnx")
