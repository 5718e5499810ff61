"""Expression to text that `parse` reads back to the same tree, number for number."""

from collections.abc import Sequence
from fractions import Fraction

from closedform.expressions.exact_numbers import number_text
from closedform.expressions.input_names import quote
from closedform.expressions.operators import OPERATORS
from closedform.expressions.tree import Constant, Token, Tree, Variable

_ATOM = OPERATORS["sin"].precedence  # nothing binds as a function call does
_SIGN = OPERATORS["neg"].precedence
_QUOTIENT = OPERATORS["div"].precedence


def to_text(tree: Tree, names: Sequence[str]) -> str:
    """Print a tree with the fewest parentheses that keep its structure."""

    def leaf(token: Token) -> tuple[str, int]:
        if isinstance(token, Variable):
            return quote(names[token.index]), _ATOM
        if isinstance(token, Constant):
            return _number(token.value)
        return token, _ATOM

    def node(name: str, *operands: tuple[str, int]) -> tuple[str, int]:
        operator = OPERATORS[name]
        strength = operator.precedence
        if operator.symbol is None:
            return f"{name}({', '.join(text for text, _ in operands)})", _ATOM
        if operator.arity == 1:
            return f"-{_enclose(operands[0], strength)}", strength
        left, right = operands
        if name == "pow":
            return f"{_enclose(left, strength + 1)}**{_enclose(right, strength)}", strength
        space = " " if strength == 1 else ""
        symbol = f"{space}{operator.symbol}{space}"
        return f"{_enclose(left, strength)}{symbol}{_enclose_right(right, strength + 1)}", strength

    return tree.fold(leaf, node)[0]


def _number(value: Fraction) -> tuple[str, int]:
    text = number_text(value)
    if "/" not in text:
        return text, _ATOM if value >= 0 else _SIGN
    return text, _QUOTIENT if value >= 0 else 1


def _enclose(part: tuple[str, int], strength: int) -> str:
    text, own = part
    return text if own >= strength else f"({text})"


def _enclose_right(part: tuple[str, int], strength: int) -> str:
    return f"({part[0]})" if part[0].startswith("-") else _enclose(part, strength)
