from typing import Any

import equinox
import jax
import jax.numpy as jnp
import pytest
from flax import linen, nnx

from closedform.errors import ExtractionError, NeuronError
from closedform.networks.jax_layers import listen
from closedform.networks.neuron import parse_neuron


class Nested(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.blocks = nnx.List([nnx.Linear(2, 2, rngs=rngs) for _ in range(2)])

    def __call__(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(block(x))
        return x


class Twice(linen.Module):
    @linen.compact
    def __call__(self, x: Any) -> Any:
        inner = linen.Dense(2, name="inner")
        return inner(inner(x))


def test_layers_in_lists_and_calls_of_a_layer() -> None:
    model = Nested(nnx.Rngs(0))
    run, batched = listen(model, (parse_neuron("blocks.1:0"),))

    output, layers = run(jnp.ones((1, 2)))

    assert batched is True
    assert len(layers["blocks.1"]) == 2
    assert jnp.array_equal(layers["blocks.1"][1], output)


def test_linen_layers_that_run_twice() -> None:
    module = Twice()
    variables = module.init(jax.random.key(0), jnp.ones((1, 2)))

    output, layers = listen((module, variables), (parse_neuron("inner:0"),))[0](jnp.ones((1, 2)))

    assert len(layers["inner"]) == 2
    assert jnp.array_equal(layers["inner"][1], output)


def test_equinox_layers_keep_their_attributes_while_listened_to() -> None:
    class Peeking(equinox.Module):
        inner: equinox.nn.Linear

        def __call__(self, x: Any) -> Any:
            return self.inner(x) + self.inner.weight.sum()

    model = Peeking(equinox.nn.Linear(2, 2, key=jax.random.key(0)))
    run, batched = listen(model, (parse_neuron("inner:0"),))

    output, layers = run(jnp.ones(2))

    assert batched is False
    assert jnp.allclose(output, model(jnp.ones(2)))
    assert jnp.allclose(layers["inner"][0], model.inner(jnp.ones(2)))


def test_layers_that_do_not_exist_are_listed() -> None:
    with pytest.raises(NeuronError, match=r"blocks\.0, blocks\.1"):
        listen(Nested(nnx.Rngs(0)), (parse_neuron("block.0:0"),))


@pytest.mark.parametrize("model", [(1, 2), 3])
def test_what_cannot_be_called_is_refused(model: Any) -> None:
    with pytest.raises(ExtractionError):
        listen(model, ())
