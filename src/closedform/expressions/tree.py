"""The immutable expression tree, stored flat in postfix order, and which numbers it can hold.

Flat means: equality and hashing are those of a tuple, pickling and every traversal are loops, and
no depth of nesting can exhaust Python's stack. A subtree is a slice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction
from math import isfinite
from typing import TypeVar

from closedform.errors import ExpressionError
from closedform.expressions.operators import NAMED_CONSTANTS, OPERATORS
from closedform.expressions.tolerances import (
    LARGEST_CONSTANT,
    MAX_DIGITS,
    MAX_SIZE,
    SHORT_DECIMAL,
    SMALLEST_CONSTANT,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Constant:
    """An exact rational number."""

    value: Fraction

    def __hash__(self) -> int:
        # Trees are looked up often, and a fraction's own hash takes a modular inverse each time.
        return hash((self.value.numerator, self.value.denominator))


@dataclass(frozen=True, slots=True)
class Variable:
    """An input, by its column."""

    index: int


Token = Constant | Variable | str
"""A node: a number, an input, or the name of an operator or of a named constant."""


@dataclass(frozen=True, slots=True)
class Tree:
    """An expression without names: its nodes in postfix order, operands before their operator.

    Build trees with `constant`, `variable` and `apply`.

    Examples
    --------
    >>> apply("add", variable(0), constant(0.5)).size
    3
    """

    tokens: tuple[Token, ...]

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.tokens)

    @property
    def root(self) -> Token:
        """The outermost node."""
        return self.tokens[-1]

    @property
    def children(self) -> tuple["Tree", ...]:
        """The operands of the outermost node."""
        root = self.tokens[-1]
        if arity(root) == 0:
            return ()
        if arity(root) == 1:
            return (Tree(self.tokens[:-1]),)
        split = _start_of_last_operand(self.tokens)
        return Tree(self.tokens[:split]), Tree(self.tokens[split:-1])

    @property
    def variables(self) -> frozenset[int]:
        """Columns of the inputs that occur."""
        return frozenset(token.index for token in self.tokens if isinstance(token, Variable))

    @property
    def is_constant(self) -> bool:
        """Whether no input occurs."""
        return not any(isinstance(token, Variable) for token in self.tokens)

    def fold(self, leaf: Callable[[Token], T], node: Callable[..., T]) -> T:
        """Combine results from the leaves up: ``leaf(token)``, then ``node(name, *results)``."""
        stack: list[T] = []
        for token in self.tokens:
            count = arity(token)
            if count == 0:
                stack.append(leaf(token))
            else:
                operands = stack[-count:]
                del stack[-count:]
                stack.append(node(token, *operands))
        return stack[0]

    def replaced(self, token: Token, tree: "Tree") -> "Tree":
        """The tree with another in the place of a leaf, wherever it stands."""
        return self.fold(lambda leaf: tree if leaf == token else Tree((leaf,)), apply)


def arity(token: Token) -> int:
    """How many operands a node takes."""
    operator = OPERATORS.get(token) if isinstance(token, str) else None
    return 0 if operator is None else operator.arity


def constant(value: Fraction | int | float | str) -> Tree:
    """A number, kept exactly; a float stands for its shortest decimal, so 0.1 is one tenth."""
    if isinstance(value, float):
        if not isfinite(value):
            raise ExpressionError(
                f"{value} is not a number that an expression can hold; use a finite constant."
            )
        value = repr(float(value))
    exact = Fraction(value)
    fault = number_fault(exact)
    if fault is not None:
        raise ExpressionError(f"A constant {fault}; rescale the inputs, or round it.")
    return Tree((Constant(exact),))


def variable(index: int) -> Tree:
    """The input in a column, counted from 0."""
    if index < 0:
        raise ExpressionError(f"Input columns are counted from 0; got {index}.")
    return Tree((Variable(index),))


def named_constant(name: str) -> Tree:
    """A number with a name, such as pi."""
    if name not in NAMED_CONSTANTS:
        raise ExpressionError(
            f"There is no constant named {name!r}; known: {', '.join(NAMED_CONSTANTS)}."
        )
    return Tree((name,))


def apply(name: str, *operands: Tree) -> Tree:
    """An operator on its operands.

    A negated number and a quotient of two numbers become one number, so that ``-3`` and ``1/3``
    have one spelling only. A quotient that no constant can hold stays a quotient.
    """
    operator = OPERATORS.get(name)
    if operator is None:
        raise ExpressionError(
            f"There is no operator named {name!r}; known: {', '.join(OPERATORS)}."
        )
    if len(operands) != operator.arity:
        raise ExpressionError(f"{name} takes {operator.arity} operand(s); got {len(operands)}.")
    number = _number(name, operands)
    if number is not None:
        return number
    tokens: tuple[Token, ...] = (
        *operands[0].tokens,
        *(operands[1].tokens if len(operands) == 2 else ()),
        name,
    )
    if len(tokens) > MAX_SIZE:
        raise ExpressionError(
            f"The expression has more than {MAX_SIZE} nodes; write a shorter one."
        )
    return Tree(tokens)


def subtrees(tree: Tree) -> list[Tree]:
    """The tree below each node, in the order of the nodes.

    Examples
    --------
    >>> [part.size for part in subtrees(apply("mul", variable(0), apply("sin", variable(1))))]
    [1, 1, 2, 4]
    """
    starts: list[int] = []
    for position, token in enumerate(tree.tokens):
        start = position
        for _ in range(arity(token)):
            start = starts[start - 1]
        starts.append(start)
    return [Tree(tree.tokens[start : end + 1]) for end, start in enumerate(starts)]


def _number(name: str, operands: tuple[Tree, ...]) -> Tree | None:
    values = [operand.root.value for operand in operands if isinstance(operand.root, Constant)]
    if name == "neg" and len(values) == 1:
        return Tree((Constant(-values[0]),))
    if name == "div" and len(values) == 2 and values[1] != 0:
        quotient = values[0] / values[1]
        return Tree((Constant(quotient),)) if number_fault(quotient) is None else None
    return None


def _start_of_last_operand(tokens: tuple[Token, ...]) -> int:
    """Where the second operand of the last node begins."""
    missing, position = 1, len(tokens) - 2
    while True:
        missing += arity(tokens[position]) - 1
        if missing == 0:
            return position
        position -= 1


def number_fault(value: Fraction) -> str | None:
    """Why no expression can hold a number; None if one can."""
    above, below = abs(value.numerator), value.denominator
    if above <= LARGEST_CONSTANT and below <= LARGEST_CONSTANT:
        return None
    if above > LARGEST_CONSTANT * below:
        return "is larger than 1e300, where floating-point numbers end"
    if abs(value) < SMALLEST_CONSTANT:
        return "is smaller than 5e-324, where floating-point numbers end"
    if decimal(value, MAX_DIGITS) is None:
        return f"has more than {MAX_DIGITS} digits"
    return None


def number_text(value: Fraction) -> str:
    """The text of a number that an expression can hold: a decimal, or a quotient of integers."""
    short = decimal(value)
    if short is not None:
        return short
    if value.denominator == 1:
        return str(value.numerator)
    if max(abs(value.numerator), value.denominator) <= LARGEST_CONSTANT:
        return f"{value.numerator}/{value.denominator}"
    return decimal(value, MAX_DIGITS) or f"{value.numerator}/{value.denominator}"


def decimal(value: Fraction, digits_at_most: int = SHORT_DECIMAL) -> str | None:
    """The exact decimal text of a number, or None if it has none of at most so many digits."""
    with localcontext(Context(prec=digits_at_most, traps=[Inexact])):
        try:
            exact = (Decimal(value.numerator) / Decimal(value.denominator)).normalize()
        except Inexact:
            return None
    if -5 <= exact.adjusted() <= 16:
        return f"{exact:f}"
    return f"{exact:e}".replace("e+", "e")
