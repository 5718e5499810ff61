from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from closedform.errors import ExtractionError, NeuronError
from closedform.networks.extract import extract_samples

POINTS = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 1e4, 1e-5]


def value(x: np.ndarray) -> np.ndarray:
    return np.sin(x[:, 0]) + (x[:, 1] / 1e4) ** 3 + np.exp(x[:, 2] * 1e5)


def gradient(x: np.ndarray) -> np.ndarray:
    return np.stack(
        [np.cos(x[:, 0]), 3 * (x[:, 1] / 1e4) ** 2 / 1e4, 1e5 * np.exp(x[:, 2] * 1e5)], axis=1
    )


def test_gradients_in_mixed_units_and_their_error_estimate() -> None:
    samples = extract_samples(value, POINTS, 0)

    scale = np.array([1.0, 1e4, 1e-5])
    error = np.abs(samples.jacobians[:, 0] - gradient(POINTS)) * scale
    assert error.max() < 1e-8
    assert samples.errors is not None
    # The estimate is an upper bound, and not a wild one.
    estimate = samples.errors[:, 0] * scale
    assert (error <= estimate + 1e-12).all()
    assert estimate.max() < 1e-4
    assert "finite differences" in samples.notes[-1]


def test_single_precision_functions_get_a_larger_step() -> None:
    samples = extract_samples(lambda x: value(x).astype(np.float32), POINTS, 0)

    scaled = (samples.jacobians[:, 0] - gradient(POINTS)) * [1.0, 1e4, 1e-5]
    assert np.median(np.abs(scaled)) < 1e-4


def test_functions_of_one_point() -> None:
    samples = extract_samples(lambda point: float(value(point[None])[0]), POINTS, 0)

    np.testing.assert_allclose(
        samples.jacobians[:, 0] * [1.0, 1e4, 1e-5], gradient(POINTS) * [1.0, 1e4, 1e-5], atol=1e-8
    )
    assert "The function takes one point at a time." in samples.notes


def test_several_outputs_inputs_and_functions() -> None:
    x, t = POINTS[:, :2] / [1.0, 1e4], POINTS[:, 0] / 3

    def model(x: np.ndarray, t: np.ndarray, power: int = 1) -> dict[str, np.ndarray]:
        return {
            "both": np.stack([x[:, 0] * t, x[:, 1] ** power], axis=1),
            "size": np.asarray(len(x)),
        }

    samples = extract_samples(model, {"x": x, "t": t}, ["[both]:0", "[both]:1"], fixed={"power": 2})
    only = extract_samples(model, {"x": x, "t": t}, "[both]:0", wrt="t")
    free = extract_samples(
        model, {"x": x, "t": t}, lambda function, inputs: function(**inputs)["both"].sum(axis=1)
    )

    np.testing.assert_allclose(
        samples.jacobians[:, 0], np.stack([t, 0 * t, x[:, 0]], axis=1), atol=1e-9
    )
    np.testing.assert_allclose(samples.jacobians[:, 1, 1], 2 * x[:, 1], atol=1e-9)
    np.testing.assert_allclose(only.jacobians[:, 0, 0], x[:, 0], atol=1e-9)
    np.testing.assert_allclose(free.jacobians[:, 0, 0], t, atol=1e-9)
    assert samples.names == ("x0", "x1", "t")


@pytest.mark.parametrize("batched", [True, False])
def test_a_fitted_scaler_in_front_need_not_be_affine(batched: bool) -> None:
    scaler: Any = StandardScaler().fit(POINTS)

    samples = extract_samples(
        lambda x: np.sum(x**2, axis=-1),
        POINTS,
        0,
        transform=scaler,
        batched=batched,
        kind="function",
        max_points=20,
        rng=0,
    )

    expected = 2 * (samples.points - scaler.mean_) / scaler.scale_**2
    np.testing.assert_allclose(
        samples.jacobians[:, 0] * scaler.scale_, expected * scaler.scale_, atol=1e-8
    )


def test_rough_functions_are_called_rough() -> None:
    noise = np.random.default_rng(0)

    samples = extract_samples(lambda x: x[:, 0] + 1e-3 * noise.normal(size=len(x)), POINTS, 0)

    assert any("not smooth" in note for note in samples.notes)


def test_batches_do_not_change_the_result() -> None:
    one, many = (extract_samples(value, POINTS, 0, batch_size=size).jacobians for size in (1000, 7))

    assert one.tolist() == many.tolist()


@pytest.mark.parametrize(
    ("model", "neuron", "error"),
    [
        (value, "layer:0", NeuronError),
        (value, ":3", NeuronError),
        (lambda x: x[:, :2], "output", NeuronError),
        (3.0, 0, ExtractionError),
    ],
)
def test_what_has_no_such_value_is_an_error(
    model: Any, neuron: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        extract_samples(model, POINTS, neuron, kind="function")


@pytest.mark.parametrize("path", ["net.onnx", Path("net.onnx")])
def test_a_path_is_sent_to_the_function_that_opens_it(path: Any) -> None:
    with pytest.raises(ExtractionError, match=r"'net\.onnx' is text.*load_network\(path\)"):
        extract_samples(path, POINTS, 0)


def test_the_functions_own_error_is_shown() -> None:
    def broken(x: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("my own mistake")

    with pytest.raises(ZeroDivisionError, match="my own mistake"):
        extract_samples(broken, POINTS, 0)
