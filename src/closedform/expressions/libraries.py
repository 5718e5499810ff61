"""Operators as functions of an array library, whose functions and numbers their formulas take.

Here too is what users leave out when they define an operator: it is derived. What they state is
tried at once, because a wrong derivative would make every search fail without a word.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ExpressionError
from closedform.expressions.operator_entry import OPERATORS, Operator, exact_numbers, words_in
from closedform.expressions.tolerances import SLOPE_TOLERANCE, STEP


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


def completed(operator: Operator) -> None:
    """Fill in the slopes and bends that an operator was defined without, and try them."""
    name, count = operator.name, operator.arity
    if not operator.slope_forms:
        if callable(operator.value):
            raise ExpressionError(
                f"The operator {name!r} is a function without derivatives: pass slopes=..., one "
                "function for each operand, or define it by a formula such as 'log(1 + exp(a))', "
                "whose derivatives are derived."
            )
        from closedform.expressions.derivatives import derived_slopes

        object.__setattr__(operator, "slopes", derived_slopes(operator))
    if not operator.bend_forms:
        bends = tuple(_Bend(operator, place) for place in range(count))
        object.__setattr__(operator, "bends", bends)
    for what, forms in (("slopes", operator.slope_forms), ("bends", operator.bend_forms)):
        if len(forms) != count:
            raise ExpressionError(
                f"The operator {name!r} has {count} operand(s) and {len(forms)} {what}; give one "
                f"for each operand."
            )
    _try(operator)


class _Bend:
    """How a slope changes along the changes of the operands, by a central difference."""

    is_derived = True

    def __init__(self, operator: Operator, place: int) -> None:
        self.operator, self.place = operator, place

    def __call__(self, *values: Any) -> Any:
        """Of the operands, the value, the changes of the operands, and that of the value."""
        count = self.operator.arity
        operands, changes = values[:count], values[count + 1 : 2 * count + 1]
        largest = np.maximum.reduce([np.abs(change) for change in changes])
        size = np.maximum.reduce([np.abs(operand) for operand in operands])
        step = STEP * np.maximum(size, 1.0) / np.where(largest > 0, largest, 1.0)
        bound, ends = NUMPY.bound(self.operator), []
        for sign in (1, -1):
            moved = [a + sign * step * change for a, change in zip(operands, changes, strict=True)]
            ends.append(bound.slopes[self.place](*moved, bound.value(*moved)))
        return (ends[0] - ends[1]) / (2 * step)


def _try(operator: Operator) -> None:
    """Call the functions around 0, and compare the slopes with differences of the value."""
    points = np.random.default_rng(0).uniform(-2, 2, (operator.arity, 64))
    bound = NUMPY.bound(operator)
    with np.errstate(all="ignore"):
        value = _array(operator, "value", bound.value, *points)
        if not np.isfinite(value).any():
            points = np.abs(points) + 0.5
            value = _array(operator, "value", bound.value, *points)
        for place in range(operator.arity):
            slope = _array(operator, "slope", bound.slopes[place], *points, value)
            above, below = (bound.value(*_moved(points, place, sign * STEP)) for sign in (1, -1))
            expected = (above - below) / (2 * STEP)
            usable = np.isfinite(slope) & np.isfinite(expected)
            wrong = usable & (np.abs(slope - expected) > SLOPE_TOLERANCE * (1 + np.abs(expected)))
            # A kink or a pole may lie between the two points of a difference.
            if wrong.sum() > 0.1 * max(usable.sum(), 1):
                _refuse(operator, place, points, slope, expected, int(np.flatnonzero(wrong)[0]))


def _refuse(
    operator: Operator,
    place: int,
    points: FloatArray,
    slope: FloatArray,
    expected: FloatArray,
    at: int,
) -> None:
    where = ", ".join(f"{name}={x[at]:.4g}" for name, x in zip("ab", points, strict=False))
    raise ExpressionError(
        f"The slope of {operator.name!r} by {'ab'[place]} is {slope[at]:.6g} at {where}, but "
        f"its value changes by "
        f"{expected[at]:.6g} there; correct the slope, or leave it out if the value is a formula."
    )


def _moved(points: FloatArray, place: int, step: float) -> FloatArray:
    moved = points.copy()
    moved[place] += step
    return moved


def _array(
    operator: Operator, what: str, function: Callable[..., Any], *arguments: FloatArray
) -> FloatArray:
    try:
        found = np.asarray(function(*arguments), dtype=np.float64)
        return np.broadcast_to(found, arguments[0].shape)
    except ExpressionError:
        raise
    except Exception as error:
        # Whatever a user's function raises is a fault of the definition, and is named with it.
        raise ExpressionError(
            f"The {what} of the operator {operator.name!r} cannot be evaluated on NumPy "
            f"arrays: {error}. It gets arrays "
            "of numbers and must return one of the same shape."
        ) from error
