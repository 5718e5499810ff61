"""How complex an expression is, counted on its cheapest spelling, and how long it is to write down
with the digits of its constants.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import log2
from typing import NamedTuple

from closedform.expressions.fitted_constants import belongs_to_form, fitted_positions
from closedform.expressions.operators import (
    CONSTANT_COST,
    NAMED_CONSTANTS,
    OPERATORS,
    POWERS,
    VARIABLE_COST,
)
from closedform.expressions.tree import Constant, Token, Tree, Variable


@dataclass(frozen=True)
class Costs:
    """What each kind of node costs; the default is the paper's appendix.

    Examples
    --------
    >>> Costs(operators={"sin": 1}).of("sin")
    1
    """

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
