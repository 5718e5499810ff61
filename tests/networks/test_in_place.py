"""Functions that write into their arguments: the caller's data stay as they were, and the answer is
right.
"""

import numpy as np
import pytest

import closedform as cf
from closedform.networks.extract import extract_field
from closedform.networks.rows import own_copy


def points_of(n_points=200):
    return np.random.default_rng(0).uniform(0.5, 1.5, (n_points, 2))


def scribbling(x):
    """x**2 + 2 v, computed in the memory of its argument."""
    x[:, 0] **= 2
    x[:, 1] *= 2
    x[:, 0] += x[:, 1]
    return x[:, 0]


def scribbling_on_one(x):
    x[0] **= 2
    x[1] *= 2
    x[0] += x[1]
    return x[0]


def right(field, points, truth="x**2 + 2*v"):
    expected = cf.parse(truth, ["x", "v"]).gradient(points)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    return np.allclose(np.abs((field.directions[:, :, 0] * expected).sum(axis=1)), 1, atol=1e-5)


class Estimator:
    """Its methods write into the table that they are given."""

    def predict(self, table):
        return scribbling(table)

    def transform(self, table):
        table *= 3
        return table


class Model:
    """Called as a function of two arrays and of one that stays the same."""

    def __call__(self, x, v, offset):
        x **= 2
        v *= 2
        x += v
        x += offset
        offset += 100
        return x[:, 0]


def untouched(call, *arrays):
    before = [own_copy(array) for array in arrays]
    result = call()
    for old, new in zip(before, arrays, strict=True):
        assert np.array_equal(np.asarray(old), np.asarray(new))
    return result


@pytest.mark.parametrize("max_points", [None, 150])
@pytest.mark.parametrize(
    "model", [scribbling, scribbling_on_one, Estimator()], ids=["many", "one", "estimator"]
)
def test_a_function_that_writes_into_its_argument(model, max_points):
    """It changed the caller's data, and the gradients were wrong without a word."""
    points = points_of()
    field = untouched(
        lambda: extract_field(model, points, 0, names=["x", "v"], max_points=max_points, rng=0),
        points,
    )
    assert right(field, field.points)
    assert max_points is not None or np.array_equal(field.points, points)


def test_the_answer_is_right():
    points = points_of(400)
    found = untouched(
        lambda: cf.interpret(
            scribbling,
            points,
            0,
            names=["x", "v"],
            engine="terms",
            budget=cf.Budget(evaluations=1000),
            rng=0,
        ),
        points,
    )
    assert found.verdict.status == "verified"
    assert cf.same_concept(str(found.concept), "x**2 + 2*v", ["x", "v"])


def test_several_arrays_and_one_that_stays_the_same():
    points, offset = points_of(), np.full((1, 1), 0.5)
    x, v = points[:, :1].copy(), points[:, 1:].copy()
    field = untouched(
        lambda: extract_field(Model(), (x, v), 0, names=["x", "v"], fixed={2: offset}, rng=0),
        x,
        v,
        offset,
    )
    assert right(field, points)


def test_a_transform_that_writes_into_its_argument():
    def double(x):
        x *= 2
        return x

    points = points_of()
    for transform, truth in ((double, "x**2 + v"), (Estimator(), "x**2 + 2*v/3")):
        field = untouched(
            lambda transform=transform: extract_field(
                scribbling, points, 0, names=["x", "v"], transform=transform, rng=0
            ),
            points,
        )
        assert right(field, points, truth)


def test_functions_as_neurons_that_write_into_what_they_are_given():
    def of_the_output(output):
        output *= output
        return output

    def of_the_model(model, inputs):
        return model(inputs)

    points = points_of()
    neurons = [("output", of_the_output), of_the_model, 0]
    field = untouched(
        lambda: extract_field(scribbling, points, neurons, names=["x", "v"], rng=0), points
    )
    assert field.rank == 1
    assert right(field, points)


def test_prepare_that_writes_into_a_batch():
    def prepare(batch):
        batch[0][:] *= 2
        return batch[0]

    batches = [(points_of(), np.zeros(200)), (points_of() + 1, np.zeros(200))]
    arrays = [array for batch in batches for array in batch]
    field = untouched(
        lambda: extract_field(
            scribbling, iter(batches), 0, names=["x", "v"], prepare=prepare, rng=0
        ),
        *arrays,
    )
    assert right(field, field.points)


def test_a_constraint_that_writes_into_the_points():
    def gradient(points):
        points[:, :] = 2 * points
        points[:, 2] = 0
        return points

    angles = np.random.default_rng(0).uniform(0, 6, 300)
    points = np.stack(
        [np.cos(angles), np.sin(angles), np.random.default_rng(1).uniform(1, 2, 300)], axis=1
    )
    gradients = np.stack([-points[:, 1], points[:, 0], points[:, 2]], axis=1)
    field = untouched(
        lambda: cf.GradientField.from_arrays(
            points, gradients, tangent="constraints", constraints=[gradient]
        ),
        points,
    )
    assert np.array_equal(field.points, points)
    assert np.allclose((field.directions[:, :2, 0] * points[:, :2]).sum(axis=1), 0, atol=1e-12)


def test_a_sampler_that_fills_the_same_array_each_time():
    from closedform.reading.laws.discovery import _drawn

    buffer = np.empty((50, 2, 3))

    def sampler(count, rng):
        buffer[:] = rng.normal(size=buffer.shape)
        return buffer

    first = _drawn(sampler, 50, 0, 0)
    kept = first.copy()
    second = _drawn(sampler, 50, 0, 1)
    assert np.array_equal(first, kept)
    assert not np.array_equal(first, second)


def test_a_torch_network_that_begins_in_place():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layers = [torch.nn.Linear(2, 8), torch.nn.SiLU(), torch.nn.Linear(8, 1)]
    plain = torch.nn.Sequential(torch.nn.SiLU(), *layers)
    in_place = torch.nn.Sequential(torch.nn.SiLU(inplace=True), *layers)
    for points in (points_of(), torch.tensor(points_of())):
        expected = extract_field(plain, points, "3:0", rng=0)
        field = untouched(
            lambda points=points: extract_field(in_place, points, "3:0", rng=0), points
        )
        assert np.array_equal(field.directions, expected.directions)


def test_a_function_of_tensors_that_writes_into_its_argument():
    torch = pytest.importorskip("torch")

    def network(x, offset):
        x[:, 0] **= 2
        x[:, 1] *= 2
        offset += 1
        return (x.sum(dim=1) + offset)[:, None]

    offset = torch.zeros(1, dtype=torch.float64)
    for points in (points_of(), torch.tensor(points_of())):
        field = untouched(
            lambda points=points: extract_field(
                network, points, 0, names=["x", "v"], fixed={1: offset}, kind="torch", rng=0
            ),
            points,
            offset,
        )
        assert right(field, np.asarray(points))


def test_a_neurons_function_does_not_reach_the_layers_behind_it():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.SiLU(), torch.nn.Linear(4, 1))

    points = points_of()
    alone = extract_field(network, points, ["0:0", "2:0"], rng=0)

    def halved(hidden):
        hidden /= 2
        return hidden[:, 0]

    beside = extract_field(network, points, [("0", halved), "2:0"], rng=0)
    assert alone.latents is not None
    assert beside.latents is not None
    assert np.allclose(beside.latents[:, 1], alone.latents[:, 1])


def test_an_engine_cannot_write_into_the_field():
    field = cf.GradientField.from_arrays(points_of(), points_of())
    for name in ("points", "directions", "frames", "weights", "scale"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(field, name)[0] = 1
