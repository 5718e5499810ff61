"""Names and formulas as text that `parse` reads back to the same tree, number for number."""

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from closedform.errors import ExpressionError, is_plain_text
from closedform.expressions.operators import ALIASES, FUNCTIONS, NAMED_CONSTANTS, OPERATORS
from closedform.expressions.tolerances import LONGEST_NAME
from closedform.expressions.tree import Constant, Token, Tree, Variable, number_text

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


CONSTANT_ALIASES = {name: name for name in NAMED_CONSTANTS} | {"π": "pi"}
"""Every word that means a number."""

WORD = r"[^\W\d]\w*"
"""What stands in text without backticks; see also `odd_character`."""

_WORD = re.compile(WORD)


def check_names(names: Sequence[str]) -> None:
    """Refuse names that could not be told apart, shown, or read back from the text of an
    expression.

    A name is text of 1 to 200 visible characters without a backtick that neither begins nor ends
    with a space; it is not a number such as ``pi``, and no other input has it. Names that are not
    words, and those that mean a function, stand in backticks.

    Examples
    --------
    >>> check_names(["r²", "v 1", "sin"])
    >>> check_names(["x", "x"])
    Traceback (most recent call last):
    ...
    closedform.errors.ExpressionError: Input names must differ; 'x' occurs 2 times. Rename one of
    them.
    """
    labels = tuple(names)
    # By types first: a search makes many expressions, and each may have hundreds of names.
    kinds = set(map(type, labels))
    if not all(issubclass(kind, str) for kind in kinds):
        other = next(name for name in labels if not isinstance(name, str))
        raise ExpressionError(
            f"An input cannot be named {_quoted(other)}: a name is text, not "
            f"{type(other).__name__}."
        )
    _check_texts(labels)


@lru_cache(maxsize=1024)
def _check_texts(names: tuple[str, ...]) -> None:
    """Remembered: a search makes many expressions of the same inputs. Errors are not."""
    for name in names:
        fault = name_fault(name)
        if fault is not None:
            raise ExpressionError(
                f"An input cannot be named {_quoted(name)}: {fault}. Choose another name."
            )
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        times = names.count(twice)
        raise ExpressionError(
            f"Input names must differ; {_quoted(twice)} occurs {times} times. Rename one of them."
        )


def name_fault(name: str) -> str | None:
    """Why a name is refused; None if it is not.

    Examples
    --------
    >>> name_fault("x\\x1b"), name_fault("x'")
    ('it holds a character that is not visible', None)
    """
    if not name:
        return "it is empty"
    if len(name) > LONGEST_NAME:
        return f"it has {len(name)} characters, and at most {LONGEST_NAME} are allowed"
    if not is_plain_text(name):
        return "it holds a character that is not visible"
    if "`" in name:
        return "backticks mark where a name begins and ends"
    if name != name.strip():
        return "a space at its beginning or end is not visible"
    return f"it means the number {CONSTANT_ALIASES[name]}" if name in CONSTANT_ALIASES else None


def quote(name: str) -> str:
    """A name as it stands in text: in backticks unless it is a word with no other meaning."""
    is_word = _WORD.fullmatch(name) is not None and odd_character(name) is None
    return (
        name if is_word and not is_callable(name) and name not in CONSTANT_ALIASES else f"`{name}`"
    )


def is_callable(word: str) -> bool:
    """Whether a word means a function."""
    return word in FUNCTIONS or word in ALIASES


def odd_character(word: str) -> str | None:
    """The first superscript, fraction or circled number: they read as powers or factors."""
    if word.isascii():
        return None
    return next((character for character in word if unicodedata.category(character) == "No"), None)


def _quoted(name: object) -> str:
    text = repr(str(name)) if isinstance(name, str) else repr(name)
    return text if len(text) <= 60 else f"{text[:60]}...{text[-1]}"
