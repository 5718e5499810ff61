"""Which numbers of an expression are fitted, and which are plain and belong to its form."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from closedform.expressions.evaluate import operand_positions
from closedform.expressions.tape import node_positions
from closedform.expressions.tolerances import SIMPLE_DENOMINATOR, SMALL_INTEGER
from closedform.expressions.tree import Constant, Token, Tree, constant


def belongs_to_form(value: Fraction) -> bool:
    """Whether a number is one that people write: an integer, or a fraction with a denominator up to
    4.
    """
    return value.denominator <= SIMPLE_DENOMINATOR and abs(value.numerator) <= SMALL_INTEGER


def fitted_positions(tree: Tree) -> tuple[int, ...]:
    """Positions of the tokens that are fitted constants: numbers that nobody would write."""
    return tuple(
        i
        for i, token in enumerate(tree.tokens)
        if isinstance(token, Constant) and not belongs_to_form(token.value)
    )


def constant_values(tree: Tree, positions: Sequence[int]) -> list[float]:
    """Values of the constants at these positions."""
    tokens = [tree.tokens[position] for position in positions]
    return [float(token.value) for token in tokens if isinstance(token, Constant)]


def with_numbers(tree: Tree, positions: Sequence[int], values: Sequence[float]) -> Tree:
    """The same tree with other constants at these positions."""
    tokens: list[Token] = list(tree.tokens)
    for position, value in zip(positions, values, strict=True):
        tokens[position] = constant(float(value)).root
    return Tree(tuple(tokens))


def number_positions(tree: Tree, positions: Sequence[int]) -> list[int]:
    """Where the numbers stand that move constants: those themselves, and of a computed one, such as
    log(0.3), the first number inside it. Constants with a name alone have none, and exponents that
    are no node of their own on a tape.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> tree = parse("2*x + log(0.3)").tree
    >>> tree.tokens[4], number_positions(tree, [0, 4])
    ('log', [0, 3])
    """
    found: list[int] = []
    operands, nodes = operand_positions(tree), node_positions(tree)
    for position in positions:
        inside = [position]
        for place in inside:
            inside += operands[place]
        numbers = [place for place in inside if isinstance(tree.tokens[place], Constant)]
        found += sorted(numbers)[:1]
    return [place for place in found if place in nodes]


@dataclass(frozen=True, slots=True)
class _Hole:
    """Stands for a constant in a skeleton."""


def skeleton(tree: Tree) -> tuple[object, ...]:
    """The form of a tree: its tokens with every factor that could be fitted left open; exponents
    stay.
    """
    tokens = tree.tokens
    hole = _Hole()
    return tuple(
        hole
        if isinstance(token, Constant) and not (i + 1 < len(tokens) and tokens[i + 1] == "pow")
        else token
        for i, token in enumerate(tokens)
    )
