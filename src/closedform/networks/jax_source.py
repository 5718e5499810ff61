"""Gradients of JAX functions and of Flax and Equinox networks, by automatic differentiation of one
point mapped over all.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.errors import ExtractionError, NeuronError
from closedform.networks.jax_layers import jax, jnp, listen
from closedform.networks.neuron import Neuron
from closedform.networks.options import Options, arguments, as_inputs, fill, transformed
from closedform.networks.picking import call_of, entry_of, pick, unsquashed_note
from closedform.networks.rows import Key, Rows
from closedform.networks.samples import Source, T


class JaxSource(Source):
    """A JAX function or module, or a tuple of a Flax module and its variables."""

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


SQUASHING = {"logistic": "sigmoid", "tanh": "tanh"}
"""Primitives, and what to call them."""

_KEEPING = (
    "reshape",
    "broadcast_in_dim",
    "expand_dims",
    "copy",
    "convert_element_type",
    "stop_gradient",
)
_RESHAPING = frozenset(
    (*_KEEPING, "squeeze", "slice", "transpose", "dynamic_slice", "gather", "rev", "copy_p")
)
_INLINED = frozenset(("jit", "pjit", "closed_call", "core_call", "remat", "checkpoint"))
_WIDENING = frozenset(_KEEPING)


@dataclass(frozen=True, slots=True, eq=False)
class JaxPreactivation:
    """What stands before a squashing function: its name, and how to get the value."""

    name: str
    value: Callable[[], Any]


def unsquashed(
    function: Callable[..., list[Any]], *inputs: Any
) -> tuple[list[Any], list[str | None]]:
    """Evaluate a function that returns a list of arrays, and take the value before a squashing
    function that is the last step; with the name of what was undone for each.
    """
    closed = jax.make_jaxpr(function)(*inputs)
    flat = jax.tree_util.tree_leaves(inputs)
    values, before = _run(closed.jaxpr, closed.consts, flat, [None] * len(flat))
    taken = [
        value if entry is None else entry.value()
        for value, entry in zip(values, before, strict=True)
    ]
    return taken, [None if entry is None else entry.name for entry in before]


def log_odds(scores: Any, axis: int) -> Any:
    """Each score minus the logsumexp of the others, along an axis, without cancellation."""
    numpy = jax.numpy
    shares = jax.nn.log_softmax(scores, axis)
    places = numpy.arange(scores.shape[axis]).reshape(
        [-1 if place == axis else 1 for place in range(scores.ndim)]
    )
    top = places == numpy.argmax(scores, axis=axis, keepdims=True)
    # As for torch: the logsumexp of the others is needed for the largest share only, and the
    # placeholder keeps nan out.
    small = numpy.where(top, -1.0, shares)
    others = jax.nn.logsumexp(numpy.where(top, -numpy.inf, scores), axis=axis, keepdims=True)
    return numpy.where(top, scores - others, small - numpy.log1p(-numpy.exp(small)))


def _run(
    jaxpr: Any, consts: Any, inputs: list[Any], before: list[JaxPreactivation | None]
) -> tuple[list[Any], list[JaxPreactivation | None]]:
    """Evaluate step by step, also inside jitted parts, and note what stands before squashing."""
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True)) | dict(
        zip(jaxpr.invars, inputs, strict=True)
    )
    earlier: dict[Any, JaxPreactivation | None] = dict(zip(jaxpr.invars, before, strict=True))
    made: dict[Any, Any] = {}

    def read(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else values[atom]

    def known(atom: Any) -> JaxPreactivation | None:
        return None if hasattr(atom, "val") else earlier.get(atom)

    for equation in jaxpr.eqns:
        arguments = [read(atom) for atom in equation.invars]
        name = equation.primitive.name
        if name in _INLINED and "jaxpr" in equation.params:
            inner = equation.params["jaxpr"]
            body, constants = (
                (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())
            )
            results, found = _run(
                body, constants, arguments, [known(atom) for atom in equation.invars]
            )
        else:
            results = _bind(equation, arguments)
            found = [_before(equation, arguments, known, made, values)] + [None] * (
                len(results) - 1
            )
        for variable, result, entry in zip(equation.outvars, results, found, strict=True):
            values[variable], earlier[variable], made[variable] = result, entry, equation
    return [read(atom) for atom in jaxpr.outvars], [known(atom) for atom in jaxpr.outvars]


def _bind(equation: Any, arguments: list[Any]) -> list[Any]:
    bound = equation.primitive.get_bind_params(equation.params)
    # Older versions of JAX return the functions of a call with its parameters.
    functions, parameters = bound if isinstance(bound, tuple) else ((), bound)
    result = equation.primitive.bind(*functions, *arguments, **parameters)
    return list(result) if equation.primitive.multiple_results else [result]


def _before(
    equation: Any,
    arguments: list[Any],
    known: Callable[[Any], JaxPreactivation | None],
    made: dict[Any, Any],
    values: dict[Any, Any],
) -> JaxPreactivation | None:
    name = equation.primitive.name
    if name in SQUASHING:
        return JaxPreactivation(SQUASHING[name], lambda: arguments[0])
    if name in _RESHAPING and arguments:
        inner = known(equation.invars[0])
        if inner is None:
            return None
        return JaxPreactivation(
            inner.name,
            lambda: equation.primitive.bind(inner.value(), *arguments[1:], **equation.params),
        )
    return _softmax(equation, made, values)


def _softmax(
    equation: Any, made: dict[Any, Any], values: dict[Any, Any]
) -> JaxPreactivation | None:
    """Recognise exp(z) / sum(exp(z)), and z - log(sum(exp(z)))."""

    def maker(atom: Any, primitive: str, through: frozenset[str] = frozenset()) -> Any | None:
        while not hasattr(atom, "val") and atom in made and made[atom].primitive.name in through:
            atom = made[atom].invars[0]
        found = None if hasattr(atom, "val") else made.get(atom)
        return found if found is not None and found.primitive.name == primitive else None

    name = equation.primitive.name
    if name == "div":
        exponential = maker(equation.invars[0], "exp")
        total = maker(equation.invars[1], "reduce_sum", _WIDENING)
    elif name == "sub":
        logarithm = maker(equation.invars[1], "log", _WIDENING)
        total = (
            maker(logarithm.invars[0], "reduce_sum", _WIDENING) if logarithm is not None else None
        )
        exponential = maker(total.invars[0], "exp") if total is not None else None
    else:
        return None
    if exponential is None or total is None or total.invars[0] is not exponential.outvars[0]:
        return None
    scores, axes = exponential.invars[0], total.params["axes"]
    if name == "sub" and scores is not equation.invars[0]:
        return None
    if len(axes) != 1 or hasattr(scores, "val") or values[scores].shape[axes[0]] < 2:
        return None
    return JaxPreactivation(
        "softmax" if name == "div" else "log-softmax", lambda: log_odds(values[scores], axes[0])
    )
