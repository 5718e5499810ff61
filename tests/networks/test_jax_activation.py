from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from closedform.networks.jax_source import log_odds, unsquashed

X = jnp.array([1.0, -2.0, 3.0])


@pytest.mark.parametrize(
    ("function", "name", "expected"),
    [
        (lambda x: [jax.nn.sigmoid(2 * x)[1]], "sigmoid", -4.0),
        (lambda x: [jnp.tanh(x)[2]], "tanh", 3.0),
        (lambda x: [jax.jit(jnp.tanh)(x).reshape(3, 1)[2, 0]], "tanh", 3.0),
        (lambda x: [jax.jit(lambda z: jax.nn.sigmoid(z)[None])(x)[0, 0]], "sigmoid", 1.0),
        (lambda x: [jax.nn.softmax(x)[1]], "softmax", float(log_odds(X, 0)[1])),
        (lambda x: [jax.nn.log_softmax(x)[2]], "log-softmax", float(log_odds(X, 0)[2])),
        (lambda x: [jax.nn.softmax(x[None], axis=-1)[0, 2]], "softmax", float(log_odds(X, 0)[2])),
        (lambda x: [jax.nn.relu(x)[2]], None, 3.0),
        (lambda x: [jnp.tanh(x).sum()], None, float(jnp.tanh(X).sum())),
        (lambda x: [2 * jnp.tanh(x)[0]], None, float(2 * jnp.tanh(1.0))),
        (lambda x: [x[0] / x.sum()], None, 0.5),
        (
            lambda x: [x[0] - jnp.log(jnp.exp(-x).sum())],
            None,
            float(1 - jnp.log(jnp.exp(-X).sum())),
        ),
        (lambda x: [jax.nn.softmax(x[:1])[0]], None, 1.0),
    ],
)
def test_the_last_step_is_undone_where_it_squashes(
    function: Any, name: str | None, expected: float
) -> None:
    values, names = unsquashed(function, X)

    assert names == [name]
    assert float(values[0]) == pytest.approx(expected, rel=1e-6)


def test_gradients_pass_through_functions_with_rules_of_their_own() -> None:
    def function(x: Any) -> Any:
        return unsquashed(lambda z: [jax.nn.relu(z).sum() + jax.nn.softplus(z)[0]], x)[0][0]

    np.testing.assert_allclose(jax.grad(function)(jnp.array([0.0, 2.0])), [0.5, 1.0], rtol=1e-6)


def test_log_odds_keep_their_gradient_where_a_share_is_one() -> None:
    gradient = jax.grad(lambda z: log_odds(z, 0)[0])(jnp.array([60.0, 0.0, -3.0]))

    np.testing.assert_allclose(
        gradient, [1.0, -1 / (1 + np.exp(-3)), -np.exp(-3) / (1 + np.exp(-3))], rtol=1e-5
    )
