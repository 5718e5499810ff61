"""The sweeps over one tape, written from the operator table and compiled by numba.

For every operator that the table puts into the kernel a sweep has one branch with the table's own
formula. All others, such as those that users define, go through one last branch to NumPy
(`numpy_callback.py`): they need no compilation. The text is compiled under this file's name, so
that numba finds a place on disk for the machine code.

All of them work on one block of points: arrays with a row for each node (``values``, ``adjoints``)
or input and a column for each of BLOCK points, of which the first ``n`` count.

They are called by their address. A compiled function that calls another takes a copy of it and
optimises that again; with six callers of four long sweeps, that would be most of the compilation
before the first search.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from textwrap import indent
from typing import Any

from numba import njit, types

from closedform.basics.compiled import compiled_pointer, fingerprint
from closedform.expressions.evaluate import Library
from closedform.expressions.numpy_callback import Kind, link
from closedform.expressions.operators import CODES, OPERATORS, Operator

BLOCK = 256
"""Points in a block: the values of a tree of 30 nodes take 60 KB, and so stay in the processor's
cache."""


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


_COMPILED = Library(
    "compiled",
    math,
    float,
    {"absolute": abs, "sign": _sign, "power": _power, "choose": _choose, "times": _times},
)

OUTSIDE_SYMBOL = f"closedform_outside_{fingerprint()}"
_OUTSIDE = types.ExternalFunction(
    OUTSIDE_SYMBOL, types.void(*(types.int64,) * 6, *(types.CPointer(types.float64),) * 4)
)

_FORWARD = """
def forward(codes, first, second, inputs, numbers, start, length, points, n, values):
    for i in range(length):
        j = start + i
        code = codes[j]
        v_at = i * BLOCK
        if code == 0:
            number = numbers[j]
            for k in range(n):
                values[v_at + k] = number
        elif code == 1:
            number = numbers[j]
            x_at = inputs[j] * BLOCK
            for k in range(n):
                values[v_at + k] = number * points[x_at + k]
"""

_BACKWARD = """
def backward(
    codes, first, second, inputs, numbers, start, length, n, n_inputs, values, adjoints, gradient
):
    for column in range(n_inputs):
        for k in range(n):
            gradient[column * BLOCK + k] = 0.0
    for k in range(n):
        adjoints[(length - 1) * BLOCK + k] = 1.0
    for i in range(length - 1, -1, -1):
        j = start + i
        code = codes[j]
        s_at = v_at = i * BLOCK
        if code == 0:
            continue
        elif code == 1:
            number = numbers[j]
            g_at = inputs[j] * BLOCK
            for k in range(n):
                gradient[g_at + k] += number * adjoints[s_at + k]
"""

_TANGENT_FORWARD = """
def tangent_forward(
    codes, first, second, inputs, numbers, start, length, points, n, which, values, changes
):
    for i in range(length):
        j = start + i
        code = codes[j]
        v_at = dv_at = i * BLOCK
        if code == 0:
            number = 1.0 if i == which else 0.0
            for k in range(n):
                changes[dv_at + k] = number
        elif code == 1:
            number = 1.0 if i == which else 0.0
            x_at = inputs[j] * BLOCK
            for k in range(n):
                changes[dv_at + k] = number * points[x_at + k]
"""

_TANGENT_BACKWARD = """
def tangent_backward(
    codes, first, second, inputs, numbers, start, length, n, n_inputs, which,
    values, adjoints, changes, adjoint_changes, out
):
    for column in range(n_inputs):
        for k in range(n):
            out[column * BLOCK + k] = 0.0
    for k in range(n):
        adjoint_changes[(length - 1) * BLOCK + k] = 0.0
    for i in range(length - 1, -1, -1):
        j = start + i
        code = codes[j]
        v_at = s_at = dv_at = ds_at = i * BLOCK
        if code == 0:
            continue
        elif code == 1:
            number = numbers[j]
            own = 1.0 if i == which else 0.0
            g_at = inputs[j] * BLOCK
            for k in range(n):
                out[g_at + k] += number * adjoint_changes[ds_at + k] + own * adjoints[s_at + k]
"""


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a point's scalar comes from or goes to: an array, and the node that means its row."""

    array: str
    node: str


