"""Gradients of JAX functions and of Flax and Equinox networks, by automatic differentiation of one
point mapped over all.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.errors import ExtractionError, NeuronError
from closedform.networks.jax_activation import unsquashed
from closedform.networks.jax_layers import listen
from closedform.networks.jax_library import jax, jnp
from closedform.networks.neuron import Neuron
from closedform.networks.options import Options
from closedform.networks.picking import call_of, entry_of, pick, unsquashed_note
from closedform.networks.rows import Key, Rows
from closedform.networks.samples import Source, T
from closedform.networks.wrt import arguments, as_inputs, fill, transformed


class JaxSource(Source):
    """A JAX function or module, or a tuple of a Flax module and its variables.

    Examples
    --------
    >>> source = JaxSource(lambda x: x[0] ** 2, Rows({0: np.ones((4, 2))}), (Neuron(),), Options())
    >>> source.evaluate(source.points).jacobians[0].tolist()
    [[2.0, 0.0]]
    """

    def __init__(
        self, model: Any, rows: Rows, neurons: tuple[Neuron, ...], options: Options
    ) -> None:
        super().__init__(model, rows.as_arrays(), neurons, options)
        self._listening, batched = listen(model, neurons)
        self._batched = options.batched if options.batched is not None else batched
        self._double = options.precision != "native"
        self._prepare()

    def _passes(self, points: FloatArray, run: Callable[..., T], size: int = 0) -> list[T]:
        with _precision(self._double):
            self._gradients = jax.jit(jax.vmap(jax.jacrev(self._latents, has_aux=True)))
            return super()._passes(points, run, size)

    def _differentiate(
        self, points: FloatArray, places: np.ndarray
    ) -> tuple[FloatArray, FloatArray]:
        gradients, values = self._gradients(self._as_jax(points[places]), self._context(places))
        return np.asarray(values, dtype=np.float64), np.asarray(gradients, dtype=np.float64)

    def _prepare(self) -> None:
        """Find out on one point how the network is called, and in which precision it runs."""
        if self._batched is None:
            with _precision(self._double):
                self._batched = self._takes_many()
        try:
            self._try_one()
        except NeuronError:
            raise
        except Exception as error:  # the user's network may raise anything
            if not self._double or self._options.precision == "double":
                raise
            self._double = False
            self._try_one()
            self._note_own_precision(error)

    def _try_one(self) -> None:
        with _precision(self._double):
            row = {key: part[0] for key, part in self._context(np.arange(1)).items()}
            # Traced and not run: shapes and types are all that is wanted, and nothing is compiled
            # for them.
            values, _ = jax.eval_shape(self._latents, self._as_jax(self.points[0]), row)
            if not jnp.issubdtype(values.dtype, jnp.floating):
                raise ExtractionError(
                    f"The neurons have values of type {values.dtype}, which have no gradient."
                )

    def _takes_many(self) -> bool:
        """Whether a function takes many points, tried with another number than that of inputs."""
        count = 2 if self.points.shape[1] != 2 else 3
        places = np.arange(count) % len(self.points)
        parts = fill(self._context(places), self._as_jax(self.points[places]), self._blocks, _write)

        def output(parts: dict[Key, Any]) -> Any:
            given = transformed(self._options.transform, parts) | self._fixed(count)
            positional, named = arguments(given)
            return self._listening(*positional, **named)[0]

        try:
            first = jax.tree_util.tree_leaves(jax.eval_shape(output, parts))[0]
        except Exception:  # a function of one point may raise anything here
            return False
        return first.shape[:1] == (count,)

    def _as_jax(self, points: FloatArray) -> Any:
        return jnp.asarray(points, dtype=jnp.float64 if self._double else jnp.float32)

    def _context(self, places: np.ndarray) -> dict[Key, Any]:
        """The inputs at these points; real numbers in the type in which the network runs."""
        real = jnp.float64 if self._double else jnp.float32
        parts = {key: part[places] for key, part in self._rows.parts.items()}
        return {
            key: jnp.asarray(part, dtype=real if part.dtype.kind == "f" else None)
            for key, part in parts.items()
        }

    def _latents(self, point: Any, context: dict[Key, Any]) -> tuple[Any, Any]:
        """All latents at one point, twice: once to differentiate and once to keep."""
        values, names = unsquashed(self._values, point, context)
        for neuron, name in zip(self._neurons, names, strict=True):
            if name is not None:
                self._note(unsquashed_note(neuron, name))
        joined = jnp.concatenate([jnp.ravel(value) for value in values])
        return joined, joined

    def _values(self, point: Any, context: dict[Key, Any]) -> list[Any]:
        """The values of each neuron at one point."""
        parts = fill(
            {key: part[None] for key, part in context.items()}, point[None], self._blocks, _write
        )
        if not self._batched:
            parts = {key: part[0] for key, part in parts.items()}
        given = transformed(self._options.transform, parts) | self._fixed(1)
        positional, named = arguments(given)
        outputs: Any = None
        layers: dict[str, list[Any]] = {}
        if any(not neuron.whole_model for neuron in self._neurons):
            outputs, layers = self._listening(*positional, **named)
        values = []
        for neuron in self._neurons:
            if neuron.whole_model and neuron.function is not None:
                values.append(neuron.function(self._model, as_inputs(given)))
                continue
            output = outputs
            if neuron.layer in layers:
                output, sentence = call_of(neuron, layers[neuron.layer])
                self._note(sentence)
            values.append(self._taken(neuron, output))
        return values

    def _taken(self, neuron: Neuron, output: Any) -> Any:
        array, sentence = entry_of(neuron, output)
        self._note(sentence)
        return pick(
            neuron,
            array if self._batched else array[None],
            lambda direction, like: jnp.asarray(direction, like.dtype),
        )


def _precision(double: bool) -> AbstractContextManager[Any]:
    # The experimental form is the older one, and warns where the newer exists.
    enable = (
        jax.enable_x64
        if hasattr(jax, "enable_x64")
        else require("jax.experimental", extra="jax").enable_x64
    )
    return enable(double)


def _write(part: Any, index: tuple[Any, ...], values: Any) -> Any:
    return part.at[index].set(values)
