"""JAX, for whoever works with it: imported, or an error that says how to install it."""

from typing import TYPE_CHECKING

from closedform.basics.optional import require

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
else:
    jax, jnp = (require(name, extra="jax") for name in ("jax", "jax.numpy"))

__all__ = ["jax", "jnp"]
