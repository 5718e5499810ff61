from typing import Any

import equinox
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx

import closedform as cf
from closedform.errors import ExtractionError, NeuronError
from closedform.networks.extract import extract_samples

POINTS = np.random.default_rng(0).normal(size=(20, 3))


def expected_gradients(function: Any, points: np.ndarray = POINTS) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(jax.jit(jax.vmap(jax.grad(function)))(jnp.asarray(points)))


def close(samples: Any, function: Any) -> None:
    np.testing.assert_allclose(
        samples.jacobians[:, 0], expected_gradients(function), rtol=1e-6, atol=1e-12
    )


class Linen(linen.Module):
    @linen.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        x = linen.tanh(linen.BatchNorm(use_running_average=not train)(linen.Dense(8)(x)))
        x = linen.Dropout(0.5, deterministic=not train)(x)
        return linen.Dense(3)(x)


class Nnx(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(3, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.second = nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.second(self.drop(nnx.silu(self.norm(self.first(x)))))


@pytest.mark.parametrize("bound", [True, False])
def test_linen_modules_with_their_variables(bound: bool) -> None:
    module = Linen()
    variables = jax.jit(module.init)(jax.random.key(0), jnp.zeros((1, 3)))
    model = module.bind(variables) if bound else (module, variables)

    def hidden(x: Any) -> Any:
        _, state = module.apply(
            variables, x[None], capture_intermediates=True, mutable=["intermediates"]
        )
        inner: Any = state["intermediates"]
        return inner["BatchNorm_0"]["__call__"][0][0, 5]

    close(extract_samples(model, POINTS, "BatchNorm_0:5"), hidden)

    def output(x: Any) -> Any:
        values: Any = module.apply(variables, x[None])
        return values[0, 2]

    close(extract_samples(model, POINTS, ":2"), output)
    close(extract_samples(model, POINTS, ":2", fixed={"train": False}), output)


def test_nnx_modules_run_in_evaluation_mode_and_stay_in_training_mode() -> None:
    model = Nnx(nnx.Rngs(0))
    before = [
        np.asarray(leaf).tobytes()
        for leaf in jax.tree_util.tree_leaves(nnx.to_pure_dict(nnx.state(model, nnx.Param)))
    ]

    hidden = extract_samples(model, POINTS, "first:5")
    output = extract_samples(model, POINTS, ":1")

    assert not model.drop.deterministic
    assert type(model.first) is nnx.Linear
    after = [
        np.asarray(leaf).tobytes()
        for leaf in jax.tree_util.tree_leaves(nnx.to_pure_dict(nnx.state(model, nnx.Param)))
    ]
    assert before == after
    quiet = nnx.clone(model)
    quiet.eval()
    close(hidden, lambda x: quiet.first(x)[5])
    close(output, lambda x: quiet(x)[1])


def test_equinox_modules_take_one_point() -> None:
    model = equinox.nn.MLP(3, 2, 8, 2, activation=jnp.tanh, key=jax.random.key(0))

    close(
        extract_samples(model, POINTS, "layers.1:4"),
        lambda x: model.layers[1](jnp.tanh(model.layers[0](x)))[4],
    )
    close(extract_samples(model, POINTS, ":1"), lambda x: model(x)[1])
    assert not isinstance(model.layers[1], type(None))


def test_several_latents_directions_functions_and_whole_layers() -> None:
    model = equinox.nn.MLP(3, 2, 8, 1, key=jax.random.key(0))
    direction = np.arange(1.0, 9.0)

    samples = extract_samples(
        model,
        POINTS,
        ["layers.0:1", ("layers.0", direction), ("layers.0", lambda h: h.sum(axis=1)), ":0"],
    )
    layer = extract_samples(model, POINTS, "layers.0:*")
    whole = extract_samples(model, POINTS, lambda network, x: network(x)[0] ** 2)

    weight = np.asarray(model.layers[0].weight, dtype=float)
    np.testing.assert_allclose(
        samples.jacobians[:, 0], np.broadcast_to(weight[1], (20, 3)), rtol=1e-6
    )
    np.testing.assert_allclose(
        samples.jacobians[:, 1], np.broadcast_to(direction @ weight, (20, 3)), rtol=1e-6
    )
    np.testing.assert_allclose(
        samples.jacobians[:, 2], np.broadcast_to(weight.sum(axis=0), (20, 3)), rtol=1e-6
    )
    np.testing.assert_allclose(layer.jacobians, np.broadcast_to(weight, (20, 8, 3)), rtol=1e-6)
    close(whole, lambda x: model(x)[0] ** 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.sum(x**3, axis=-1),
        lambda x: x[:, 0] ** 3 + x[:, 1] ** 3 + x[:, 2] ** 3,
        lambda x: jnp.sum(x**3),
        lambda x: x[0] ** 3 + x[1] ** 3 + x[2] ** 3,
        jax.jit(lambda x: jnp.sum(x**3)),
    ],
)
def test_functions_of_one_point_and_of_many(function: Any) -> None:
    samples = extract_samples(function, POINTS, 0, kind="jax", batch_size=7)

    np.testing.assert_allclose(samples.jacobians[:, 0], 3 * POINTS**2, rtol=1e-12)


def test_several_inputs_slices_and_a_step_in_front() -> None:
    def model(x: Any, t: Any) -> Any:
        return x[0] * jnp.sin(t) + x[2]

    samples = extract_samples(
        model,
        {"x": POINTS, "t": POINTS[:, 1]},
        0,
        kind="jax",
        batched=False,
        wrt=[("x", [2, 0]), "t"],
    )
    scaled = extract_samples(lambda x: jnp.sum(x**2), POINTS, 0, transform=lambda x: 3 * x)

    t = POINTS[:, 1]
    np.testing.assert_allclose(
        samples.jacobians[:, 0],
        np.stack([0 * t + 1, np.sin(t), POINTS[:, 0] * np.cos(t)], 1),
        rtol=1e-12,
    )
    np.testing.assert_allclose(scaled.jacobians[:, 0], 18 * POINTS, rtol=1e-12)


def test_squashed_outputs_are_taken_before() -> None:
    samples = extract_samples(lambda x: jax.nn.sigmoid(1e3 * x[0]), POINTS, 0)

    np.testing.assert_allclose(samples.jacobians[:, 0, 0], 1e3)
    assert "sigmoid" in samples.notes[0]


def test_the_precision_of_the_users_session_is_left_alone() -> None:
    extract_samples(lambda x: jnp.sum(x), POINTS, 0)

    assert jnp.asarray(1.0).dtype == jnp.float32


@pytest.mark.parametrize(
    ("neuron", "reason"),
    [
        ("layer.0:1", "did you mean 'layers.0'"),
        ("layers.0:9", "outside an axis"),
        ("layers.0@1:0", "no call 1"),
        ("activation:0", "no layer 'activation'"),
    ],
)
def test_neurons_that_do_not_exist_are_named(neuron: str, reason: str) -> None:
    model = equinox.nn.MLP(3, 2, 8, 1, key=jax.random.key(0))
    with pytest.raises(NeuronError, match=reason):
        extract_samples(model, POINTS, neuron)


def test_layers_of_a_plain_function_do_not_exist() -> None:
    with pytest.raises(NeuronError, match="only the output"):
        extract_samples(lambda x: jnp.sum(x), POINTS, "dense:0")


def test_whole_numbers_have_no_gradient() -> None:
    with pytest.raises(ExtractionError, match="no gradient"):
        extract_samples(lambda x: jnp.argmax(x), POINTS, 0)


def test_a_function_of_jax_is_read():
    def network(x):
        return jnp.exp(-jnp.sqrt(x[:, :1] ** 2 - x[:, 1:] ** 2))

    mass, p = np.random.default_rng(0).uniform([0.5, -2], [2, 2], (400, 2)).T
    points = np.stack([np.sqrt(mass**2 + p**2), p], axis=1)
    few = cf.Budget(evaluations=500)
    found = cf.interpret(network, points, 0, names=["E", "p"], engine="terms", budget=few, rng=0)
    assert found.verdict.status == "verified"
    assert cf.same_concept(str(found.concept), "E**2 - p**2", ["E", "p"])
