"""How complex a formula is, counted on its cheapest spelling, how long it is to write down with the
digits of its constants, and which of these are fitted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import log2
from typing import NamedTuple

from closedform.expressions.evaluate import operand_positions
from closedform.expressions.operators import (
    CONSTANT_COST,
    NAMED_CONSTANTS,
    OPERATORS,
    POWERS,
    VARIABLE_COST,
)
from closedform.expressions.tape import node_positions
from closedform.expressions.tolerances import SIMPLE_DENOMINATOR, SMALL_INTEGER
from closedform.expressions.tree import Constant, Token, Tree, Variable, constant


@dataclass(frozen=True)
class Costs:
    """What each kind of node costs; the default is the paper's appendix."""

    constant: int = CONSTANT_COST
    variable: int = VARIABLE_COST
    operators: Mapping[str, int] = field(default_factory=dict)  # in place of the table's

    def of(self, name: str) -> int:
        """The cost of an operator."""
        return self.operators.get(name, OPERATORS[name].cost)


class _SubtreeCost(NamedTuple):
    """The cost of a subtree, and what its parent must know to spell it otherwise."""

    cost: int
    key: int = 0  # structural hash, to see x*x as a square
    number: Fraction | None = None  # its value, if it is a plain number
    is_constant: bool = False
    negated: int | None = None  # cost of what is negated, if it is a negation


def complexity(tree: Tree, costs: Costs | None = None) -> int:
    """Sum of the costs of the nodes, each part in its cheapest spelling (x*x, square(x) and x**2
    are one thing).
    """
    chosen = Costs() if costs is None else costs

    def leaf(token: Token) -> _SubtreeCost:
        if isinstance(token, Variable):
            return _SubtreeCost(chosen.variable, hash(token))
        number = token.value if isinstance(token, Constant) else Fraction(NAMED_CONSTANTS[token])
        return _SubtreeCost(chosen.constant, hash(token), number, is_constant=True)

    def node(name: str, *parts: _SubtreeCost) -> _SubtreeCost:
        key = hash((name, *(part.key for part in parts)))
        if all(part.is_constant for part in parts):
            cost = chosen.of(name) + sum(part.cost for part in parts)
            return _SubtreeCost(min(chosen.constant, cost), key, is_constant=True)
        return _spell(name, parts, chosen)._replace(key=key)

    return tree.fold(leaf, node).cost


def _spell(name: str, parts: tuple[_SubtreeCost, ...], costs: Costs) -> _SubtreeCost:
    """The cheapest spelling of one operator on its operands."""
    plain = costs.of(name) + sum(part.cost for part in parts)
    if name in POWERS:
        return _SubtreeCost(_power(parts[0].cost, POWERS[name], costs))
    if name == "pow" and parts[1].number is not None:
        return _SubtreeCost(_power(parts[0].cost, parts[1].number, costs))
    if name == "mul" and parts[0].key == parts[1].key:
        return _SubtreeCost(_power(parts[0].cost, Fraction(2), costs))
    if name == "div" and parts[0].number == 1:
        return _SubtreeCost(_power(parts[1].cost, Fraction(-1), costs))
    if name == "neg" or (name == "mul" and any(part.number == -1 for part in parts)):
        inner = next(part.cost for part in parts if part.number != -1)
        return _SubtreeCost(min(plain, costs.of("neg") + inner), negated=inner)
    if name in ("add", "sub") and parts[1].negated is not None:
        opposite = "sub" if name == "add" else "add"
        return _SubtreeCost(min(plain, costs.of(opposite) + parts[0].cost + parts[1].negated))
    return _SubtreeCost(plain)


def _power(base: int, exponent: Fraction, costs: Costs) -> int:
    """The cheapest way to write a power: as such, by its own function, or by multiplication."""
    if exponent == 1:
        return base
    spellings = [costs.of("pow") + base + costs.constant]
    spellings += [costs.of(name) + base for name, value in POWERS.items() if value == exponent]
    if exponent == -1:
        spellings.append(costs.of("div") + costs.constant + base)
    if exponent.denominator == 1 and exponent >= 2:
        count = int(exponent)
        spellings.append(count * base + (count - 1) * costs.of("mul"))
    return min(spellings)


MOST_USUAL = 4
"""Whole numbers up to this are coefficients and powers that say nothing of having been fitted."""

FITTED = 4.0
"""What a fitted constant costs beyond its node: as much as a plain number of four bits. Its further
digits are paid for by the precision that the data give them."""


def description_length(tree: Tree, costs: Costs | None = None) -> float:
    """Complexity, and for each constant what its digits cost.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> plain, fitted = (parse(text).tree for text in ("x**2 + 2*y", "x**2 + 2.0173*y"))
    >>> round(description_length(fitted) - description_length(plain), 2)
    3.42
    """
    digits = 0.0
    for token in tree.tokens:
        if isinstance(token, Constant):
            value = token.value
            size = log2(1 + abs(value.numerator)) + log2(value.denominator)
            digits += max(size - 1, 0.0) if belongs_to_form(value) else FITTED
    return complexity(tree, costs) + digits


def hoped_length(tree: Tree) -> float:
    """The description without most of what fitted numbers cost: plain ones may take their places.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> tree = parse("1.06*x + y").tree
    >>> description_length(tree), hoped_length(tree)
    (11.0, 5.0)
    """
    hoped = FITTED + 2
    return description_length(tree) - hoped * len(fitted_positions(tree))


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


def chosen_numbers(tree: Tree) -> list[Fraction]:
    """The constants that are no small whole numbers: plain or not, others were chosen to fit.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> [str(number) for number in chosen_numbers(parse("2*x**3 + 3/2*y - 0.7173").tree)]
    ['3/2', '7173/10000']
    """
    numbers = [token.value for token in tree.tokens if isinstance(token, Constant)]
    return [value for value in numbers if value.denominator > 1 or abs(value) > MOST_USUAL]


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
