"""Expressions as presentation MathML, which browsers typeset without any script or font of ours.

The tree is folded into parts: a sum keeps its terms and a product its factors until something else
needs them as one piece, so that signs, fractions and parentheses fall where a person would write
them.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from itertools import pairwise

from closedform.expressions.expression import Expression
from closedform.expressions.operators import OPERATORS
from closedform.expressions.tree import Constant, Token, Variable
from closedform.report.symbols import (
    GREEK,
    is_one_letter,
    is_small_fraction,
    name_mathml,
    number_mathml,
)

MAX_NODES = 400
"""Expressions with more nodes are shown as text: nobody reads them typeset, and browsers limit
nesting.
"""

_MINUS = "\N{MINUS SIGN}"
_TIMES = '<mo lspace="0.08em" rspace="0.08em">&#x2062;</mo>'
_SPACE = '<mo lspace="0.17em" rspace="0em">&#x2062;</mo>'
_DOT = '<mo lspace="0.2em" rspace="0.2em">·</mo>'
_CROSS = '<mo lspace="0.2em" rspace="0.2em">\N{MULTIPLICATION SIGN}</mo>'
_APPLY = "<mo>&#x2061;</mo>"
_ROOT = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class _Factor:
    """What stands in a product without parentheses."""

    text: str
    number: Fraction | None = None
    is_word: bool = False
    is_fraction: bool = False
    needs_parentheses: bool = False  # as the base of a power
    is_function: bool = False
    head: tuple[str, str] | None = None  # a function's name and its argument, for sin² x

    @property
    def base(self) -> str:
        return _parentheses(self.text) if self.needs_parentheses else self.text


@dataclass(frozen=True, slots=True)
class _MathTerm:
    """A sign and factors."""

    negative: bool
    factors: tuple[_Factor, ...]


_Sum = tuple[_MathTerm, ...]


def to_mathml(expression: Expression, *, digits: int = 4) -> str:
    """One ``math`` element with the whole expression.

    Parameters
    ----------
    expression : Expression
    digits : int
        Significant digits of fitted numbers.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> to_mathml(parse("x**2"))
    '<math><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>'
    """
    return f"<math>{_row(_whole(_terms(expression, digits)))}</math>"


def mathml_terms(expression: Expression, *, digits: int = 4) -> tuple[str, ...]:
    """One ``math`` element for each term of a sum, with its sign, so that a long formula can break
    into lines.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> len(mathml_terms(parse("v**2/2 - sin(x)")))
    2
    """
    terms = _terms(expression, digits)
    pieces = [
        _signed(term, first=position == 0, lspace="0em") for position, term in enumerate(terms)
    ]
    return tuple(f'<math displaystyle="true">{_row(piece)}</math>' for piece in pieces)


def _terms(expression: Expression, digits: int) -> _Sum:
    if expression.tree.size > MAX_NODES:
        return _single(_Factor(f"<mtext>{escape(str(expression))}</mtext>"))

    def leaf(token: Token) -> _Sum:
        return (_leaf(token, expression.names, digits),)

    return expression.tree.fold(leaf, _node)


def _leaf(token: Token, names: tuple[str, ...], digits: int) -> _MathTerm:
    if isinstance(token, Constant):
        text = number_mathml(token.value, digits)
        split = is_small_fraction(token.value)
        is_long = "<mo>" in text or split
        return _MathTerm(
            token.value < 0,
            (_Factor(text, abs(token.value), is_fraction=split, needs_parentheses=is_long),),
        )
    if isinstance(token, Variable):
        name = names[token.index]
        return _MathTerm(False, (_Factor(name_mathml(name), is_word=not is_one_letter(name)),))
    return _MathTerm(False, (_Factor(f"<mi>{GREEK.get(token, token)}</mi>"),))


def _node(name: str, *operands: _Sum) -> _Sum:
    if name in ("add", "sub"):
        left, right = operands
        return (
            *left,
            *(
                right
                if name == "add"
                else tuple(replace(term, negative=not term.negative) for term in right)
            ),
        )
    if name == "neg":
        term = _as_term(operands[0])
        return (replace(term, negative=not term.negative),)
    if name == "mul":
        left, right = (_as_term(operand) for operand in operands)
        return (_MathTerm(left.negative != right.negative, _product(left.factors, right.factors)),)
    if name == "div":
        return _quotient(*operands)
    return _function(name, *operands)


def _quotient(above: _Sum, below: _Sum) -> _Sum:
    """A fraction; signs of single terms go in front of it."""
    negative = False
    parts: list[str] = []
    for part in (above, below):
        if len(part) == 1:
            negative ^= part[0].negative
            parts.append(_row(_joined(tuple(_flat(factor) for factor in part[0].factors))))
        else:
            parts.append(_row(_whole(part)))
    return (
        _MathTerm(
            negative,
            (
                _Factor(
                    f"<mfrac>{parts[0]}{parts[1]}</mfrac>", is_fraction=True, needs_parentheses=True
                ),
            ),
        ),
    )


def _flat(factor: _Factor) -> _Factor:
    """A number that is a fraction as a decimal: fractions of numbers inside fractions are hard to
    read.
    """
    if factor.number is None or not factor.is_fraction:
        return factor
    return replace(factor, text=f"<mn>{float(factor.number):.4g}</mn>", is_fraction=False)


def _function(name: str, *operands: _Sum) -> _Sum:
    inner = operands[0]
    if name == "pow":
        return _power(inner, operands[1])
    operator = OPERATORS[name]
    if operator.power is not None:
        return _fixed_power(inner, operator.power)
    whole = _row("<mo>,</mo>".join(_whole(operand) for operand in operands))
    if operator.typeset == "|a|":
        bar = '<mo stretchy="true" form="{}">|</mo>'
        return _single(
            _Factor(f"<mrow>{bar.format('prefix')}{whole}{bar.format('postfix')}</mrow>")
        )
    if operator.typeset == "e^a" and "<mfrac>" not in whole:
        return _single(
            _Factor(f'<msup><mi mathvariant="normal">e</mi>{whole}</msup>', needs_parentheses=True)
        )
    is_word = operator.typeset is not None and operator.typeset.isidentifier()
    word = f"<mi>{operator.typeset if is_word else name}</mi>"
    argument = _parentheses(whole)
    return _single(
        _Factor(
            f"{word}{_APPLY}{argument}",
            needs_parentheses=True,
            is_function=True,
            head=(word, argument),
        )
    )


def _fixed_power(base: _Sum, exponent: Fraction) -> _Sum:
    if exponent == _ROOT:
        return _single(_Factor(f"<msqrt>{_row(_whole(base))}</msqrt>"))
    raised = base if abs(exponent) == 1 else _raised(base, f"<mn>{abs(exponent)}</mn>")
    return _quotient(_ONE, raised) if exponent < 0 else raised


def _power(base: _Sum, exponent: _Sum) -> _Sum:
    number = _number(exponent)
    if number == _ROOT:
        return _single(_Factor(f"<msqrt>{_row(_whole(base))}</msqrt>"))
    if number is not None and number < 0 and _number(base) is None:
        inverse = base if number == -1 else _power(base, (_MathTerm(False, exponent[0].factors),))
        return _quotient(_ONE, inverse)
    is_plain = number is not None and number.denominator == 1 and 0 <= number < 1000
    return _raised(base, _whole(exponent) if is_plain else _row(_whole(exponent)))


def _raised(base: _Sum, exponent: str) -> _Sum:
    single = (
        base[0].factors[0]
        if len(base) == 1 and not base[0].negative and len(base[0].factors) == 1
        else None
    )
    if single is None:
        return _single(
            _Factor(f"<msup>{_parentheses(_whole(base))}{exponent}</msup>", needs_parentheses=True)
        )
    if single.head is not None and exponent in ("<mn>2</mn>", "<mn>3</mn>"):
        word, argument = single.head
        return _single(
            _Factor(
                f"<msup>{word}{exponent}</msup>{_APPLY}{argument}",
                needs_parentheses=True,
                is_function=True,
            )
        )
    return _single(
        _Factor(
            f"<msup>{single.base}{exponent}</msup>", is_word=single.is_word, needs_parentheses=True
        )
    )


def _product(left: tuple[_Factor, ...], right: tuple[_Factor, ...]) -> tuple[_Factor, ...]:
    """All factors, numbers in front; a factor 1 is not written beside others."""
    factors = [factor for factor in (*left, *right) if factor.number != 1]
    return tuple(sorted(factors, key=lambda factor: factor.number is None)) or left[:1]


def _joined(factors: tuple[_Factor, ...]) -> str:
    pieces = [factors[0].text]
    for before, after in pairwise(factors):
        if after.number is not None or (before.is_fraction and after.is_fraction):
            pieces.append(_CROSS)
        elif before.is_word or after.is_word:
            pieces.append(_DOT)
        else:
            pieces.append(_SPACE if after.is_function else _TIMES)
        pieces.append(after.text)
    return "".join(pieces)


def _signed(term: _MathTerm, *, first: bool, lspace: str = "0.22em") -> str:
    text = _joined(term.factors)
    if first:
        return f'<mo form="prefix">{_MINUS}</mo>{text}' if term.negative else text
    return f'<mo form="infix" lspace="{lspace}">{_MINUS if term.negative else "+"}</mo>{text}'


def _whole(terms: _Sum) -> str:
    return "".join(_signed(term, first=position == 0) for position, term in enumerate(terms))


def _as_term(terms: _Sum) -> _MathTerm:
    """A sum of several terms as one factor, in parentheses."""
    return (
        terms[0] if len(terms) == 1 else _MathTerm(False, (_Factor(_parentheses(_whole(terms))),))
    )


def _number(terms: _Sum) -> Fraction | None:
    if len(terms) != 1 or len(terms[0].factors) != 1:
        return None
    value = terms[0].factors[0].number
    return None if value is None else (-value if terms[0].negative else value)


def _single(factor: _Factor) -> _Sum:
    return (_MathTerm(False, (factor,)),)


def _row(text: str) -> str:
    return f"<mrow>{text}</mrow>"


def _parentheses(text: str) -> str:
    return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"


_ONE: _Sum = _single(_Factor("<mn>1</mn>", Fraction(1)))