def _written(
    header: str,
    rows: dict[str, _Slot],
    kind: Kind,
    statements: Callable[[Operator], list[tuple[str, str]]],
) -> str:
    """The text of a sweep: its header, one branch for each operator of the kernel, and one for all
    others.

    ``rows`` says what the names in formulas mean: ``{"a": _Slot("values", "first[j]")}`` makes
    ``a`` available. A statement is the name of the place that is written to, and a formula.
    """
    parts = [header]
    for operator in (operator for operator in OPERATORS.values() if operator.in_kernel):
        body = statements(operator)
        words = set(re.findall(r"[a-z_]+", " ".join(formula for _, formula in body)))
        # What is not used is not loaded: the compiler would find out too, after seconds of looking
        # at it.
        loaded = {name: row for name, row in rows.items() if name in words}
        touched = loaded | {target: rows[target] for target, _ in body}
        branch = [
            f"{name}_at = {row.node} * BLOCK" for name, row in touched.items() if row.node != "i"
        ]
        branch.append("for k in range(n):")
        branch += [f"    {name} = {row.array}[{name}_at + k]" for name, row in loaded.items()]
        branch += [
            f"    {rows[target].array}[{target}_at + k] = {formula}" for target, formula in body
        ]
        text = f"elif code == {CODES[operator.name]}:\n" + indent("\n".join(branch), "    ")
        parts.append(indent(text, " " * 8) + "\n")
    used = {row.array for row in rows.values()}
    every = ("values", "adjoints", "changes", "adjoint_changes")
    arrays = ", ".join(array if array in used else "values" for array in every)
    places = "first[j] * BLOCK, second[j] * BLOCK, i * BLOCK"
    call = f"outside({kind.value}, code, {places}, n, {arrays})"
    parts.append(indent(f"else:\n    {call}\n", " " * 8))
    return "".join(parts)


def _adjoints(operator: Operator) -> list[tuple[str, str]]:
    return [
        (target, f"s * ({slope})")
        for target, slope in zip("pq", operator.slope_forms, strict=False)
    ]


def _changes(operator: Operator) -> list[tuple[str, str]]:
    terms = [
        f"times({slope}, {change})"
        for slope, change in zip(operator.slope_forms, ("da", "db"), strict=False)
    ]
    return [("dv", " + ".join(terms))]


def _adjoint_changes(operator: Operator) -> list[tuple[str, str]]:
    statements = []
    for target, slope, bend in zip("pq", operator.slope_forms, operator.bend_forms, strict=False):
        bending = "" if bend == "0.0" else f" + s * ({bend})"
        statements.append((target, f"ds * ({slope}){bending}"))
    return statements


def _rows(array: str, *names: str) -> dict[str, _Slot]:
    """What the operands and the operator itself are called in an array."""
    nodes = ("first[j]", "second[j]", "i")
    return {name: _Slot(array, node) for name, node in zip(names, nodes, strict=True)}


_VALUES, _CHANGES = _rows("values", "a", "b", "v"), _rows("changes", "da", "db", "dv")
_ADJOINTS = _rows("adjoints", "p", "q", "s")
_ADJOINT_CHANGES = _rows("adjoint_changes", "p", "q", "ds")

_TEXTS = {
    "forward": _written(
        _FORWARD, _VALUES, Kind.VALUES, lambda operator: [("v", str(operator.value))]
    ),
    "backward": _written(_BACKWARD, _VALUES | _ADJOINTS, Kind.ADJOINTS, _adjoints),
    "tangent_forward": _written(_TANGENT_FORWARD, _VALUES | _CHANGES, Kind.CHANGES, _changes),
    "tangent_backward": _written(
        _TANGENT_BACKWARD,
        _VALUES | _CHANGES | _ADJOINTS | _ADJOINT_CHANGES,
        Kind.ADJOINT_CHANGES,
        _adjoint_changes,
    ),
}

_TYPES: dict[str, Any] = (
    dict.fromkeys(("start", "length", "n", "n_inputs", "which"), types.int64)
    | dict.fromkeys(("first", "second", "inputs"), types.CPointer(types.int32))
    | {"codes": types.CPointer(types.int16)}
)
"""Types of the arguments; all others are arrays of floats."""


def _signature(name: str) -> Any:
    arguments = re.search(r"\(([^)]*)\)", _TEXTS[name])
    names = [] if arguments is None else [word.strip() for word in arguments[1].split(",")]
    return types.void(*(_TYPES.get(word, types.CPointer(types.float64)) for word in names))


@cache
def _machine_code(name: str) -> Any:
    link(OUTSIDE_SYMBOL)
    words = set(re.findall(r"[a-z_]\w*(?=\()", _TEXTS[name])) - {name, "range", "outside"}
    namespace = {word: _COMPILED.function(word) for word in words}
    namespace |= {"BLOCK": BLOCK, "__name__": __name__, "outside": _OUTSIDE, "pi": math.pi}
    # numba reads the lines of this file where the code says that it stands: from Python 3.13 on, a
    # place inside a string is an error.
    above = "\n" * (_machine_code.__wrapped__.__code__.co_firstlineno - 1)
    exec(compile(above + _TEXTS[name], __file__, "exec"), namespace)
    return compiled_pointer(namespace[name], _signature(name), _symbol(name))


def _symbol(name: str) -> str:
    return f"closedform_{name}_{fingerprint()}"


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
