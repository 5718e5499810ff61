"""How long a formula is to write down: its operators, and the digits of its constants."""

from math import log2

from closedform.expressions.complexity import Costs, complexity
from closedform.expressions.fitted_constants import belongs_to_form, fitted_positions
from closedform.expressions.tree import Constant, Tree

FITTED = 4.0
"""What a fitted constant costs beyond its node: as much as a plain number of four bits. Its further
digits are paid for by the precision that the data give them.
"""


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


def hoped_length(tree: Tree, costs: Costs | None = None) -> float:
    """The description without most of what fitted numbers cost: plain ones may take their places.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> tree = parse("1.06*x + y").tree
    >>> description_length(tree), hoped_length(tree)
    (11.0, 5.0)
    """
    hoped = FITTED + 2
    return description_length(tree, costs) - hoped * len(fitted_positions(tree))
