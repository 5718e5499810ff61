"""What rivals are made of: functions of quantities, each list made once."""

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as attribute

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.constants import subtrees
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Tree, apply, variable
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import Forms, rival_forms
from closedform.searching.structure_search.quantities import Data, Quantity, make_quantity

FAMILIES = 12
"""Functions that are tried for each part: those whose slopes are most like its own."""

N_COMBINED, ROUNDED = 20, 1e-9
"""Points at which gradients show what is a function of what, and how far rounding may turn them."""


@dataclass(frozen=True, slots=True)
class Stock:
    """Functions of quantities, each list made once.

    Attributes
    ----------
    data : Data
        Points at which slopes are compared.
    space : SearchSpace
        Limits what is made.
    known : dict
        By quantity: its values and its functions; None where it has no slope.
    """

    data: Data
    space: SearchSpace
    known: dict[Tree, tuple[Quantity, Forms] | None] = attribute(default_factory=dict)

    def of(self, inner: Tree) -> tuple[Quantity, Forms] | None:
        """The functions of a quantity."""
        if inner not in self.known:
            quantity = make_quantity(self.data, inner)
            self.known[inner] = quantity and (quantity, rival_forms(quantity, self.space))
        return self.known[inner]


def placed(outer: Tree, inner: Tree) -> Tree:
    """A function of the first input with another tree in that input's place; holes stay."""
    first = variable(0)
    return outer.fold(lambda token: inner if Tree((token,)) == first else Tree((token,)), apply)


def functions_of_several(tree: Tree, data: Data) -> Iterator[tuple[int, Tree]]:
    """Where a function of one combination of several inputs ends, and that combination: of
    5/(x*y - 6) it is x*y - 6, and also x*y; of x/y - y/x it is x/y, and y/x.
    """
    few = data.points[:N_COMBINED]
    for end, part in enumerate(subtrees(tree)):
        # A factor or a sign alone makes no other function.
        if len(part.variables) < 2 or part.root == "neg" or _is_scaled(part):
            continue
        for inner in dict.fromkeys(reversed(subtrees(part)[:-1])):
            if inner.variables == part.variables and _are_parallel(part, inner, few, data.names):
                yield end, inner


def _is_scaled(tree: Tree) -> bool:
    return tree.root == "mul" and any(child.is_constant for child in tree.children)


def _are_parallel(first: Tree, second: Tree, points: FloatArray, names: tuple[str, ...]) -> bool:
    """Whether two formulas have parallel gradients, as functions of each other have."""
    with np.errstate(all="ignore"):
        a, b = (Expression(tree, names).gradient(points) for tree in (first, second))
        cosines = (a * b).sum(axis=1) ** 2 / ((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return bool(np.all(cosines > 1 - ROUNDED))
