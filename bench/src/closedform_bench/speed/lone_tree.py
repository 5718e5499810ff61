"""One tree written out as a loop of its own and compiled: what the kernel would be if it knew its
tree.
"""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from closedform.arrays import FloatArray
from closedform.expressions.operators import BY_CODE
from closedform.expressions.tape import CONSTANT_CODE, VARIABLE_CODE, TapeBatch
from closedform_bench.speed.rates import LOOP

Judge = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], float]
"""From points and directions, shape (n_inputs, n_points), weights, and room for as many numbers, to
the misalignment.
"""


def lone_text(tape: TapeBatch, n_inputs: int) -> str:
    """The loop as Python.

    Parameters
    ----------
    tape : TapeBatch
        Of one tree.
    n_inputs : int

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> from closedform.expressions.tape import compile_tapes
    >>> print(lone_text(compile_tapes([parse("x*sin(y)").tree]), 2))
    def judge(points, directions, weights, lost):
        for k in range(points.shape[1]):
            v0 = 1.0 * points[0, k]
            v1 = 1.0 * points[1, k]
            v2 = sin(v1)
            v3 = v0 * v2
            s3 = 1.0
            s0 = s3 * (v2)
            s2 = s3 * (v0)
            s1 = s2 * (cos(v1))
            g0 = 0.0 + 1.0 * s0
            g1 = 0.0 + 1.0 * s1
            length = 0.0 + g0 * g0 + g1 * g1
            along = 0.0 + g0 * directions[0, k] + g1 * directions[1, k]
            share = along * along / length
            fine = (length > 0.0) & (length < inf) & (v3 - v3 == 0.0)
            inside = 1.0 - share if share < 1.0 else 0.0
            lost[k] = weights[k] * (inside if fine else 1.0)
        return total(lost)
    """
    lines: list[str] = []
    back: list[str] = []
    gradient = [["0.0"] for _ in range(n_inputs)]
    last = len(tape.codes) - 1
    for i, code in enumerate(tape.codes.tolist()):
        number = repr(float(tape.numbers[i]))
        if code == CONSTANT_CODE:
            lines.append(f"v{i} = {number}")
        elif code == VARIABLE_CODE:
            lines.append(f"v{i} = {number} * points[{tape.inputs[i]}, k]")
            gradient[tape.inputs[i]].append(f"{number} * s{i}")
        else:
            operator = BY_CODE[code]
            operands = (tape.first[i], tape.second[i])
            names = {"a": f"v{operands[0]}", "b": f"v{operands[1]}", "v": f"v{i}"}
            lines.append(f"v{i} = {_filled(str(operator.value), names)}")
            slopes = zip(operands, operator.slope_forms, strict=False)
            own = [f"s{j} = s{i} * ({_filled(str(form), names)})" for j, form in slopes]
            back = [*own, *back]
    columns = range(n_inputs)
    lines += [f"s{last} = 1.0", *back]
    lines += [f"g{c} = {' + '.join(gradient[c])}" for c in columns]
    lines.append(f"length = 0.0{''.join(f' + g{c} * g{c}' for c in columns)}")
    lines.append(f"along = 0.0{''.join(f' + g{c} * directions[{c}, k]' for c in columns)}")
    lines += [
        "share = along * along / length",
        f"fine = (length > 0.0) & (length < inf) & (v{last} - v{last} == 0.0)",
        "inside = 1.0 - share if share < 1.0 else 0.0",
        "lost[k] = weights[k] * (inside if fine else 1.0)",
    ]
    body = "\n".join(f"        {line}" for line in lines)
    return (
        "def judge(points, directions, weights, lost):\n    for k in range(points.shape[1]):\n"
        f"{body}\n    return total(lost)"
    )


def compile_alone(tape: TapeBatch, n_inputs: int) -> Judge:
    """Compile the loop of one tree, with the kernel's options."""
    text = lone_text(tape, n_inputs)
    words = set(re.findall(r"\b([a-z]+)\(", text)) & set(dir(math))
    namespace: dict[str, Any] = {word: getattr(math, word) for word in words}
    namespace |= {"inf": np.inf, "total": _total}
    exec(text, namespace)
    return njit(**LOOP)(namespace["judge"])


@njit(fastmath=True)
def _total(lost: Any) -> float:
    total = 0.0
    for k in range(lost.shape[0]):
        total += lost[k]
    return total


def _filled(form: str, names: dict[str, str]) -> str:
    return re.sub(r"\b[abv]\b", lambda found: names[found[0]], form)
