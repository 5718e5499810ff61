"""LaTeX source, by SymPy's printer."""

import re
from fractions import Fraction
from typing import Any

import sympy

from closedform.errors import ExpressionError
from closedform.expressions.exact_numbers import decimal
from closedform.expressions.expression import Expression
from closedform.expressions.sympy_bridge import symbols, to_sympy
from closedform.expressions.tolerances import LARGEST_DENOMINATOR

# SymPy would set two underscores as a power, and one at the end as an empty index.
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_SPECIAL = {character: "\\" + character for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}  # fmt: skip


def to_latex(expression: Expression) -> str:
    """LaTeX source without dollar signs; names that are not identifiers are set as text.

    Fitted constants print as decimals of six digits, simple fractions as fractions.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> to_latex(parse("v**2/2 + sin(x_1)"))
    '\\\\frac{v^{2}}{2} + \\\\sin{\\\\left(x_{1} \\\\right)}'
    """
    form = to_sympy(expression, exact=False, named=True)
    long_numbers = {
        number: _rounded(number)
        for number in form.atoms(sympy.Rational, sympy.Float)
        if _is_long(number)
    }
    labels = {
        symbol: "\\text{" + "".join(_SPECIAL.get(c, c) for c in name) + "}"
        for symbol, name in zip(symbols(expression.names), expression.names, strict=True)
        if not _WORD.fullmatch(name)
    }
    try:
        return sympy.latex(form.xreplace(long_numbers), symbol_names=labels)
    except RecursionError as error:
        raise ExpressionError(
            "The expression is nested too deeply to be typeset; write it flatter."
        ) from error


def _is_long(number: Any) -> bool:
    return number.is_Float or number.q > LARGEST_DENOMINATOR or len(str(abs(number.p))) > 12


def _rounded(number: Any) -> sympy.Float:
    """At most six digits, and no more than the number has."""
    digits = decimal(Fraction(int(number.p), int(number.q))) if number.is_Rational else None
    significant = len(re.sub(r"e.*$|[-.]", "", digits).lstrip("0")) if digits else 6
    return sympy.Float(number, min(max(significant, 1), 6))
