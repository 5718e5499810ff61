from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn

from closedform.errors import ExtractionError, NeuronError
from closedform.networks.extract import extract_samples, open_source

Unchanged = Callable[[nn.Module], AbstractContextManager[None]]

POINTS = np.random.default_rng(0).normal(size=(20, 3))


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))


def gradients(function: Callable[[torch.Tensor], torch.Tensor], points: np.ndarray) -> np.ndarray:
    leaf = torch.tensor(points, requires_grad=True)
    return torch.autograd.grad(function(leaf).sum(), leaf)[0].numpy()


def test_several_latents_in_one_pass_are_those_taken_one_by_one() -> None:
    model, calls = network(), []
    model[0].register_forward_hook(lambda module, args, output: calls.append(len(args[0])))

    together = extract_samples(model, POINTS, ["0:1", ("0", np.ones(8)), ":1", "1:4"], rng=0)
    passes = len(calls)
    alone = [
        extract_samples(model, POINTS, neuron, rng=0)
        for neuron in ("0:1", ("0", np.ones(8)), ":1", "1:4")
    ]

    # The trial on a few points, twice, for a network may answer differently each time, and the pass
    # itself; two points are tried alone too.
    assert passes == 4
    np.testing.assert_allclose(
        together.jacobians, np.concatenate([one.jacobians for one in alone], axis=1), rtol=1e-12
    )
    np.testing.assert_allclose(
        together.latents, np.concatenate([one.latents for one in alone], axis=1), rtol=1e-12
    )


def test_a_whole_layer_takes_the_vectorised_path_and_agrees() -> None:
    model = network()

    layer = extract_samples(model, POINTS, "0:*", rng=0)

    assert layer.jacobians.shape == (20, 8, 3)
    weight = model[0].get_parameter("weight").detach().double().numpy()
    np.testing.assert_allclose(layer.jacobians, np.broadcast_to(weight, (20, 8, 3)), rtol=1e-12)


def test_saturated_outputs_keep_exact_directions() -> None:
    model = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
    points = POINTS * 1e4

    samples = extract_samples(model, points, ":0", precision="native")

    weight = model[0].get_parameter("weight").detach().numpy()
    np.testing.assert_allclose(samples.jacobians, np.broadcast_to(weight, (20, 1, 3)), rtol=1e-6)
    assert np.abs(samples.latents).max() > 1000
    assert "its value before it was taken" in samples.notes[0]


def test_a_class_probability_is_its_log_odds_and_not_its_score() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Softmax(dim=1))

    samples = extract_samples(model, POINTS, ":1")

    inner = nn.Sequential(nn.Linear(3, 3)).double()
    inner.load_state_dict({key: value.double() for key, value in list(model.state_dict().items())})
    expected = gradients(
        lambda x: inner(x)[:, 1] - torch.logsumexp(inner(x)[:, [0, 2]], dim=1), POINTS
    )
    np.testing.assert_allclose(samples.jacobians[:, 0], expected, rtol=1e-9, atol=1e-12)
    assert "softmax" in samples.notes[0]


