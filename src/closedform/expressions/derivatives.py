"""The derivatives of operators' formulas, by SymPy, as formulas again."""

from typing import Any

import sympy
from sympy.printing.str import StrPrinter

from closedform.errors import ExpressionError
from closedform.expressions.libraries import Library
from closedform.expressions.operator_entry import OPERATORS, SPECIAL_WORDS, Operator, words_in

SYMPY = Library(
    "sympy",
    sympy,
    lambda exact: sympy.Rational(exact.numerator, exact.denominator),
    {
        "power": sympy.Pow,
        "absolute": sympy.Abs,
        "choose": lambda c, first, second: sympy.Piecewise((first, c), (second, True)),
    },
    is_exact=True,
)
"""Exact numbers and symbols."""


_KNOWN = {*SPECIAL_WORDS, "a", "b"}


def derived_slopes(operator: Operator) -> tuple[str, ...]:
    """The partial derivatives of an operator's formula.

    Examples
    --------
    >>> from closedform.expressions.operators import OPERATORS
    >>> derived_slopes(OPERATORS["tanh"])
    ('1 + (-1)*(power(tanh(a), 2))',)
    """
    symbols = sympy.symbols("a b", real=True)[: operator.arity]
    form = SYMPY.bound(operator).value(*symbols)
    return tuple(_written(operator, sympy.diff(form, symbol)) for symbol in symbols)


def _written(operator: Operator, slope: Any) -> str:
    formula = _Printer().doprint(slope)
    try:
        unknown = words_in(formula) - _KNOWN - OPERATORS.keys() - {operator.name}
    except ExpressionError:
        unknown = {"SymPy"}
    if unknown:
        raise ExpressionError(
            f"The derivative of {operator.value!r} is {formula}, which formulas cannot "
            f"write; pass slopes=... with the "
            f"operator {operator.name!r}."
        )
    return formula


class _Printer(StrPrinter):
    """SymPy's text with the words of formulas."""

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        base, exponent = self._print(expr.base), expr.exp
        if exponent == -1:
            return f"(1 / ({base}))"
        if exponent == sympy.S.Half:
            return f"sqrt({base})"
        return f"power({base}, {self._print(exponent)})"

    def _print_Mul(self, expr: Any) -> str:
        return "*".join(f"({self._print(factor)})" for factor in expr.args)

    def _print_Abs(self, expr: Any) -> str:
        return f"absolute({self._print(expr.args[0])})"

    def _print_Heaviside(self, expr: Any) -> str:
        return f"choose({self._print(expr.args[0])} > 0, 1, 0)"

    def _print_Exp1(self, expr: Any) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return "exp(1)"

    def _print_Piecewise(self, expr: Any) -> str:
        *pairs, (last, _) = expr.args
        text = self._print(last)
        for value, condition in reversed(pairs):
            text = f"choose({self._print(condition)}, {self._print(value)}, {text})"
        return text
