"""A JAX function: differentiable, jittable, vmappable."""

from collections.abc import Callable
from typing import Any

from closedform.basics.optional import require
from closedform.expressions.evaluate import Library, value
from closedform.expressions.expression import Expression


def to_jax(expression: Expression) -> Callable[[Any], Any]:
    """A function from an array (..., n_inputs) to its values (...)."""
    jnp = require("jax.numpy", extra="jax")
    library = jax_library()

    def function(points: Any) -> Any:
        points = jnp.asarray(points)
        result = value(
            expression.tree,
            [points[..., column] for column in range(len(expression.names))],
            library,
        )
        return jnp.broadcast_to(jnp.asarray(result, dtype=points.dtype), points.shape[:-1])

    function.__doc__ = f"{expression} of ({', '.join(expression.names)})."
    return function


def jax_library() -> Library:
    """JAX's functions, with Python's numbers."""
    jnp = require("jax.numpy", extra="jax")
    return Library(
        "jax", jnp, lambda exact: exact.numerator / exact.denominator, {"choose": jnp.where}
    )
