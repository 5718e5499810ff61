"""The sweeps over one tape, written from the operator table and compiled by numba.

For every operator a sweep has one branch with the table's own formula. The text is compiled under this file's name, so that
numba finds a place on disk for the machine code.

All of them work on one block of points: arrays with a row for each node (``values``, ``adjoints``) or input and a column for
each point, of which the first ``n`` count.
"""

import math
from collections.abc import Callable
from textwrap import indent
from typing import Any

from numba import njit

from closedform.compiled import compiled
from closedform.expressions.operators import OPERATORS, Operator
from closedform.expressions.tape import CODES


@njit
def _choose(condition: bool, first: float, second: float) -> float:
    return first if condition else second


@njit
def _times(factor: float, change: float) -> float:
    """A product in which no change stays no change, also where the factor is not a number."""
    return factor * change if change != 0.0 else 0.0


@njit
def _power(base: float, exponent: float) -> float:
    return base**exponent


@njit
def _sign(number: float) -> float:
    return math.copysign(1.0, number) if number != 0.0 else 0.0


_NAMESPACE: dict[str, Any] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "log": math.log, "tanh": math.tanh, "cosh": math.cosh,
    "atan": math.atan, "sqrt": math.sqrt, "absolute": abs, "sign": _sign, "power": _power, "choose": _choose, "times": _times,
}  # fmt: skip

_FORWARD = """
def forward(codes, first, second, inputs, numbers, start, length, points, n, values):
    for i in range(length):
        j = start + i
        code = codes[j]
        v_row = values[i]
        if code == 0:
            number = numbers[j]
            for k in range(n):
                v_row[k] = number
        elif code == 1:
            number = numbers[j]
            x_row = points[inputs[j]]
            for k in range(n):
                v_row[k] = number * x_row[k]
"""

_BACKWARD = """
def backward(codes, first, second, inputs, numbers, start, length, n, values, adjoints, gradient):
    for column in range(gradient.shape[0]):
        g_row = gradient[column]
        for k in range(n):
            g_row[k] = 0.0
    s_row = adjoints[length - 1]
    for k in range(n):
        s_row[k] = 1.0
    for i in range(length - 1, -1, -1):
        j = start + i
        code = codes[j]
        s_row = adjoints[i]
        v_row = values[i]
        if code == 0:
            continue
        elif code == 1:
            number = numbers[j]
            g_row = gradient[inputs[j]]
            for k in range(n):
                g_row[k] += number * s_row[k]
"""

_TANGENT_FORWARD = """
def tangent_forward(codes, first, second, inputs, start, length, points, n, which, values, changes):
    for i in range(length):
        j = start + i
        code = codes[j]
        v_row = values[i]
        dv_row = changes[i]
        if code == 0:
            number = 1.0 if i == which else 0.0
            for k in range(n):
                dv_row[k] = number
        elif code == 1:
            number = 1.0 if i == which else 0.0
            x_row = points[inputs[j]]
            for k in range(n):
                dv_row[k] = number * x_row[k]
"""

_TANGENT_BACKWARD = """
def tangent_backward(codes, first, second, inputs, numbers, start, length, n, which, values, adjoints, changes, adjoint_changes, out):
    for column in range(out.shape[0]):
        g_row = out[column]
        for k in range(n):
            g_row[k] = 0.0
    ds_row = adjoint_changes[length - 1]
    for k in range(n):
        ds_row[k] = 0.0
    for i in range(length - 1, -1, -1):
        j = start + i
        code = codes[j]
        s_row = adjoints[i]
        ds_row = adjoint_changes[i]
        v_row = values[i]
        dv_row = changes[i]
        if code == 0:
            continue
        elif code == 1:
            number = numbers[j]
            own = 1.0 if i == which else 0.0
            g_row = out[inputs[j]]
            for k in range(n):
                g_row[k] += number * ds_row[k] + own * s_row[k]
"""  # noqa: E501


def _compiled(header: str, rows: dict[str, str], statements: Callable[[Operator], list[str]]) -> Any:
    """Append one branch for each operator, then compile.

    ``rows`` names the arrays that a point's scalars come from: ``{"a": "values[first[j]]"}`` makes ``a`` available.
    """
    parts = [header]
    for operator in OPERATORS.values():
        used = {name: row for name, row in rows.items() if operator.arity == 2 or "second" not in row}
        branch = [f"{name}_row = {row}" for name, row in used.items()]
        branch.append("for k in range(n):")
        branch += [f"    {name} = {name}_row[k]" for name in used]
        branch += [f"    {statement}" for statement in statements(operator)]
        parts.append(indent(f"elif code == {CODES[operator.name]}:\n" + indent("\n".join(branch), "    "), " " * 8) + "\n")
    name = header.split("(")[0].split()[-1]
    namespace = dict(_NAMESPACE, __name__=__name__)
    exec(compile("".join(parts), __file__, "exec"), namespace)
    return compiled(namespace[name])


def _adjoint_statements(operator: Operator) -> list[str]:
    return [f"{target}_row[k] = s * ({slope})" for target, slope in zip("pq", operator.slopes, strict=False)]


def _change_statements(operator: Operator) -> list[str]:
    terms = [f"times({slope}, {change})" for slope, change in zip(operator.slopes, ("da", "db"), strict=False)]
    return [f"dv_row[k] = {' + '.join(terms)}"]


def _adjoint_change_statements(operator: Operator) -> list[str]:
    statements = []
    for target, slope, bend in zip("pq", operator.slopes, operator.bends, strict=False):
        bending = "" if bend == "0.0" else f" + s * ({bend})"
        statements.append(f"{target}_row[k] = ds * ({slope}){bending}")
    return statements


_OPERANDS = {"a": "values[first[j]]", "b": "values[second[j]]"}
_OPERAND_CHANGES = {"da": "changes[first[j]]", "db": "changes[second[j]]"}
_OWN = {"v": "v_row", "s": "s_row"}

forward = _compiled(_FORWARD, _OPERANDS, lambda operator: [f"v_row[k] = {operator.value}"])
"""Fill ``values`` from the leaves up."""

backward = _compiled(
    _BACKWARD,
    _OPERANDS | _OWN | {"p": "adjoints[first[j]]", "q": "adjoints[second[j]]"},
    _adjoint_statements,
)
"""Fill ``adjoints`` from the root down, and the input ``gradient``."""

tangent_forward = _compiled(_TANGENT_FORWARD, _OPERANDS | {"v": "v_row"} | _OPERAND_CHANGES, _change_statements)
"""How every value changes with the constant (or weight) of node ``which``."""

tangent_backward = _compiled(
    _TANGENT_BACKWARD,
    _OPERANDS
    | _OPERAND_CHANGES
    | _OWN
    | {"dv": "dv_row", "ds": "ds_row", "p": "adjoint_changes[first[j]]", "q": "adjoint_changes[second[j]]"},
    _adjoint_change_statements,
)
"""How the input gradient changes with that constant: ``out``, after the three other sweeps."""
