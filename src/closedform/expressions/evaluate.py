"""Values and input gradients of a tree in any array library, straight from the operator table.

This is the plain way: one pass up, one pass down, each node one array operation. The compiled way for thousands of trees is
`kernel.py`; both read the same formulas.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.operators import NAMED_CONSTANTS, OPERATORS
from closedform.expressions.tree import Constant, Tree, Variable, arity


@dataclass(frozen=True, eq=False)
class Library:
    """What formulas need from an array library: the functions by name, and how it writes a number.

    Attributes
    ----------
    functions : mapping of str to callable
        ``sin``, ``power``, ``choose`` and the other functions that stand in the table's formulas.
    number : callable
        Turns an exact `Fraction` into the library's number.
    """

    functions: Mapping[str, Callable[..., Any]]
    number: Callable[[Fraction], Any]


NUMPY = Library(
    functions={
        "sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "log": np.log, "tanh": np.tanh, "cosh": np.cosh,
        "atan": np.arctan, "sqrt": np.sqrt, "absolute": np.abs, "sign": np.sign, "power": np.power, "floor": np.floor,
        "choose": np.where,
    },
    number=lambda value: np.float64(value.numerator / value.denominator),
)  # fmt: skip
"""NumPy in double precision."""


def value(tree: Tree, inputs: Sequence[Any], library: Library = NUMPY) -> Any:
    """The value of a tree.

    Parameters
    ----------
    tree : Tree
    inputs : sequence of arrays
        One for each input, all of one shape.
    library : Library
        Whose arrays they are.
    """
    return _values(tree, inputs, library)[-1]


def value_and_gradient(tree: Tree, inputs: Sequence[Any], library: Library = NUMPY) -> tuple[Any, dict[int, Any]]:
    """The value of a tree and its derivative by each input that occurs, in reverse mode."""
    values = _values(tree, inputs, library)
    operands = operand_positions(tree)
    varies = depends_on_inputs(tree)
    adjoints: list[Any] = [None] * tree.size
    if varies[-1]:
        adjoints[-1] = library.number(Fraction(1))
    gradient: dict[int, Any] = {}
    for position in range(tree.size - 1, -1, -1):
        token, adjoint = tree.tokens[position], adjoints[position]
        if adjoint is None:
            continue
        if isinstance(token, Variable):
            gradient[token.index] = gradient[token.index] + adjoint if token.index in gradient else adjoint
            continue
        arguments = [values[child] for child in operands[position]]
        for child, slope in zip(operands[position], _compiled(library, str(token)).slopes, strict=True):
            if varies[child]:
                adjoints[child] = adjoint * slope(*arguments, values[position])
    return values[-1], gradient


def evaluate(tree: Tree, points: FloatArray) -> FloatArray:
    """Values at points of shape (n_points, n_inputs); what is not finite stays visible as nan or inf."""
    with np.errstate(all="ignore"):
        result = np.asarray(value(tree, list(points.T)), dtype=np.float64)
    return np.array(np.broadcast_to(result, len(points)))


def gradient(tree: Tree, points: FloatArray) -> FloatArray:
    """Input gradients at points, shape (n_points, n_inputs); nan where the value itself is not finite."""
    with np.errstate(all="ignore"):
        result, columns = value_and_gradient(tree, list(points.T))
    array = np.zeros(points.shape)
    for column, derivative in columns.items():
        array[:, column] = derivative
    array[~np.broadcast_to(np.isfinite(result), len(points))] = np.nan
    return array


def operand_positions(tree: Tree) -> list[tuple[int, ...]]:
    """For each node the positions of its operands."""
    stack: list[int] = []
    positions: list[tuple[int, ...]] = []
    for position, token in enumerate(tree.tokens):
        count = arity(token)
        positions.append(tuple(stack[len(stack) - count :]))
        del stack[len(stack) - count :]
        stack.append(position)
    return positions


def depends_on_inputs(tree: Tree) -> list[bool]:
    """For each node whether an input occurs below it."""
    varies: list[bool] = []
    for token, operands in zip(tree.tokens, operand_positions(tree), strict=True):
        varies.append(isinstance(token, Variable) or any(varies[child] for child in operands))
    return varies


@dataclass(frozen=True)
class _Compiled:
    value: Callable[..., Any]
    slopes: tuple[Callable[..., Any], ...]


@lru_cache(maxsize=256)
def _compiled(library: Library, name: str) -> _Compiled:
    """The table's formulas as functions of a library. Only the table's own text is ever evaluated."""
    operator = OPERATORS[name]
    names = "a" if operator.arity == 1 else "a, b"

    def compiled(arguments: str, formula: str) -> Callable[..., Any]:
        return eval(f"lambda {arguments}: {formula}", dict(library.functions))

    return _Compiled(compiled(names, operator.value), tuple(compiled(f"{names}, v", slope) for slope in operator.slopes))


def _values(tree: Tree, inputs: Sequence[Any], library: Library) -> list[Any]:
    values: list[Any] = []
    for token, operands in zip(tree.tokens, operand_positions(tree), strict=True):
        if isinstance(token, Variable):
            values.append(inputs[token.index])
        elif isinstance(token, Constant):
            values.append(library.number(token.value))
        elif token in NAMED_CONSTANTS:
            values.append(library.number(Fraction(NAMED_CONSTANTS[token])))
        else:
            values.append(_compiled(library, token).value(*(values[child] for child in operands)))
    return values
