"""Values and input gradients of a tree in any array library, straight from the operator table, and
expressions as functions of NumPy, torch and JAX.

This is the plain way: one pass up, one pass down, each node one array operation. The compiled way
for thousands of trees is `kernel.py`; both read the same formulas.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.expressions.libraries import NUMPY, Library
from closedform.expressions.operators import NAMED_CONSTANTS, OPERATORS
from closedform.expressions.tree import Constant, Tree, Variable, arity

if TYPE_CHECKING:
    import torch

    from closedform.expressions.expression import Expression


def value(tree: Tree, inputs: Sequence[Any], library: Library = NUMPY) -> Any:
    """The value of a tree.

    inputs: one for each input, all of one shape.
    library: whose arrays they are.
    """
    return _values(tree, inputs, library)[-1]


def number_of(tree: Tree) -> float:
    """The value of a tree in which no input occurs; nan or inf where it has none."""
    with np.errstate(all="ignore"):
        return float(value(tree, []))


def value_and_gradient(
    tree: Tree, inputs: Sequence[Any], library: Library = NUMPY
) -> tuple[Any, dict[int, Any]]:
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
            gradient[token.index] = (
                gradient[token.index] + adjoint if token.index in gradient else adjoint
            )
            continue
        arguments = [values[child] for child in operands[position]]
        for child, slope in zip(
            operands[position], library.bound(OPERATORS[str(token)]).slopes, strict=True
        ):
            if varies[child]:
                adjoints[child] = adjoint * slope(*arguments, values[position])
    return values[-1], gradient


def evaluate(tree: Tree, points: FloatArray) -> FloatArray:
    """Values at points (n_points, n_inputs); what is not finite stays visible as nan or inf."""
    with np.errstate(all="ignore"):
        result = np.asarray(value(tree, list(points.T)), dtype=np.float64)
    return np.array(np.broadcast_to(result, len(points)))


def values_and_gradient(tree: Tree, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and input gradients at points, as they come."""
    with np.errstate(all="ignore"):
        result, columns = value_and_gradient(tree, list(points.T))
    array = np.zeros(points.shape)
    for column, derivative in columns.items():
        array[:, column] = derivative
    return np.broadcast_to(np.asarray(result, dtype=np.float64), len(points)), array


def gradient(tree: Tree, points: FloatArray) -> FloatArray:
    """Input gradients at points, shape (n_points, n_inputs); nan where the value is not finite."""
    values, array = values_and_gradient(tree, points)
    array[~np.isfinite(values)] = np.nan
    return array


def operand_positions(tree: Tree) -> list[tuple[int, ...]]:
    """For each node the positions of its operands."""
    stack: list[int] = []
    positions: list[tuple[int, ...]] = []
    for position, token in enumerate(tree.tokens):
        count = arity(token)
        if count == 0:
            positions.append(())
        else:
            positions.append(tuple(stack[-count:]))
            del stack[-count:]
        stack.append(position)
    return positions


def depends_on_inputs(tree: Tree) -> list[bool]:
    """For each node whether an input occurs below it."""
    varies: list[bool] = []
    for token, operands in zip(tree.tokens, operand_positions(tree), strict=True):
        varies.append(isinstance(token, Variable) or any(varies[child] for child in operands))
    return varies


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
            values.append(
                library.bound(OPERATORS[token]).value(*(values[child] for child in operands))
            )
    return values


def to_numpy(expression: "Expression") -> Callable[..., Any]:
    """A function of one array per input, in the order of the expression's names, which broadcasts
    like NumPy; points of shape (n_points, n_inputs) are taken too, as the expression takes them.
    """

    def function(*inputs: Any) -> Any:
        if len(inputs) == 1 and np.ndim(inputs[0]) == 2:
            points = np.asarray(inputs[0], dtype=np.float64)
            if points.shape[1] == len(expression.names):
                inputs = tuple(points.T)
        if len(inputs) != len(expression.names):
            raise TypeError(
                f"The function takes {len(expression.names)} arrays "
                f"({', '.join(expression.names)}) or points "
                f"of shape (n_points, {len(expression.names)}); got {len(inputs)}."
            )
        arrays = [np.asarray(array, dtype=np.float64) for array in inputs]
        with np.errstate(all="ignore"):
            result = value(expression.tree, arrays, NUMPY)
        return result + np.zeros(np.broadcast_shapes(*(array.shape for array in arrays)))

    function.__doc__ = f"{expression} of ({', '.join(expression.names)})."
    return function


def to_torch(expression: "Expression") -> "torch.nn.Module":
    """A module from a tensor (..., n_inputs) to its values (...)."""
    torch = require("torch", extra="torch")

    class ExpressionModule(torch.nn.Module):
        """The expression as a module; it has no parameters."""

        def forward(self, points: Any) -> Any:
            library = torch_library(torch, points.dtype, points.device)
            result = value(expression.tree, expression.columns(points, library), library)
            return result.expand(points.shape[:-1])

        def extra_repr(self) -> str:
            return str(expression)

    return ExpressionModule()


@lru_cache(maxsize=16)
def torch_library(torch: Any, dtype: Any, device: Any) -> Library:
    """torch's functions, with numbers of this type on this device."""

    def number(exact: Fraction) -> Any:
        return torch.tensor(exact.numerator / exact.denominator, dtype=dtype, device=device)

    return Library("torch", torch, number, {"power": torch.pow, "choose": torch.where})


def to_jax(expression: "Expression") -> Callable[[Any], Any]:
    """A function from an array (..., n_inputs) to its values (...)."""
    jnp = require("jax.numpy", extra="jax")
    library = jax_library()

    def function(points: Any) -> Any:
        points = jnp.asarray(points)
        result = value(expression.tree, expression.columns(points, library), library)
        return jnp.broadcast_to(jnp.asarray(result, dtype=points.dtype), points.shape[:-1])

    function.__doc__ = f"{expression} of ({', '.join(expression.names)})."
    return function


def jax_library() -> Library:
    """JAX's functions, with Python's numbers."""
    jnp = require("jax.numpy", extra="jax")
    return Library(
        "jax", jnp, lambda exact: exact.numerator / exact.denominator, {"choose": jnp.where}
    )
