"""Text to expression: an own tokenizer and an operator-precedence parser that never evaluates and
never recurses.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from closedform.basics.keywords import checked_keywords, suggestion
from closedform.errors import ExpressionError, UnknownFunctionError
from closedform.expressions.expression import Expression
from closedform.expressions.operators import ALIASES, FUNCTIONS, OPERATORS
from closedform.expressions.printing import (
    CONSTANT_ALIASES,
    WORD,
    check_names,
    is_callable,
    name_fault,
    odd_character,
    to_text,
)
from closedform.expressions.tolerances import LONGEST_NUMBER, MAX_LENGTH, MAX_NESTING
from closedform.expressions.tree import (
    Tree,
    apply,
    constant,
    named_constant,
    number_fault,
    variable,
)

_PATTERN = re.compile(
    rf"""\s*(?:
    (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<name>{WORD})
  | `(?P<quoted>[^`]+)`
  | (?P<symbol>\*\*|[-+*/^(),])
  )""",
    re.VERBOSE,
)
_BINARY = {o.symbol: o.name for o in OPERATORS.values() if o.symbol and o.arity == 2} | {"^": "pow"}


@dataclass(frozen=True, slots=True)
class _Lexeme:
    kind: str
    text: str
    position: int


@dataclass(slots=True)
class _Pending:
    """An operator, function or parenthesis that waits for its operands."""

    name: str
    precedence: int
    position: int
    arguments: int = 1


@checked_keywords
def parse(
    text: str, names: Sequence[str] | None = None, *, groups: Mapping[str, Any] | None = None
) -> Expression:
    """Read an expression.

    Parameters
    ----------
    text : str
        Such as ``"x**2 + sin(v)"``. ``^`` and ``**`` both mean power. Names that are not words,
        such as ```r²```, and those of functions stand in backticks. Decimal numbers are exact: 0.1
        is one tenth.
    names : sequence of str, optional
        The inputs, in the order of their columns. Without it, the names that occur, sorted (x2
        before x10).
    groups : mapping of str to list or Group, optional
        Inputs that are alike; then names are needed, and ``sum(s[i]**2)`` and ``sum(s[i]*s[j],
        neighbours)`` stand for sums over them. See `closedform.Group`.

    Returns
    -------
    Expression

    Raises
    ------
    ExpressionError
        If the text is not an expression, is nested too deeply, is too long, or holds an unknown or
        unusable name or a number out of range.

    Examples
    --------
    >>> energy = parse("v**2/2 + sin(x)", names=["x", "v"])
    >>> str(energy)
    'v**2/2 + sin(x)'
    >>> energy([[0.0, 2.0]])
    array([2.])
    """
    if groups is not None:
        # It is made of expressions that are parsed.
        from closedform.expressions.sites import as_groups, parse_sums

        return parse_sums(text, as_groups(groups, list(names or ())), list(names or ()))
    lexemes = list(_tokenize(text))
    columns = _columns(text, lexemes, names)
    tree = _Parser(text, columns).read(lexemes)
    # Each level of printed parentheses has a sign of its own in the text, so a short text cannot
    # exceed the limit.
    if len(text) >= MAX_NESTING:
        _check_printed(tree, columns)
    return Expression(tree, tuple(columns))


def names_in(text: str) -> list[str]:
    """The names of inputs that occur in a text, sorted (x2 before x10).

    Examples
    --------
    >>> names_in("x10 + sin(x2) + pi")
    ['x2', 'x10']
    """
    return list(_columns(text, list(_tokenize(text)), None))


def sort_names(names: Sequence[str] | set[str]) -> list[str]:
    """Sort names as a person would: x2 before x10."""
    return sorted(
        names,
        # Numbers by length and then digit by digit: int() takes neither superscripts nor 5,000.
        key=lambda name: [
            (not s.isdecimal(), len(s.lstrip("0")) if s.isdecimal() else 0, s.lstrip("0"), s)
            for s in re.split(r"(\d+)", name)
        ],
    )


def _tokenize(text: str) -> Iterator[_Lexeme]:
    if not isinstance(text, str):
        raise ExpressionError(
            f"An expression is read from text; got {type(text).__name__}. An Expression needs "
            f"no parsing."
        )
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"The text has {len(text)} characters; at most {MAX_LENGTH} are read."
        )
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _PATTERN.match(text, position)
        if match is None:
            found = text[position:].lstrip()[0]
            raise _error(
                text,
                position,
                f"{found!r} is not part of an expression. Put names with other characters in "
                f"backticks",
            )
        kind = match.lastgroup or ""
        odd = odd_character(match[kind]) if kind == "name" else None
        if odd is not None:
            raise _error(
                text,
                match.start(kind),
                f"{odd!r} is not a power here: write x**2, or put the name in backticks",
            )
        yield _Lexeme(kind, match[kind], match.start(kind))
        position = match.end()


def _columns(text: str, lexemes: list[_Lexeme], names: Sequence[str] | None) -> dict[str, int]:
    if names is None:
        known = FUNCTIONS.keys() | ALIASES.keys() | CONSTANT_ALIASES.keys()
        found: set[str] = set()
        called = {
            a.position
            for a, b in itertools.pairwise(lexemes)
            if b.text == "(" and b.kind == "symbol"
        }
        for lexeme in lexemes:
            is_bare = (
                lexeme.kind == "name" and lexeme.text not in known and lexeme.position not in called
            )
            if (is_bare or lexeme.kind == "quoted") and lexeme.text not in found:
                fault = name_fault(lexeme.text)
                if fault is not None:
                    raise _error(text, lexeme.position, f"An input cannot have this name: {fault}")
                found.add(lexeme.text)
        names = sort_names(found)
    check_names(names)
    return {name: column for column, name in enumerate(names)}


def _check_printed(tree: Tree, columns: dict[str, int]) -> None:
    """Refuse what could not be read back: printing adds parentheses and writes out numbers."""
    printed = to_text(tree, list(columns))
    try:
        _Parser(printed, columns).read(list(_tokenize(printed)))
    except ExpressionError as error:
        raise ExpressionError(
            f"Written out, the expression could not be read back: {error} Write it flatter."
        ) from error


class _Parser:
    """Dijkstra's shunting yard: operators wait on a stack until their operands are complete."""

    def __init__(self, text: str, columns: dict[str, int]) -> None:
        self.text = text
        self.columns = columns
        self.operands: list[Tree] = []
        self.pending: list[_Pending] = []
        self.depth = 0

    def read(self, lexemes: list[_Lexeme]) -> Tree:
        """Build the tree."""
        expects_operand = True
        for position, lexeme in enumerate(lexemes):
            following = lexemes[position + 1] if position + 1 < len(lexemes) else None
            expects_operand = (
                self._operand(lexeme, following) if expects_operand else self._operator(lexeme)
            )
            if len(self.pending) > 3 * MAX_NESTING:
                raise self._fault(lexeme, f"More than {MAX_NESTING} levels of nesting")
        if expects_operand:
            raise _error(
                self.text,
                len(self.text),
                "The text ends where a number, a name or '(' should follow",
            )
        self._reduce(0)
        if self.pending:
            raise _error(self.text, self.pending[-1].position, "This '(' is never closed")
        return self.operands[0]

    def _operand(self, lexeme: _Lexeme, following: _Lexeme | None) -> bool:
        """Take a lexeme where an operand must begin; return whether one must still follow."""
        called = following is not None and following.kind == "symbol" and following.text == "("
        if lexeme.kind == "number":
            self.operands.append(self._number(lexeme))
            return False
        if lexeme.kind in ("name", "quoted"):
            if (
                called
                and lexeme.kind == "name"
                and (is_callable(lexeme.text) or lexeme.text not in self.columns)
            ):
                self._open(self._function(lexeme), lexeme)
                return True
            self.operands.append(self._name(lexeme))
            return False
        if lexeme.text == "(":
            if not (
                self.pending
                and self.pending[-1].name in FUNCTIONS
                and self.pending[-1].arguments == 0
            ):
                self._open("(", lexeme)
            self.pending[-1].arguments = 1
            return True
        if lexeme.text == "-":
            self.pending.append(_Pending("neg", OPERATORS["neg"].precedence, lexeme.position))
            return True
        if lexeme.text == "+":
            return True
        raise self._fault(lexeme, f"{lexeme.text!r} stands where a number, a name or '(' should be")

    def _operator(self, lexeme: _Lexeme) -> bool:
        """Take a lexeme where an operand has just ended; return whether one must follow."""
        if lexeme.kind != "symbol":
            raise self._fault(lexeme, f"An operator is missing before {lexeme.text!r}")
        if lexeme.text in _BINARY:
            name = _BINARY[lexeme.text]
            strength = OPERATORS[name].precedence
            self._reduce(strength + 1 if name == "pow" else strength)
            self.pending.append(_Pending(name, strength, lexeme.position))
            return True
        if lexeme.text == ")":
            self._reduce(0)
            if not self.pending:
                raise self._fault(lexeme, "This ')' closes nothing")
            bracket = self.pending.pop()
            self.depth -= 1
            if bracket.name != "(":
                self._check_count(bracket, lexeme)
                self._finish(bracket)
            return False
        if lexeme.text == ",":
            self._reduce(0)
            if not self.pending or self.pending[-1].name == "(":
                raise self._fault(lexeme, "A comma stands only between the arguments of a function")
            self.pending[-1].arguments += 1
            self._check_count(self.pending[-1], lexeme)
            return True
        raise self._fault(lexeme, f"An operator is missing before {lexeme.text!r}")

    def _check_count(self, call: _Pending, lexeme: _Lexeme) -> None:
        """Refuse an argument too many at its comma, and one too few at the bracket."""
        arity = OPERATORS[call.name].arity
        count = "one argument" if arity == 1 else "two arguments"
        if call.arguments > arity:
            raise self._fault(lexeme, f"{call.name} takes no more than {count}")
        if lexeme.text == ")" and call.arguments < arity:
            raise self._fault(lexeme, f"{call.name} takes {count}")

    def _open(self, name: str, lexeme: _Lexeme) -> None:
        if self.depth >= MAX_NESTING:
            raise self._fault(lexeme, f"More than {MAX_NESTING} levels of nesting")
        self.pending.append(_Pending(name, 0, lexeme.position, arguments=0))
        self.depth += 1

    def _reduce(self, strength: int) -> None:
        """Complete the waiting operators that bind at least so strongly, to the last bracket."""
        while self.pending and self.pending[-1].precedence >= max(strength, 1):
            self._finish(self.pending.pop())

    def _finish(self, entry: _Pending) -> None:
        count = OPERATORS[entry.name].arity
        operands = self.operands[-count:]
        del self.operands[-count:]
        self.operands.append(apply(entry.name, *operands))

    def _number(self, lexeme: _Lexeme) -> Tree:
        exponent = re.search(r"[eE]([+-]?[0-9]+)$", lexeme.text)
        # Looked at before the number is made: a large exponent alone would make one of millions of
        # digits.
        is_long = exponent is not None and (
            len(exponent[1]) > 5 or abs(int(exponent[1])) > LONGEST_NUMBER
        )
        if is_long or len(lexeme.text) > LONGEST_NUMBER:
            message = "A number is out of range: constants lie between 5e-324 and 1e300, and"
            raise self._fault(
                lexeme, f"{message} are written with at most {LONGEST_NUMBER} characters"
            )
        value = Fraction(lexeme.text)
        fault = number_fault(value)
        if fault is not None:
            raise self._fault(lexeme, f"A number is out of range: it {fault}")
        return constant(value)

    def _fault(self, lexeme: _Lexeme, message: str) -> ExpressionError:
        return _error(self.text, lexeme.position, message)

    def _function(self, lexeme: _Lexeme) -> str:
        name = ALIASES.get(lexeme.text, lexeme.text)
        if name in FUNCTIONS:
            return name
        hint = suggestion(lexeme.text, sorted(FUNCTIONS.keys() | ALIASES.keys())) or "."
        own = "An operator of your own is known once closedform.Operator has defined it"
        message = f"There is no function {lexeme.text!r}{hint} Known: {', '.join(FUNCTIONS)}. {own}"
        raise UnknownFunctionError(
            str(self._fault(lexeme, message)), name=lexeme.text, position=lexeme.position
        )

    def _name(self, lexeme: _Lexeme) -> Tree:
        if lexeme.text in self.columns:
            return variable(self.columns[lexeme.text])
        if lexeme.kind == "name" and lexeme.text in CONSTANT_ALIASES:
            return named_constant(CONSTANT_ALIASES[lexeme.text])
        if lexeme.text in FUNCTIONS:
            raise self._fault(
                lexeme, f"The function {lexeme.text!r} needs an argument in parentheses"
            )
        hint = suggestion(lexeme.text, self.columns) or "."
        known = ", ".join(self.columns) or "none"
        raise self._fault(lexeme, f"There is no input named {lexeme.text!r}{hint} Inputs: {known}")


def _error(text: str, position: int, message: str) -> ExpressionError:
    start = max(0, position - 20)
    excerpt = text[start : position + 20]
    return ExpressionError(
        f"{message} (at character {position}, near {excerpt!r}).", position=position
    )
