"""The canonical form of a formula: the plainest one that is the same concept on the data."""

import heapq
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from math import inf, log
from typing import Any

from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, as_points
from closedform.canonical.algebra import Algebra
from closedform.canonical.peel import Sample, moves
from closedform.canonical.product_sums import (
    ONE,
    Factors,
    ProductSum,
    atom_order,
    awkwardness,
    is_simple,
    of_factors,
    split_constant,
)
from closedform.canonical.sum_spelling import plain_cost, spell
from closedform.canonical.tolerances import (
    FEW,
    HOPELESS,
    MAX_NODES,
    MAX_ROUNDS,
    MOST_VISITED,
    SAMPLE_POINTS,
    SLACK,
)
from closedform.errors import ExpressionError
from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.parse import sort_names
from closedform.expressions.sums_and_products import signed_terms, sum_of
from closedform.expressions.tree import Constant, Tree, apply, constant, decimal

_FAILURES = (ArithmeticError, ExpressionError, ValueError, RecursionError)


def canonical_form(expression: Expression, points: ArrayLike) -> Expression:
    """The plainest formula of the same concept.

    Parameters
    ----------
    expression : Expression
    points : array-like, shape (n_points, n_inputs)
        The data: a function around the formula is peeled off where it is monotone on the data's
        range.

    Returns
    -------
    Expression
        Never more complex than the one given (where x + x counts as 2*x). One that is constant or
        nowhere finite on the points comes back unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> print(canonical_form(cf.parse("0.173/(v**2 + x**2)"), points))
    v**2 + x**2
    >>> print(canonical_form(cf.parse("-v**2 + sin(x)/(-0.5)"), points))
    v**2/2 + sin(x)
    """
    array = as_points(points, len(expression.names))
    ordered, columns = in_name_order(expression)
    plainest = _fixed_point(ordered.tree, array[:, columns])
    return Expression(plainest, ordered.names).rename(expression.names)


def _fixed_point(tree: Tree, points: FloatArray) -> Tree:
    """Simplify until nothing changes; of forms that lead to each other in a circle, the least."""
    seen: list[Tree] = [tree]
    for _ in range(MAX_ROUNDS):
        following = simplified(seen[-1], points)
        if following in seen:
            circle = seen[seen.index(following) :]
            best = min(circle, key=cost)
            return best if complexity(best) <= complexity(_undoubled(tree)) else tree
        seen.append(following)
    return tree


def _undoubled(tree: Tree) -> Tree:
    """The tree with x + x as 2*x, also where other terms stand between them: the paper's complexity
    prefers the sum, readers do not.
    """

    def node(name: str, *operands: Tree) -> Tree:
        whole = apply(name, *operands)
        terms = list(signed_terms(whole)) if name in ("add", "sub") else []
        totals: Counter[Tree] = Counter()
        for sign, term in terms:
            totals[term] += sign
        if len(totals) == len(terms) or not all(totals.values()):
            return whole
        parts = sorted(totals.items(), key=lambda part: part[1] < 0)
        return sum_of([_multiple(number, term) for term, number in parts])

    return tree.fold(lambda token: Tree((token,)), node)


def _multiple(number: int, term: Tree) -> Tree:
    size = term if abs(number) == 1 else apply("mul", constant(abs(number)), term)
    return size if number > 0 else apply("neg", size)


