from dataclasses import asdict
from typing import cast

import numpy as np
import pytest

from closedform.networks.extract import extract_field
from closedform.networks.options import OptionKeywords
from closedform.sweeping import layer_extraction as module
from closedform.sweeping.execution.shared_folder import SharedFolder
from closedform.sweeping.layer_extraction import LayerExtraction, load_inputs, read_values

torch = pytest.importorskip("torch")

INPUTS = np.random.default_rng(0).normal(size=(300, 3))


@pytest.fixture
def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 12), torch.nn.Linear(12, 1)
    )


def extraction(folder, model, **options):
    given = {
        "names": ["x", "y", "z"],
        "tangent": "auto",
        "constraints": (),
        "max_points": 200,
        "smoothing": 0.0,
        "seed": 3,
    }
    given |= {name: options.pop(name) for name in list(options) if name in given}
    return LayerExtraction(
        SharedFolder(folder), model, INPUTS, options=cast(OptionKeywords, options), **given
    )


def values_at(folder, reference):
    return read_values(SharedFolder(folder), asdict(reference))


def names(count, layer="2"):
    return [f"{layer}:{number}" for number in range(count)]


def test_fields_are_those_of_single_neurons(tmp_path, model):
    found = extraction(tmp_path, model).block(names(12))
    inputs = load_inputs(str(tmp_path), (), extraction_inputs(tmp_path))
    assert (inputs.names, inputs.tangent.kind) == (("x", "y", "z"), "none")
    for reference in (found[0], found[7]):
        values = values_at(tmp_path, reference)
        assert values is not None
        alone = extract_field(model, inputs.points, reference.neuron, max_points=None)
        unit = values[:, :3] / np.linalg.norm(values[:, :3], axis=1, keepdims=True)
        np.testing.assert_allclose(
            np.abs((unit * alone.directions[:, :, 0]).sum(axis=1)), 1.0, atol=1e-12
        )
        assert alone.latents is not None
        np.testing.assert_allclose(values[:, 3], alone.latents[:, 0], atol=1e-12)


def extraction_inputs(folder):
    (file,) = (folder / "inputs").iterdir()
    return f"inputs/{file.name}"


def test_memory_is_bounded_by_points_times_neurons(tmp_path, model, monkeypatch):
    sizes = []
    open_source = module.open_source

    def spy(*arguments, **options):
        sizes.append(
            (
                len(arguments[2]) if isinstance(arguments[2], list) else 1,
                options.get("batch_size", 0),
            )
        )
        return open_source(*arguments, **options)

    monkeypatch.setattr(module, "open_source", spy)
    monkeypatch.setattr(module, "AT_ONCE", 240)
    extraction(tmp_path, model).block(names(12))
    assert sizes[-1] == (12, 20)


def test_a_network_that_has_not_changed_is_not_run_again(tmp_path, model, monkeypatch):
    first = extraction(tmp_path, model).block(names(12))

    def refuse(*_):
        raise AssertionError("the network was run again")

    again = extraction(tmp_path, model)
    monkeypatch.setattr(LayerExtraction, "_samples", refuse)
    assert again.block(names(12)) == first
    assert again.restore(first) == first
    with torch.no_grad():
        model[0].weight += 0.01
    with pytest.raises(AssertionError, match="run again"):
        extraction(tmp_path, model).block(names(12))


@pytest.mark.parametrize(
    "other", [{"seed": 4}, {"smoothing": 0.01}, {"precision": "native"}, {"names": ["a", "b", "c"]}]
)
def test_other_options_give_other_plans(tmp_path, model, other):
    extraction(tmp_path, model).block(names(3))
    extraction(tmp_path, model, **other).block(names(3))
    assert len(list((tmp_path / "plans").iterdir())) == 2


@pytest.mark.parametrize("what", ["fields", "plans"])
@pytest.mark.parametrize("way", ["truncated", "overwritten", "removed"])
def test_damaged_files_are_made_again(tmp_path, model, what, way):
    first = extraction(tmp_path, model).block(names(12))
    (file,) = (tmp_path / what).iterdir()
    content = file.read_bytes()
    if way == "removed":
        file.unlink()
    else:
        file.write_bytes(
            content[:-9] if way == "truncated" else content[:100] + b"#######" + content[107:]
        )
    again = extraction(tmp_path, model)
    assert again.restore(again.block(names(12))) == first
    assert all(values_at(tmp_path, reference) is not None for reference in first)
    assert file.read_bytes() == content


def test_a_reference_notices_damage(tmp_path, model):
    found = extraction(tmp_path, model).block(names(3))
    (file,) = (tmp_path / "fields").iterdir()
    content = bytearray(file.read_bytes())
    content[found[1].shape[0] * 4 * 8 + 5] ^= 1
    file.write_bytes(content)
    assert [values_at(tmp_path, reference) is None for reference in found] == [False, True, False]


def test_functions_have_no_plans(tmp_path):
    chosen = extraction(tmp_path, lambda x: np.stack([x[:, 0] ** 2, x[:, 1]], axis=1))
    chosen.block(["output:0", "output:1"])
    assert not (tmp_path / "plans").exists()
