"""The sweeps over one tape, compiled by numba; the operator table's formulas become machine code
without it.

For every operator that the table puts into the kernel a sweep has one branch with the table's own
formula (`formula_code.py`). All others, such as those that users define, go through one last branch
to NumPy (`numpy_callback.py`): they need no compilation.

All of them work on one block of points: arrays with a row for each node (``values``, ``adjoints``)
or input and a column for each of BLOCK points, of which the first ``n`` count.

They are called by their address. A compiled function that calls another takes a copy of it and
optimises that again; with six callers of four long sweeps, that would be most of the compilation
before the first search.
"""

import inspect
from functools import cache
from typing import Any

from numba import types

from closedform.basics.compiled import compiled_pointer, fingerprint
from closedform.expressions.formula_code import BLOCK, OUTSIDE_SYMBOL, operator_branches
from closedform.expressions.numpy_callback import Kind, link
from closedform.expressions.operators import Operator
from closedform.expressions.tape import CONSTANT_CODE, VARIABLE_CODE

__all__ = ["BLOCK", "backward", "forward", "load_sweeps", "tangent_backward", "tangent_forward"]


def _adjoints(operator: Operator) -> list[tuple[str, str]]:
    slopes = zip("pq", operator.slope_forms, strict=False)
    return [(target, f"s * ({slope})") for target, slope in slopes]


def _changes(operator: Operator) -> list[tuple[str, str]]:
    pairs = zip(operator.slope_forms, ("da", "db"), strict=False)
    return [("dv", " + ".join(f"times({slope}, {change})" for slope, change in pairs))]


def _adjoint_changes(operator: Operator) -> list[tuple[str, str]]:
    statements = []
    for target, slope, bend in zip("pq", operator.slope_forms, operator.bend_forms, strict=False):
        bending = "" if bend == "0.0" else f" + s * ({bend})"
        statements.append((target, f"ds * ({slope}){bending}"))
    return statements


def _rows(array: str, *names: str) -> dict[str, tuple[str, int]]:
    """The array of each name, and whether its row is the first operand's, the second's or the
    operator's own.
    """
    return {name: (array, place) for place, name in enumerate(names)}


_VALUES, _CHANGES = _rows("values", "a", "b", "v"), _rows("changes", "da", "db", "dv")
_ADJOINTS = _rows("adjoints", "p", "q", "s")
_ADJOINT_CHANGES = _rows("adjoint_changes", "p", "q", "ds")

_fill_values = operator_branches(
    Kind.VALUES, _VALUES, lambda operator: [("v", str(operator.value))]
)
_fill_adjoints = operator_branches(Kind.ADJOINTS, _VALUES | _ADJOINTS, _adjoints)
_fill_changes = operator_branches(Kind.CHANGES, _VALUES | _CHANGES, _changes)
_fill_adjoint_changes = operator_branches(
    Kind.ADJOINT_CHANGES, _VALUES | _CHANGES | _ADJOINTS | _ADJOINT_CHANGES, _adjoint_changes
)


def _forward(codes, first, second, inputs, numbers, start, length, points, n, values):
    for i in range(length):
        j = start + i
        at = i * BLOCK
        number = numbers[j]
        if codes[j] == CONSTANT_CODE:
            for k in range(n):
                values[at + k] = number
        elif codes[j] == VARIABLE_CODE:
            x_at = inputs[j] * BLOCK
            for k in range(n):
                values[at + k] = number * points[x_at + k]
        else:
            _fill_values(codes[j], first[j], second[j], i, n, values, values, values, values)


def _backward(
    codes, first, second, inputs, numbers, start, length, n, n_inputs, values, adjoints, gradient
):
    for place in range(n_inputs * BLOCK):
        gradient[place] = 0.0
    for k in range(n):
        adjoints[(length - 1) * BLOCK + k] = 1.0
    for i in range(length - 1, -1, -1):
        j = start + i
        if codes[j] == VARIABLE_CODE:
            number = numbers[j]
            g_at = inputs[j] * BLOCK
            for k in range(n):
                gradient[g_at + k] += number * adjoints[i * BLOCK + k]
        elif codes[j] != CONSTANT_CODE:
            _fill_adjoints(codes[j], first[j], second[j], i, n, values, adjoints, values, values)


def _tangent_forward(
    codes, first, second, inputs, numbers, start, length, points, n, which, values, changes
):
    for i in range(length):
        j = start + i
        at = i * BLOCK
        number = 1.0 if i == which else 0.0
        if codes[j] == CONSTANT_CODE:
            for k in range(n):
                changes[at + k] = number
        elif codes[j] == VARIABLE_CODE:
            x_at = inputs[j] * BLOCK
            for k in range(n):
                changes[at + k] = number * points[x_at + k]
        else:
            _fill_changes(codes[j], first[j], second[j], i, n, values, values, changes, values)


def _tangent_backward(
    codes, first, second, inputs, numbers, start, length, n, n_inputs, which,
    values, adjoints, changes, adjoint_changes, out,
):  # fmt: skip
    for place in range(n_inputs * BLOCK):
        out[place] = 0.0
    for k in range(n):
        adjoint_changes[(length - 1) * BLOCK + k] = 0.0
    for i in range(length - 1, -1, -1):
        j = start + i
        if codes[j] == VARIABLE_CODE:
            number = numbers[j]
            own = 1.0 if i == which else 0.0
            at = i * BLOCK
            g_at = inputs[j] * BLOCK
            for k in range(n):
                out[g_at + k] += number * adjoint_changes[at + k] + own * adjoints[at + k]
        elif codes[j] != CONSTANT_CODE:
            _fill_adjoint_changes(
                codes[j], first[j], second[j], i, n, values, adjoints, changes, adjoint_changes
            )


_SWEEPS = {
    "forward": _forward,
    "backward": _backward,
    "tangent_forward": _tangent_forward,
    "tangent_backward": _tangent_backward,
}

_TYPES: dict[str, Any] = (
    dict.fromkeys(("start", "length", "n", "n_inputs", "which"), types.int64)
    | dict.fromkeys(("first", "second", "inputs"), types.CPointer(types.int32))
    | {"codes": types.CPointer(types.int16)}
)
"""Types of the arguments; all others are arrays of floats."""


def _signature(name: str) -> Any:
    names = inspect.signature(_SWEEPS[name]).parameters
    return types.void(*(_TYPES.get(word, types.CPointer(types.float64)) for word in names))


def _symbol(name: str) -> str:
    return f"closedform_{name}_{fingerprint()}"


@cache
def _machine_code(name: str) -> Any:
    link(OUTSIDE_SYMBOL)
    return compiled_pointer(_SWEEPS[name], _signature(name), _symbol(name))


def load_sweeps(*names: str) -> None:
    """Compile sweeps, or load them from disk, before a compiled function uses them."""
    for name in names:
        _machine_code(name)


forward = types.ExternalFunction(_symbol("forward"), _signature("forward"))
"""Fill ``values`` from the leaves up."""

backward = types.ExternalFunction(_symbol("backward"), _signature("backward"))
"""Fill ``adjoints`` from the root down, and the input ``gradient``."""

tangent_forward = types.ExternalFunction(_symbol("tangent_forward"), _signature("tangent_forward"))
"""How every value changes with the constant (or weight) of node ``which``."""

tangent_backward = types.ExternalFunction(
    _symbol("tangent_backward"), _signature("tangent_backward")
)
"""How the input gradient changes with that constant: ``out``, after the three other sweeps."""
