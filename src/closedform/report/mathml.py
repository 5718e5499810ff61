"""Expressions as MathML, which browsers typeset without any script or font of ours.

SymPy writes LaTeX and latex2mathml turns it into MathML; the names of inputs are put in afterwards,
so that no text from outside is read as LaTeX.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import Any

from closedform.errors import ExpressionError, shown
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import signed_terms

MAX_NODES = 400
"""Expressions with more nodes are shown as text: nobody reads them typeset, and browsers limit
nesting.
"""

_DIGITS = 4  # of numbers that are not small fractions
_LARGEST_DENOMINATOR = 12  # of a fraction that is shown as one
_LONGEST_SUBSCRIPT = 12  # letters; a longer one reads better as a word in the line
_NAME_PARTS = re.compile(r"([^\W\d_]+)_?(\d*)|([^\W\d_]+)_(\w+)")
_GREEK_NAMES = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi",
    "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
)  # fmt: skip
_SMALL = dict(zip(_GREEK_NAMES, "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
_GREEK = _SMALL | {name.capitalize(): letter.upper() for name, letter in _SMALL.items()}


def mathml_terms(expression: Expression) -> tuple[str, ...]:
    """One ``math`` element for each term of a sum, with its sign, so that a long formula can break
    into lines.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> mathml_terms(parse("x**2"))
    ('<math displaystyle="true"><msup><mi>x</mi><mrow><mn>2</mn></mrow></msup></math>',)
    >>> len(mathml_terms(parse("v**2/2 - sin(x)")))
    2
    """
    from latex2mathml.converter import convert  # only where something is shown

    try:
        if expression.tree.size > MAX_NODES:
            raise ExpressionError("The expression is too long to be typeset.")
        typeset = [_named(convert(t), expression.names) for t in _latex_terms(expression)]
    except Exception:  # own operators bring LaTeX of their own, which may be anything
        typeset = [f"<mtext>{escape(shown(str(expression)))}</mtext>"]
    rest = [t.replace("<mo>", '<mo form="infix" lspace="0em">', 1) for t in typeset[1:]]
    return tuple(f'<math displaystyle="true">{term}</math>' for term in [*typeset[:1], *rest])


def _latex_terms(expression: Expression) -> list[str]:
    """Each term with its sign, in the order of the text; inputs are written as places."""
    import sympy
    from sympy.core.parameters import distribute

    from closedform.expressions.sympy_bridge import symbols, to_sympy

    names = expression.names
    labels = {symbol: rf"\text{{@{place}@}}" for place, symbol in enumerate(symbols(names))}
    words = any(not is_one_letter(names[index]) for index in expression.tree.variables)
    style = {"inv_trig_style": "full", "mul_symbol": r" \cdot " if words else r"\,"}
    written: list[str] = []
    for sign, term in signed_terms(expression.tree):
        with distribute(False):  # 2*(x + y) stays as it is
            form = sign * to_sympy(Expression(term, names), exact=False, named=True)
            numbers = form.atoms(sympy.Rational, sympy.Float)
            form = form.xreplace({number: _few_digits(number) for number in numbers})
        text = sympy.latex(form, symbol_names=labels, **style)
        written.append(text if not written or text.startswith("-") else f"+ {text}")
    return written


def _few_digits(number: Any) -> Any:
    """A number as it is shown: whole, a small fraction, or a short decimal."""
    import sympy

    if number.is_Rational and (
        (number.q == 1 and abs(number.p) < 10**6) or is_small_fraction(Fraction(number.p, number.q))
    ):
        return number
    return sympy.Float(f"{float(number):.{_DIGITS}g}", _DIGITS)


def is_small_fraction(value: Fraction) -> bool:
    """Whether a number reads best as a fraction: halves, thirds and quarters, and twelfths that no
    short decimal spells.
    """
    if value.denominator == 1 or abs(value.numerator) > 99:
        return False
    no_decimal = Fraction(f"{float(value):.{_DIGITS}g}") != value
    return value.denominator <= 4 or (value.denominator <= _LARGEST_DENOMINATOR and no_decimal)


def _named(source: str, names: Sequence[str]) -> str:
    """What latex2mathml puts into its ``math`` and ``mrow``, with names for places."""
    inner = source.split("<mrow>", 1)[1].removesuffix("</mrow></math>")
    # A function's name is an identifier: as an operator it would get space on both sides.
    inner = re.sub(r"<mo>(\w\w+)</mo>", r"<mi>\1</mi>", inner)
    return re.sub(r"<mtext>@(\d+)@</mtext>", lambda m: name_mathml(names[int(m[1])]), inner)


def name_mathml(name: str) -> str:
    """An input's name: ``A12`` and ``x_1`` with a subscript, ``omega`` as the Greek letter,
    anything else as text.

    Examples
    --------
    >>> name_mathml("omega_0")
    '<msub><mi>ω</mi><mn>0</mn></msub>'
    """
    parts = _split(name)
    if parts is None:
        return f"<mtext>{escape(shown(name))}</mtext>"
    base, subscript = parts
    letter = f"<mi>{escape(_GREEK.get(base, base))}</mi>"
    if not subscript:
        return letter
    inner = subscript.strip("_").replace("_", ",")
    tag = "mn" if inner.isdecimal() else "mi"
    return f"<msub>{letter}<{tag}>{escape(_GREEK.get(inner, inner))}</{tag}></msub>"


def is_one_letter(name: str) -> bool:
    """Whether a name is shown as one letter, so that two of them stand side by side as a
    product.
    """
    parts = _split(name)
    return parts is not None and len(_GREEK.get(parts[0], parts[0])) == 1


def _split(name: str) -> tuple[str, str] | None:
    """Base and subscript; None for a name that is better shown as it is, such as ``wind_speed``."""
    match = _NAME_PARTS.fullmatch(name)
    if match is None:
        return None
    if match[1]:
        return match[1], match[2]
    is_letter = len(_GREEK.get(match[3], match[3])) == 1
    return (match[3], match[4]) if is_letter and len(match[4]) <= _LONGEST_SUBSCRIPT else None