def test_several_inputs_by_position_and_by_name() -> None:
    class Two(nn.Module):
        def forward(self, x: torch.Tensor, t: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
            return scale * x[:, 0] * torch.sin(t) + x[:, 2]

    x, t = POINTS, POINTS[:, 1]
    expected = np.stack([np.sin(t), 0 * t, 1 + 0 * t, x[:, 0] * np.cos(t)], axis=1)

    for inputs in ((x, t), {"x": x, "t": t}):
        samples = extract_samples(Two(), inputs, 0)
        np.testing.assert_allclose(samples.jacobians[:, 0], expected, rtol=1e-12, atol=1e-15)
        assert samples.points.shape == (20, 4)
    assert samples.names == ("x0", "x1", "x2", "t")
    scaled = extract_samples(Two(), {"x": x, "t": t}, 0, wrt=("x", [0]), fixed={"scale": 3.0})
    np.testing.assert_allclose(scaled.jacobians[:, 0, 0], 3 * np.sin(t), rtol=1e-12)


def test_a_slice_of_an_input_with_the_rest_held_at_each_point() -> None:
    series = np.random.default_rng(1).normal(size=(20, 4, 3))

    samples = extract_samples(
        lambda s: (s[:, -1] * s[:, 0]).sum(dim=1), torch.tensor(series), 0, wrt=(0, -1)
    )

    np.testing.assert_allclose(samples.points, series[:, -1])
    np.testing.assert_allclose(samples.jacobians[:, 0], series[:, 0])
    assert samples.held is not None


def test_fixed_positional_arguments_and_ones_made_for_each_batch() -> None:
    class Conditioned(nn.Module):
        def forward(
            self, x: torch.Tensor, weights: torch.Tensor, time: torch.Tensor
        ) -> torch.Tensor:
            return (x @ weights) * time

    fixed: dict[int | str, Any] = {
        1: np.array([1.0, 2.0, 3.0]),
        2: lambda count: torch.full((count,), 0.5),
    }

    samples = extract_samples(Conditioned(), POINTS, 0, fixed=fixed, batch_size=7)

    np.testing.assert_allclose(samples.jacobians[:, 0], np.broadcast_to([0.5, 1.0, 1.5], (20, 3)))
    with pytest.raises(ExtractionError, match="both set the argument 0"):
        extract_samples(Conditioned(), POINTS, 0, fixed={0: 1.0})


def test_what_stands_in_front_gives_physical_units() -> None:
    points = POINTS * [1.0, 1e4, 1e-3] + 7.0
    scaler = StandardScaler().fit(points)
    model = network()
    expected = gradients(
        lambda x: model.double()((x - torch.tensor(scaler.mean_)) / torch.tensor(scaler.scale_))[
            :, 0
        ],
        points,
    )
    model.float()

    by_scaler = extract_samples(model, points, ":0", transform=scaler)
    by_function = extract_samples(
        model,
        points,
        ":0",
        transform=lambda x: (x - torch.tensor(scaler.mean_)) / torch.tensor(scaler.scale_),
    )

    np.testing.assert_allclose(by_scaler.points, points)
    np.testing.assert_allclose(by_scaler.jacobians[:, 0], expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(by_function.jacobians[:, 0], expected, rtol=1e-6, atol=1e-9)


def test_a_feature_map_in_front() -> None:
    samples = extract_samples(
        network(), POINTS[:, :1], "0:2", transform=lambda x: torch.cat([x, x**2, x**3], dim=1)
    )

    weight = network()[0].get_parameter("weight").detach().double().numpy()[2]
    x = POINTS[:, 0]
    np.testing.assert_allclose(
        samples.jacobians[:, 0, 0], weight[0] + 2 * weight[1] * x + 3 * weight[2] * x**2, rtol=1e-9
    )


def test_a_network_that_mixes_its_batch_is_evaluated_point_by_point() -> None:
    class Centred(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x - 0.9 * x.mean(dim=0)).square().sum(dim=1)

    samples = extract_samples(Centred(), POINTS, 0)

    np.testing.assert_allclose(samples.jacobians[:, 0], 2 * 0.01 * POINTS, rtol=1e-9)
    assert any("mixes the points" in note for note in samples.notes)


def test_a_network_of_one_point() -> None:
    class Single(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            assert x.ndim == 1
            return self.inner(x).square().sum()

    model = Single()

    output = extract_samples(model, POINTS, 0, batched=False)
    hidden = extract_samples(model, POINTS, "inner:1", batched=False)

    weight, bias = (
        value.detach().double().numpy() for value in (model.inner.weight, model.inner.bias)
    )
    np.testing.assert_allclose(
        output.jacobians[:, 0], 2 * (POINTS @ weight.T + bias) @ weight, rtol=1e-9
    )
    np.testing.assert_allclose(
        hidden.jacobians[:, 0], np.broadcast_to(weight[1], (20, 3)), rtol=1e-9
    )


def test_random_networks_are_noted_seeded_and_leave_the_generators_alone(
    unchanged: Unchanged,
) -> None:
    class Sampling(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * torch.randn_like(x)).sum(dim=1)

    model = Sampling()
    with unchanged(model):
        first, again, other = (extract_samples(model, POINTS, 0, rng=seed) for seed in (1, 1, 2))

    assert first.jacobians.tolist() == again.jacobians.tolist()
    assert first.jacobians.tolist() != other.jacobians.tolist()
    assert any("random numbers" in note for note in first.notes)


def test_a_neuron_before_the_random_step_is_not_noted() -> None:
    class Variational(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mean = nn.Linear(3, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            mean = self.mean(x)
            return mean * torch.randn_like(mean)

    torch.manual_seed(0)
    model = Variational()
    assert extract_samples(model, POINTS, "mean:0", rng=1).notes == ()
    assert any("random" in note for note in extract_samples(model, POINTS, 0, rng=1).notes)


def test_two_axes_that_could_count_the_points_are_told() -> None:
    def model(x: Any) -> Any:
        return (x @ x.T).expand(3, -1, -1)

    with pytest.raises(NeuronError, match="not clear which axis counts the points"):
        extract_samples(model, torch.as_tensor(POINTS), 0, batched=True)


def test_points_along_another_axis_are_found() -> None:
    class TimeFirst(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gru = nn.GRU(1, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.gru(x.T[:, :, None])[0][-1]

    model = TimeFirst()

    hidden = extract_samples(model, POINTS, "gru[0]:2,1", batch_size=10)
    output = extract_samples(model, POINTS, ":1", batch_size=10)

    np.testing.assert_allclose(hidden.jacobians, output.jacobians, rtol=1e-9)
    assert any("axis 1" in note for note in hidden.notes)


def test_layers_that_are_overwritten_in_place_are_seen_before() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 1))

    samples = extract_samples(model, POINTS, "0:2")

    assert (samples.latents < 0).any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_type_of_weights(dtype: torch.dtype) -> None:
    model = network().to(dtype)

    samples = extract_samples(model, POINTS, ":0")

    double = network().to(dtype).double()
    np.testing.assert_allclose(
        samples.jacobians[:, 0], gradients(lambda x: double(x)[:, 0], POINTS), rtol=1e-9
    )
    assert model[0].get_parameter("weight").dtype == dtype


def test_a_network_that_cannot_be_doubled_runs_as_it_is_and_says_so() -> None:
    class Stubborn(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(3, 1)
            self.matrix = [torch.eye(3)]

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x @ self.matrix[0])

    samples = extract_samples(Stubborn(), POINTS, 0)

    assert any("own precision" in note for note in samples.notes)
    with pytest.raises(RuntimeError, match="dtype"):
        extract_samples(Stubborn(), POINTS, 0, precision="double")


def test_smoothing_can_evaluate_near_the_points() -> None:
    source = open_source(network(), POINTS, ":0", rng=0)
    model = network().double()

    near = source.evaluate(source.points + 0.1)

    np.testing.assert_allclose(
        near.jacobians[:, 0], gradients(lambda x: model(x)[:, 0], POINTS + 0.1), rtol=1e-9
    )


@pytest.mark.parametrize(
    ("neuron", "error", "reason"),
    [
        ("5:0", NeuronError, "no layer '5'"),
        ("0:8", NeuronError, "outside an axis of length 8"),
        ("0", NeuronError, "'0:0' is the first unit"),
        (lambda model, inputs: model(inputs)[0], NeuronError, "one value for each"),
        (lambda model, inputs: model(inputs)[:, 0].detach(), ExtractionError, "no gradient"),
        (lambda model, inputs: 3.0, NeuronError, "one value for each"),
        (("0", lambda h: h[:, :, None]), NeuronError, "one value for each"),
    ],
)
def test_what_has_no_gradient_is_an_error_and_leaves_no_trace(
    neuron: Any, error: type[Exception], reason: str, unchanged: Unchanged
) -> None:
    model = network()
    with unchanged(model), pytest.raises(error, match=reason):
        extract_samples(model, POINTS, neuron)


def test_a_neuron_that_does_not_see_the_input_is_an_error() -> None:
    model = lambda x, y: x.sum(dim=1) + 0 * torch.ones(len(y))  # noqa: E731

    with pytest.raises(ExtractionError, match="wrt="):
        extract_samples(model, (torch.tensor(POINTS), torch.tensor(POINTS)), 0, wrt=1)


def test_no_grad_in_the_network_is_named() -> None:
    class Frozen(nn.Module):
        @torch.no_grad()
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sum(dim=1)

    with pytest.raises(ExtractionError, match="no_grad"):
        extract_samples(Frozen(), POINTS, 0)


def test_even_batches_avoid_a_batch_of_one() -> None:
    sizes: list[int] = []

    class Squeezing(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            sizes.append(len(x))
            return (x**2).sum(dim=1, keepdim=True).squeeze()

    extract_samples(Squeezing(), POINTS, 0, batch_size=19)

    assert min(sizes) > 1


@pytest.mark.parametrize("where", ["whole", "in place", "inside"])
@pytest.mark.parametrize("precision", ["auto", "native"])
def test_compiled_networks_that_ran_before_show_their_layers(
    where: str, precision: Any, unchanged: Unchanged
) -> None:
    model = network()
    expected = extract_samples(model, POINTS, "0:3").jacobians
    used: Any = model
    if where == "whole":
        used = torch.compile(model, backend="eager")
    elif where == "in place":
        model.compile(backend="eager")
    else:
        used = nn.Sequential(torch.compile(model, backend="eager"), nn.Identity())  # pyright: ignore[reportArgumentType]
    used(torch.zeros(4, 3))

    with unchanged(used):
        found = extract_samples(
            used, POINTS, "0.0:3" if where == "inside" else "0:3", precision=precision
        )

    np.testing.assert_allclose(found.jacobians, expected, rtol=1e-6)
