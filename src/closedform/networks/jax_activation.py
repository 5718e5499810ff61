"""The value before a sigmoid, tanh or softmax in a JAX function: found in its jaxpr, where every
primitive step is listed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from closedform.networks.jax_library import jax

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
    """Evaluate a function that returns a list of arrays; where a squashing function is the last
    step, take the value before it.

    Returns the values, and the squashing function that was undone for each of them.
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
