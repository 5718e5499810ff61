"""Expressions to SymPy, and by it to LaTeX. Text from users never passes through ``sympify``."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import sympy

from closedform.errors import ExpressionError
from closedform.expressions.derivatives import SYMPY
from closedform.expressions.operators import OPERATORS, Operator
from closedform.expressions.tolerances import LARGEST_DENOMINATOR, MAX_EXPONENT, MAX_POWER_BITS
from closedform.expressions.tree import Constant, Token, Tree, Variable, decimal

if TYPE_CHECKING:
    from closedform.expressions.expression import Expression


def symbols(names: Sequence[str]) -> list[sympy.Symbol]:
    """The real SymPy symbols that stand for inputs."""
    return [sympy.Symbol(name, real=True) for name in names]


def to_sympy(expression: "Expression", *, exact: bool = True, named: bool = False) -> sympy.Expr:
    """The SymPy form of an expression: real symbols, exact rational numbers.

    exact: whether long exponents, which SymPy cannot bear as fractions, are refused; otherwise they
        become floats.
    named: whether operators that users defined by a formula keep their names; otherwise the formula
        stands there.
    """
    inputs = symbols(expression.names)

    def leaf(token: Token) -> Any:
        if isinstance(token, Variable):
            return inputs[token.index]
        if isinstance(token, Constant):
            return sympy.Rational(token.value.numerator, token.value.denominator)
        return sympy.pi

    def node(name: str, *operands: Any) -> Any:
        if name == "pow":
            return operands[0] ** _exponent(operands[0], operands[1], exact)
        return _applied(OPERATORS[name], operands, named)

    try:
        return _sum_aware_fold(expression.tree, leaf, node)
    except RecursionError as error:
        raise ExpressionError(
            "The expression is nested too deeply for SymPy; write it flatter."
        ) from error
    except (ValueError, TypeError) as error:
        if isinstance(error, ExpressionError):
            raise
        # SymPy compares the operands of Min and Max at once, and some are nan or complex.
        raise ExpressionError(f"A part of the expression is not a real number: {error}") from error


def _applied(operator: Operator, operands: Sequence[Any], named: bool) -> Any:
    """An operator on SymPy forms; one that only arrays know is a function with no rules."""
    if isinstance(operator.sympy, str):
        return SYMPY.own(operator)(*operands)
    is_opaque = callable(operator.value) and operator.sympy is None
    if is_opaque or (named and not operator.is_built_in):
        return _opaque(operator.name, operator.typeset)(*operands)
    return SYMPY.bound(operator).value(*operands)


@cache
def _opaque(name: str, typeset: str | None) -> Any:
    """A SymPy function that is known by its name, and real."""
    word = typeset or "\\operatorname{" + name.replace("_", "\\_") + "}"

    def latex(self: Any, printer: Any, exp: str | None = None) -> str:
        head = word if exp is None else f"{word}^{{{exp}}}"
        return (
            f"{head}{{\\left({', '.join(printer._print(operand) for operand in self.args)} "
            f"\\right)}}"
        )

    return type(name, (sympy.Function,), {"is_real": True, "_latex": latex})


def _exponent(base: Any, exponent: Any, exact: bool) -> Any:
    """An exponent that SymPy can bear: it would write out 2**(0.123456789) as a root of a number of
    millions of digits.
    """
    if not exponent.is_Rational or (
        abs(exponent.p) <= MAX_EXPONENT
        and exponent.q <= MAX_EXPONENT
        and not _is_large(base, exponent)
    ):
        return exponent
    if exact or (base.is_number and _is_large(base, exponent)):
        raise ExpressionError(
            f"The power with exponent {exponent} is too large for exact algebra; write a "
            f"shorter exponent."
        )
    return sympy.Float(exponent, 17)


def _is_large(base: Any, exponent: Any) -> bool:
    return bool(
        base.is_Rational
        and max(int(base.p).bit_length(), int(base.q).bit_length()) * abs(exponent) > MAX_POWER_BITS
    )


def _sum_aware_fold(tree: Tree, leaf: Any, node: Any) -> Any:
    """Fold a tree, collecting the terms of long sums so that SymPy sorts each sum once."""

    def whole(part: Any) -> Any:
        return sympy.Add(*part) if isinstance(part, list) else part

    def combine(name: str, *operands: Any) -> Any:
        if name in ("add", "sub"):
            left = operands[0] if isinstance(operands[0], list) else [operands[0]]
            right = operands[1] if isinstance(operands[1], list) else [operands[1]]
            return left + (right if name == "add" else [-term for term in right])
        return node(name, *(whole(operand) for operand in operands))

    return whole(tree.fold(leaf, combine))


# SymPy would set two underscores as a power, and one at the end as an empty index.
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_SPECIAL = {character: "\\" + character for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}  # fmt: skip


def to_latex(expression: "Expression", own: Mapping[str, str] | None = None) -> str:
    """LaTeX source without dollar signs; names that are not identifiers are set as text.

    own: how some inputs are written.

    Fitted constants print as decimals of six digits, simple fractions as fractions.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> to_latex(parse("v**2/2 + sin(x_1)"))
    '\\\\frac{v^{2}}{2} + \\\\sin{\\\\left(x_{1} \\\\right)}'
    """
    form = to_plain_sympy(expression, named=True)
    labels = {
        symbol: (own or {}).get(name) or "\\text{" + "".join(_SPECIAL.get(c, c) for c in name) + "}"
        for symbol, name in zip(symbols(expression.names), expression.names, strict=True)
        if not _WORD.fullmatch(name)
    }
    try:
        return sympy.latex(form, symbol_names=labels)
    except RecursionError as error:
        raise ExpressionError(
            "The expression is nested too deeply to be typeset; write it flatter."
        ) from error


def to_plain_sympy(expression: "Expression", *, named: bool = False) -> sympy.Expr:
    """The SymPy form to look at: fitted constants as decimals of six digits, simple fractions as
    fractions. named: as in `to_sympy`.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> to_plain_sympy(parse("0.47650524008500483*v**2 + x/2"))
    0.476505*v**2 + x/2
    """
    form: Any = to_sympy(expression, exact=False, named=named)
    long_numbers = {
        number: _rounded(number)
        for number in form.atoms(sympy.Rational, sympy.Float)
        if _is_long(number)
    }
    return form.xreplace(long_numbers)


def _is_long(number: Any) -> bool:
    return number.is_Float or number.q > LARGEST_DENOMINATOR or len(str(abs(number.p))) > 12


def _rounded(number: Any) -> sympy.Float:
    """At most six digits, and no more than the number has."""
    digits = decimal(Fraction(int(number.p), int(number.q))) if number.is_Rational else None
    significant = len(re.sub(r"e.*$|[-.]", "", digits).lstrip("0")) if digits else 6
    return sympy.Float(number, min(max(significant, 1), 6))
