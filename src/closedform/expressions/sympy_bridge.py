"""Expressions to SymPy and back. The only door to SymPy; text from users never passes through
``sympify``.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import sympy

from closedform.errors import ExpressionError
from closedform.expressions.evaluate import Library
from closedform.expressions.expression import Expression
from closedform.expressions.operators import FUNCTIONS, OPERATORS, Operator
from closedform.expressions.tree import (
    Constant,
    Token,
    Tree,
    Variable,
    apply,
    constant,
    named_constant,
    variable,
)

MAX_POWER_BITS = 20_000
"""A power of numbers whose exact value needs more bits than this is not computed."""

MAX_EXPONENT = 1000
"""Exponents with a larger numerator or denominator do not go through SymPy as fractions."""

MAX_DENOMINATOR = 64
"""Fractions with a larger denominator are written as one number, not as a division."""


def _choose(condition: Any, first: Any, second: Any) -> Any:
    return sympy.Piecewise((first, condition), (second, True))


SYMPY = Library(
    "sympy",
    sympy,
    lambda exact: sympy.Rational(exact.numerator, exact.denominator),
    {"power": sympy.Pow, "absolute": sympy.Abs, "choose": _choose},
    is_exact=True,
)
"""Exact numbers and symbols."""


def symbols(names: Sequence[str]) -> list[sympy.Symbol]:
    """The real SymPy symbols that stand for inputs."""
    return [sympy.Symbol(name, real=True) for name in names]


def to_sympy(expression: Expression, *, exact: bool = True, named: bool = False) -> sympy.Expr:
    """The SymPy form of an expression: real symbols, exact rational numbers.

    Parameters
    ----------
    expression : Expression
    exact : bool
        Whether long exponents, which SymPy cannot bear as fractions, are refused; otherwise they
        become floats.
    named : bool
        Whether operators that users defined by a formula keep their names; otherwise the formula
        stands there.

    Raises
    ------
    ExpressionError
        If a power is too large, or the expression is nested too deeply for SymPy.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> to_sympy(parse("0.5*v**2 + sin(x)"))
    v**2/2 + sin(x)
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
    except ValueError as error:
        if isinstance(error, ExpressionError):
            raise
        # SymPy compares the operands of Min and Max at once.
        raise ExpressionError(f"A part of the expression is not a real number: {error}") from error


def from_sympy(form: sympy.Expr, names: Sequence[str]) -> Expression:
    """An expression with the same value as a SymPy form.

    Parameters
    ----------
    form : sympy.Expr
    names : sequence of str
        The inputs, in the order of the columns; symbols are matched by name.

    Raises
    ------
    ExpressionError
        If the form holds a symbol, function or number that expressions do not have.

    Examples
    --------
    >>> import sympy
    >>> x, v = sympy.symbols("x v")
    >>> str(from_sympy(v**2 / 2 + sympy.sin(x), ["x", "v"]))
    'v**2/2 + sin(x)'
    """
    columns = {name: index for index, name in enumerate(names)}
    done: list[Tree] = []
    pending: list[tuple[Any, bool]] = [(form, False)]
    while pending:
        part, visited = pending.pop()
        if not visited and part.args and not part.is_Rational and not part.is_Float:
            pending.append((part, True))
            pending += [(argument, False) for argument in reversed(part.args)]
        elif visited:
            count = len(part.args)
            operands = done[-count:]
            del done[-count:]
            done.append(_node(part, operands))
        else:
            done.append(_leaf(part, columns))
    return Expression(done[0], tuple(names))


def _leaf(part: Any, columns: dict[str, int]) -> Tree:
    if part.is_Symbol:
        if part.name not in columns:
            raise ExpressionError(f"Symbol {part.name!r} is not among the inputs {list(columns)}.")
        return variable(columns[part.name])
    if part.is_Rational:
        return constant(Fraction(int(part.p), int(part.q)))
    if part.is_Float:
        return constant(float(part))
    if part is sympy.pi:
        return named_constant("pi")
    if part is sympy.E:
        return apply("exp", constant(1))
    raise ExpressionError(f"SymPy's {part} has no counterpart among expressions.")


