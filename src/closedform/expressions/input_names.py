"""Names of inputs: the one rule that says which are taken, and how they stand in text."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from closedform.errors import ExpressionError, is_plain_text
from closedform.expressions.operators import ALIASES, FUNCTIONS, NAMED_CONSTANTS
from closedform.expressions.tolerances import LONGEST_NAME

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
    """A name as it stands in text: in backticks unless it is a word with no other meaning.

    Examples
    --------
    >>> quote("x_1"), quote("r²"), quote("sin")
    ('x_1', '`r²`', '`sin`')
    """
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
