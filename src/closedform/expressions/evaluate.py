"""Values and input gradients of a tree in any array library, straight from the operator table.

This is the plain way: one pass up, one pass down, each node one array operation. The compiled way
for thousands of trees is `kernel.py`; both read the same formulas.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ExpressionError
from closedform.expressions.operator_entry import exact_numbers, words_in
from closedform.expressions.operators import NAMED_CONSTANTS, OPERATORS, Operator
from closedform.expressions.tree import Constant, Tree, Variable, arity


@dataclass(frozen=True, eq=False)
class Library:
    """What formulas need from an array library: functions by name, and how it writes a number."""

    name: str  # the operators' field with their functions in this library
    module: Any  # where functions are looked for by the operator's name
    number: Callable[[Fraction], Any]  # turns an exact `Fraction` into the library's number
    # Words of formulas that are called otherwise here.
    special: Mapping[str, Any] = field(default_factory=dict)
    is_exact: bool = False  # whether numbers in formulas go through ``number`` too
    # Makes a function that a user gave fit for this library's numbers.
    adapt: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    _bound: dict[Operator, "Bound"] = field(default_factory=dict, repr=False)

    def function(self, word: str) -> Any:
        """What a word of a formula means here."""
        if word in self.special:
            return self.special[word]
        operator = OPERATORS.get(word)
        if operator is None:
            return getattr(self.module, word)
        is_composed = isinstance(operator.value, str) and word not in words_in(operator.value)
        if is_composed and operator.own_function(self.name) is None:
            return self.bound(operator).value
        return self.own(operator)

    def own(self, operator: Operator) -> Any:
        """The function that an operator is in this library."""
        own = operator.own_function(self.name)
        if callable(own):
            return own if self.adapt is None else self.adapt(own)
        if own is None and callable(operator.value):
            raise ExpressionError(
                f"The operator {operator.name!r} has no form for {self.name}: define it by a "
                f"formula, or pass {self.name}=..."
            )
        path, _, name = (own or operator.name).rpartition(".")
        return getattr(import_module(path) if path else self.module, name)

    def bound(self, operator: Operator) -> "Bound":
        """An operator's formulas as functions of this library's arrays."""
        if operator not in self._bound:
            self._bound[operator] = Bound(self, operator)
        return self._bound[operator]


class Bound:
    """An operator in a library. Formulas are bound on first use: torch has no use for slopes."""

    def __init__(self, library: Library, operator: Operator) -> None:
        self.library, self.operator = library, operator

    @cached_property
    def value(self) -> Callable[..., Any]:
        """The value of the operands."""
        operator = self.operator
        formula = (
            f"{operator.name}({operator.operands})" if callable(operator.value) else operator.value
        )
        return self._function(operator.operands, formula)

    @cached_property
    def slopes(self) -> tuple[Callable[..., Any], ...]:
        """The partial derivatives, of the operands and the value."""
        return tuple(
            self._slope(place, form)
            if callable(form)
            else self._function(f"{self.operator.operands}, v", form)
            for place, form in enumerate(self.operator.slope_forms)
        )

    @cached_property
    def bends(self) -> tuple[Callable[..., Any], ...]:
        """How the slopes change, of the operands, the value and the changes of all of them."""
        operands = self.operator.operands
        arguments = (
            f"{operands}, v, " + ", ".join(f"d{name}" for name in operands.split(", ")) + ", dv"
        )
        return tuple(
            form if callable(form) else self._function(arguments, form)
            for form in self.operator.bend_forms
        )

    def _function(self, arguments: str, formula: str) -> Callable[..., Any]:
        """Only the words of formulas are ever evaluated: see `words_in`."""
        library, text = self.library, formula
        words = words_in(formula) - {*arguments.split(", "), "True"}
        names = {
            word: library.own(self.operator)
            if word == self.operator.name
            else library.function(word)
            for word in words
        }
        if library.is_exact:
            text = exact_numbers(formula)
            names["number"] = lambda above, below: library.number(Fraction(above, below))
        return eval(f"lambda {arguments}: {text}", names | {"__builtins__": {}})

    def _slope(self, place: int, form: Callable[..., Any]) -> Callable[..., Any]:
        """A slope that is a function of NumPy arrays; mpmath differentiates the value instead."""
        if self.library.name == "mpmath":
            order = tuple(int(place == other) for other in range(self.operator.arity))
            return lambda *operands: self.library.module.diff(self.value, operands[:-1], order)
        return lambda *operands: form(*operands[:-1])


NUMPY = Library(
    "numpy", np, lambda value: np.float64(value.numerator / value.denominator), {"choose": np.where}
)  # fmt: skip
"""NumPy in double precision."""


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