def _node(part: Any, operands: list[Tree]) -> Tree:
    if part.is_Add:
        return _sum(part, operands)
    if part.is_Mul:
        return _product(part, operands)
    if part.is_Pow:
        base, exponent = operands
        if part.base is sympy.E:
            return apply("exp", exponent)
        return _power(base, exponent)
    name = _name_of(part.func)
    if name is None:
        known = ", ".join(
            name
            for name, operator in FUNCTIONS.items()
            if operator.sympy or not operator.is_built_in
        )
        raise ExpressionError(f"SymPy's function {part.func} has no counterpart; known: {known}.")
    if OPERATORS[name].is_symmetric:
        return reduce(lambda left, right: apply(name, left, right), operands)
    return apply(name, *operands)


def _applied(operator: Operator, operands: Sequence[Any], named: bool) -> Any:
    """An operator on SymPy forms; one that is known as a function of arrays only is a function with
    no rules.
    """
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


def _name_of(function: Any) -> str | None:
    """The operator that a SymPy function is."""
    word = function.__name__
    if word in FUNCTIONS and not FUNCTIONS[word].is_built_in:
        return word
    return next(
        (
            name
            for name, o in FUNCTIONS.items()
            if o.sympy == word and getattr(sympy, word) is function
        ),
        None,
    )


def _sum(part: Any, operands: list[Tree]) -> Tree:
    """A sum as SymPy prints it: its order, and a minus sign for terms that carry one."""
    by_form = dict(zip(part.args, operands, strict=True))
    total: Tree | None = None
    for term in part.as_ordered_terms():
        tree = by_form[term]
        if total is None:
            total = tree
        elif term.could_extract_minus_sign() and (positive := _without_minus(tree)) is not None:
            total = apply("sub", total, positive)
        else:
            total = apply("add", total, tree)
    assert total is not None
    return total


def _without_minus(tree: Tree) -> Tree | None:
    """What a tree negates, if it is written as a negation."""
    if tree.root == "neg":
        return tree.children[0]
    if isinstance(tree.root, Constant) and tree.root.value < 0:
        return constant(-tree.root.value)
    if tree.root in ("mul", "div"):
        left, right = tree.children
        positive = _without_minus(left)
        return None if positive is None else apply(str(tree.root), positive, right)
    return None


def _product(part: Any, operands: list[Tree]) -> Tree:
    """A product as a fraction: numbers first, powers with negative exponents in the denominator."""
    number = Fraction(1)
    above: list[Tree] = []
    below: list[Tree] = []
    for form, tree in zip(part.args, operands, strict=True):
        if form.is_Rational:
            number *= Fraction(int(form.p), int(form.q))
        elif form.is_Pow and form.exp.is_Rational and form.exp < 0 and tree.root == "div":
            below.append(tree.children[1])
        else:
            above.append(tree)
    if 1 < number.denominator <= MAX_DENOMINATOR and above:
        below.insert(0, constant(number.denominator))
        number = Fraction(number.numerator)
    top = _times(above) if above else constant(number)
    if above and number == -1:
        top = (
            apply("mul", apply("neg", above[0]), _times(above[1:]))
            if len(above) > 1
            else apply("neg", above[0])
        )
    elif above and number != 1:
        top = _times([constant(number), *above])
    return apply("div", top, _times(below)) if below else top


def _power(base: Tree, exponent: Tree) -> Tree:
    """A power, with roots and reciprocals in their usual spelling."""
    number = exponent.root.value if isinstance(exponent.root, Constant) else None
    if number is None:
        return apply("pow", base, exponent)
    if number < 0:
        return apply("div", constant(1), _power(base, constant(-number)))
    if number == 1:
        return base
    return apply("sqrt", base) if number == Fraction(1, 2) else apply("pow", base, exponent)


def _times(factors: list[Tree]) -> Tree:
    product = factors[0]
    for factor in factors[1:]:
        product = apply("mul", product, factor)
    return product


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
