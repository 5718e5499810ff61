"""Expression to text that `parse` reads back to the same tree, number for number."""

import re
from collections.abc import Sequence
from fractions import Fraction

from closedform.expressions.operators import FUNCTIONS, OPERATORS
from closedform.expressions.tree import Constant, Token, Tree, Variable

_PLAIN = re.compile(r"[^\W\d]\w*")
_ATOM = 10
_SIGN = OPERATORS["neg"].precedence
_QUOTIENT = OPERATORS["div"].precedence


def to_text(tree: Tree, names: Sequence[str]) -> str:
    """Print a tree with the fewest parentheses that keep its structure."""
    labels = [quote(name) for name in names]

    def leaf(token: Token) -> tuple[str, int]:
        if isinstance(token, Variable):
            return labels[token.index], _ATOM
        if isinstance(token, Constant):
            return _number(token.value)
        return token, _ATOM

    def node(name: str, *operands: tuple[str, int]) -> tuple[str, int]:
        operator = OPERATORS[name]
        strength = operator.precedence
        if operator.symbol is None:
            return f"{name}({operands[0][0]})", _ATOM
        if operator.arity == 1:
            return f"-{_enclose(operands[0], strength)}", strength
        left, right = operands
        if name == "pow":
            return f"{_enclose(left, strength + 1)}**{_enclose(right, strength)}", strength
        space = " " if strength == 1 else ""
        symbol = f"{space}{operator.symbol}{space}"
        return f"{_enclose(left, strength)}{symbol}{_enclose_right(right, strength + 1)}", strength

    return tree.fold(leaf, node)[0]


def quote(name: str) -> str:
    """A name as it stands in text: in backticks unless it is an identifier with no other meaning."""
    return name if _PLAIN.fullmatch(name) and name not in FUNCTIONS else f"`{name}`"


def decimal(value: Fraction) -> str | None:
    """The exact decimal text of a number, or None if it has none of at most 40 digits."""
    denominator = value.denominator
    twos = fives = 0
    while denominator % 2 == 0:
        denominator //= 2
        twos += 1
    while denominator % 5 == 0:
        denominator //= 5
        fives += 1
    if denominator != 1:
        return None
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator)
    sign = "-" if value < 0 else ""
    stripped = digits.rstrip("0")
    if len(stripped) > 40:
        return None
    exponent = len(digits) - 1 - places
    if -5 <= exponent <= 16:
        whole, fraction = (digits[:-places] or "0", digits[-places:].rjust(places, "0")) if places else (digits, "")
        return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"
    mantissa = stripped[0] + ("." + stripped[1:] if len(stripped) > 1 else "")
    return f"{sign}{mantissa}e{exponent}"


def _number(value: Fraction) -> tuple[str, int]:
    text = decimal(value)
    if text is not None:
        return text, _ATOM if value >= 0 else _SIGN
    return f"{value.numerator}/{value.denominator}", _QUOTIENT if value >= 0 else 1


def _enclose(part: tuple[str, int], strength: int) -> str:
    text, own = part
    return text if own >= strength else f"({text})"


def _enclose_right(part: tuple[str, int], strength: int) -> str:
    return f"({part[0]})" if part[0].startswith("-") else _enclose(part, strength)