def simplified(tree: Tree, points: FloatArray) -> Tree:
    """One search for a plainer form; the tree itself if there is none."""
    if tree.size > MAX_NODES or tree.is_constant:
        return tree
    every = Sample(tree, points)
    if len(every.points) < 2:
        return tree
    stride = max(1, len(every.points) // SAMPLE_POINTS)
    search = _Search(Sample(tree, every.points[::stride]), Algebra(every.sign_of), every)
    for _, form in search.run(tree):
        if every.is_same(form):
            return form
    return tree


def cost(tree: Tree) -> tuple[Any, ...]:
    """What decides between forms: complexity, brackets, numbers, logarithms, length, order."""
    digits = sum(awkwardness(token.value) for token in tree.tokens if isinstance(token, Constant))
    logarithms = tree.tokens.count("log")
    return complexity(tree), _brackets(tree), digits, logarithms, tree.size, atom_order(tree)


def _brackets(tree: Tree) -> int:
    """How many sums stand as factors of products."""

    def node(name: str, *operands: tuple[bool, int]) -> tuple[bool, int]:
        inside = sum(is_sum for is_sum, _ in operands) if name in ("mul", "div") else 0
        return name in ("add", "sub"), inside + sum(count for _, count in operands)

    return tree.fold(lambda token: (False, 0), node)[1]


@dataclass(frozen=True, slots=True)
class _Search:
    """Best first over forms of one concept."""

    sample: Sample
    algebra: Algebra
    every: Sample

    def run(self, tree: Tree) -> list[tuple[tuple[Any, ...], Tree]]:
        """The forms found, best first."""
        found: dict[ProductSum, tuple[tuple[Any, ...], Tree]] = {}
        queue: list[tuple[tuple[Any, ...], int, ProductSum]] = []
        ticket = count()

        def add(total: ProductSum) -> None:
            form = scaled(total, self.algebra)
            if form in found or not form.parts:
                return
            least = min((key[0] for key, _ in found.values()), default=inf)
            if len(form.parts) > FEW and plain_cost(form) > HOPELESS * (least + SLACK):
                return
            spelled = spell(form)
            if self.sample.is_same(spelled):
                found[form] = cost(spelled), spelled
                heapq.heappush(queue, (found[form][0], next(ticket), form))

        try:
            add(self.algebra.normal(tree))
        except _FAILURES:
            return []
        best = inf
        for _ in range(MOST_VISITED):
            if not queue:
                break
            key, _, form = heapq.heappop(queue)
            best = min(best, key[0])
            if key[0] > best + SLACK:
                break
            try:
                for move in moves(form, self.algebra, self.every):
                    add(move)
            except _FAILURES:
                continue
        return sorted(found.values())


def scaled(total: ProductSum, algebra: Algebra) -> ProductSum:
    """The sum without its constant, the first term positive, and with as few numbers as possible.

    Between scalings with as many numbers, measured ones are decimals near 1. If all are plain,
    functions rather than powers have the coefficient 1, then coefficients are integers, then small,
    then the first is 1. An empty sum is a constant.
    """
    varying = ProductSum(tuple(part for part in total.parts if split_constant(part[0])[1]))
    if not varying.parts:
        return varying
    divisors = dict.fromkeys(
        (split_constant(factors)[0], abs(number)) for factors, number in varying.parts
    )
    options = [_divided(varying, constants, number, algebra) for constants, number in divisors]
    best = min(enumerate(options), key=lambda option: (*_plainness(option[1]), option[0]))[1]
    return best if best.parts[0][1] > 0 else best.scaled(-ONE)


def _divided(
    total: ProductSum, constants: Factors, number: Fraction, algebra: Algebra
) -> ProductSum:
    if not constants:
        return total if number == 1 else total.scaled(1 / number)
    return algebra.distributed(
        total, of_factors([(atom, -power) for atom, power in constants], 1 / number)
    )


def _plainness(total: ProductSum) -> tuple[float, ...]:
    """What is compared between scalings, the first difference deciding."""
    written = [
        (factors, number)
        for factors, number in total.parts
        if abs(number) != 1 or split_constant(factors)[0]
    ]
    # A number over a bracket needs no multiplication sign, so it costs one less than a number
    # before a product.
    cost = sum(4 if any(power > 0 for _, power in factors) else 3 for factors, _ in written)
    measured = sum(not is_simple(number) for _, number in written)
    inverted = sum(power < 0 for factors, _ in written for _, power in split_constant(factors)[0])
    if measured:
        # The other rules are about plain numbers; measured ones should be decimals near 1, so that
        # no small term leads.
        endless = sum(decimal(number) is None for _, number in written)
        size = round(sum(abs(log(abs(number))) for _, number in written), 6)
        return cost, measured, inverted, endless, size
    functions = sum(
        any(not atom.is_input for atom, _ in split_constant(factors)[1]) for factors, _ in written
    )
    digits = sum(awkwardness(abs(number)) for _, number in written)
    return cost, measured, inverted, functions, digits


def in_name_order(expression: Expression) -> tuple[Expression, list[int]]:
    """The formula with its inputs in the order of their names, and where each one's column was.

    Examples
    --------
    >>> import closedform as cf
    >>> ordered, columns = in_name_order(cf.parse("x - v", names=["x", "v"]))
    >>> ordered.names, columns
    (('v', 'x'), [1, 0])
    """
    names = sort_names(expression.names)
    return expression.rename(names), [expression.names.index(name) for name in names]


def sum_of_terms(expression: Expression) -> ProductSum | None:
    """The formula as a sum of products of its inputs in the order of their names; None if it is
    not a number anywhere. `formula_of_terms` leads back.
    """
    try:
        return Algebra().normal(in_name_order(expression)[0].tree)
    except (ArithmeticError, ExpressionError):
        return None


def formula_of_terms(total: ProductSum, like: Expression) -> Expression | None:
    """A sum of the inputs of a formula, scaled like canonical forms; None for a constant."""
    form = scaled(total, Algebra())
    names = tuple(sort_names(like.names))
    return Expression(spell(form), names).rename(like.names) if form.parts else None
