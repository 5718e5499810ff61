"""Formulas to look at: constants to the digits that their standard errors allow."""

import re
from collections.abc import Sequence
from math import floor, isfinite, log10

from closedform.canonical.constants import free_constants, with_constants
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Constant, Tree, constant

FEW = 5
"""Significant digits of a constant whose error is not known."""

_LONG_NUMBER = re.compile(r"`[^`]*`|\d+\.\d{5,}(e[-+]?\d+)?")  # a name in backticks stays as it is


def formula_text(expression: Expression, errors: Sequence[float] = ()) -> str:
    """A formula with its constants rounded to where their standard errors begin.

    Errors are those of the free constants, in the order in which they are written; constants
    without one get five digits. ``str(expression)`` has all digits.

    Examples
    --------
    >>> import closedform as cf
    >>> formula_text(cf.parse("0.47650524008500483*x**4 + v"), [0.003])
    '0.4765*x**4 + v'
    >>> formula_text(cf.parse("0.47650524008500483*x**4 + v"))
    '0.47651*x**4 + v'
    """
    return few_digits(str(rounded_formula(expression, errors)))


def rounded_formula(expression: Expression, errors: Sequence[float] = ()) -> Expression:
    """A formula whose long constants end where their errors begin; as it is without errors."""
    free = free_constants(expression)
    if len(errors) != len(free):
        return expression
    changed: dict[int, Tree] = {
        one.position: constant(_rounded(float(one.value), error))
        for one, error in zip(free, errors, strict=True)
        if isinstance(expression.tree.tokens[one.position], Constant)
        and len(f"{float(one.value):.12g}".lstrip("-0.")) > FEW
    }
    return with_constants(expression, changed) if changed else expression


def few_digits(formula: str) -> str:
    """The text of a formula with long numbers rounded to five digits.

    Examples
    --------
    >>> few_digits("0.47650524008500483*x**4 + 1.25*v")
    '0.47651*x**4 + 1.25*v'
    >>> few_digits("`v 1.234567`")
    '`v 1.234567`'
    """
    return _LONG_NUMBER.sub(
        lambda match: match[0] if match[0][0] == "`" else f"{float(match[0]):.{FEW}g}", formula
    )


def _rounded(value: float, error: float) -> float:
    """A number to the second digit of its error, at least one digit of its own and at most five."""
    if value == 0 or not isfinite(error) or error <= 0:
        return float(f"{value:.{FEW}g}")
    digits = floor(log10(abs(value))) - floor(log10(error)) + 2
    return float(f"{value:.{min(max(digits, 1), FEW)}g}")
