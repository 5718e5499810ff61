"""Sums in which a power of an input gets an exponent that is fitted: no library can hold x**0.7."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.operators import POWERS
from closedform.expressions.tree import Constant, Token, Tree, Variable, apply, constant, subtrees
from closedform.field.alignment.comparison import Comparison
from closedform.field.alignment.refit import Tapes
from closedform.searching.space import SearchSpace

MOST_SUMS = 4
"""How many of the best sums of each number of terms are tried."""

ITERATIONS = 25
_START = Fraction(11, 10)
_FACTOR = Fraction(97, 100)


def with_fitted_exponents(
    sums: Sequence[Expression], points: FloatArray, judge: Comparison, space: SearchSpace
) -> list[tuple[Tree, float]]:
    """Sums with one power of a positive input set free, fitted, and their misalignments.

    Parameters
    ----------
    sums : sequence of Expression
    points : ndarray, shape (n_points, n_inputs)
        Where inputs must be positive.
    judge : Comparison
    space : SearchSpace
        Formulas outside of it are left out.
    """
    if not space.allows_operator("pow"):
        return []
    positive = [column for column in range(points.shape[1]) if (points[:, column] > 0).all()]
    free = dict.fromkeys(
        Expression(tree, found.names)
        for found in sums
        for column in positive
        for tree in _set_free(found.tree, column)
    )
    if not free:
        return []
    tapes, misalignments = Tapes.of(list(free)).fit(judge, ITERATIONS)
    fitted = zip(tapes.read(), misalignments.tolist(), strict=True)
    return [(e.tree, value) for e, value in fitted if value < 1 and space.allows(e.tree, e.names)]


def _set_free(tree: Tree, column: int) -> Iterator[Tree]:
    """The tree with each kind of power of an input (1 is one) replaced by one with an exponent near
    it.
    """
    powers = {power for part in subtrees(tree) if (power := _power_of(part, column)) is not None}
    for power in sorted(powers):

        def leaf(token: Token) -> Tree:
            return Tree((token,))

        def node(name: str, *parts: Tree, power: Fraction = power) -> Tree:
            whole = apply(name, *parts)
            if _power_of(whole, column) is not None:
                return _replaced(whole, column, power)
            return apply(name, *(_replaced(part, column, power) for part in parts))

        yield _replaced(tree.fold(leaf, node), column, power)


def _replaced(tree: Tree, column: int, power: Fraction) -> Tree:
    if _power_of(tree, column) != power:
        return tree
    raised = apply("pow", Tree((Variable(column),)), constant(power * _START))
    return apply("mul", constant(_FACTOR), raised)


def _power_of(tree: Tree, column: int) -> Fraction | None:
    """The exponent, if a tree is a power of this input."""
    if tree.root == Variable(column):
        return Fraction(1)
    if tree.root in POWERS and tree.children[0].root == Variable(column):
        return POWERS[str(tree.root)]
    if (
        tree.root == "pow"
        and tree.children[0].root == Variable(column)
        and isinstance(tree.children[1].root, Constant)
    ):
        return tree.children[1].root.value
    return None
