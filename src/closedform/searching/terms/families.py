"""Libraries of polynomials with one family of functions: well-conditioned enough for the null space
to mean something.

With sines, exponentials and reciprocals of all inputs together nearly every function can be written
nearly exactly, and a null space holds all of that. With one family it holds little beside what is
there.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, permutations
from math import comb, log2

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.evaluate import evaluate
from closedform.expressions.operators import FUNCTIONS
from closedform.expressions.sums_and_products import opposite, power_of, product_of, times
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.searching.space import SearchSpace
from closedform.searching.terms.library import (
    Term,
    generated_functions,
    in_units,
    is_defined,
    shape_of,
)

FAMILIES = (
    "polynomials",
    "reciprocals",
    "radicals",
    "sines",
    "exponentials",
    "logarithms",
    "others",
)
MOST_MONOMIALS = 600
MOST_TERMS = 600
FEW = 100
"""Families of at least so many terms are also tried by half."""

MOST_PRODUCTS = 3000
MOST_INPUTS = 12
"""With more inputs only polynomials are tried."""

DEGREE_BESIDE = 3
"""Degree of the polynomials that stand beside functions."""

_IN_FAMILIES = {"sqrt", "sin", "cos", "exp", "log"}


def family_library(
    family: str,
    space: SearchSpace,
    names: Sequence[str],
    points: FloatArray,
    scale: FloatArray,
    degree: int | None = None,
) -> list[Term]:
    """The terms of a family that a space allows, cheapest first.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    space : SearchSpace
    names : sequence of str
    points : ndarray, shape (n_points, n_inputs)
        Where terms must be defined.
    scale : ndarray, shape (n_inputs,)
        The spread of each input.
    degree : int, optional
        Of the polynomials; 3, or less with many inputs, beside functions.

    Examples
    --------
    >>> import numpy as np
    >>> from closedform.expressions.expression import Expression
    >>> points = np.random.default_rng(0).uniform(1, 2, (20, 2))
    >>> terms = family_library("logarithms", SearchSpace(), ["x", "y"], points, np.ones(2), 1)
    >>> [str(Expression(term.tree, ("x", "y"))) for term in terms]
    ['x', 'y', 'log(x)', 'log(y)', 'y*log(x)', 'x*log(y)']
    """
    n_inputs = len(names)
    few = [d for d in range(2, DEGREE_BESIDE + 1) if comb(n_inputs + d, d) <= MOST_TERMS / 2]
    top = min(max(few, default=1) if degree is None else degree, space.max_degree)
    monomials = {
        powers: _monomial(powers)
        for d in range(1, top + 1)
        for powers in combinations_with_replacement(range(n_inputs), d)
    }
    trees = list(monomials.values())
    if family != "polynomials":
        functions = list(
            _others(space, points, scale)
            if family == "others"
            else _functions(family, points, scale)
        )
        factors = [
            tree for powers, tree in monomials.items() if len(powers) <= 2 or len(set(powers)) == 1
        ]
        if len(functions) * len(factors) > MOST_PRODUCTS:
            factors = [tree for powers, tree in monomials.items() if len(powers) == 1]
        alone = (
            {tree for powers, tree in monomials.items() if len(powers) == 1}
            if family == "radicals"
            else set()
        )
        trees += _with_factors(functions, factors, alone)
    costs: dict[tuple, int] = {}
    kept = [
        Term(
            tree,
            costs[shape]
            if (shape := shape_of(tree)) in costs
            else costs.setdefault(shape, complexity(tree, space.costs)),
        )
        for tree in dict.fromkeys(trees)
        if space.allows(tree, names)
    ]
    kept.sort(
        key=lambda term: (
            term.cost + 0.5 * log2(n_inputs) * len(term.tree.variables),
            term.tree.size,
        )
    )
    return kept if family == "polynomials" else kept[:MOST_TERMS]


def family_libraries(
    space: SearchSpace,
    names: Sequence[str],
    points: FloatArray,
    scale: FloatArray,
    *,
    by_half: bool,
) -> Iterator[list[Term]]:
    """Polynomials of growing degree, then each family of functions, also its cheaper half before
    all of it if asked for.
    """
    if not space.allows_operator("add"):
        return
    for degree in range(2, space.max_degree + 1):
        if comb(len(names) + degree, degree) <= MOST_MONOMIALS:
            yield family_library("polynomials", space, names, points, scale, degree)
    for family in FAMILIES[1:] if len(names) <= MOST_INPUTS else ():
        terms = family_library(family, space, names, points, scale)
        if any(_holds_function(term.tree) for term in terms):
            if by_half and len(terms) >= FEW:
                yield terms[: len(terms) // 2]
            yield terms


def _functions(family: str, points: FloatArray, scale: FloatArray) -> Iterator[Tree]:
    n_inputs = len(scale)
    inputs = [variable(i) for i in range(n_inputs)]
    differences = [_positive(apply("sub", a, b), points) for a, b in combinations(inputs, 2)]
    angles = [in_units(i, float(scale[i])) for i in range(n_inputs)]
    plain = [
        tree
        for tree in differences
        if tree.variables <= {i for i in range(n_inputs) if angles[i] == inputs[i]}
    ]
    if family == "reciprocals":
        for x in inputs:
            if _keeps_sign(x, points):
                yield from (
                    apply("div", constant(1), power_of(x, exponent)) for exponent in (1, 2, 3)
                )
        for d in differences:
            if _keeps_sign(d, points):
                yield from (apply("div", constant(1), power_of(d, exponent)) for exponent in (1, 2))
    if family == "radicals":
        for x in inputs:
            if evaluate(x, points).min() > 0:
                yield from (apply("sqrt", x), apply("div", constant(1), apply("sqrt", x)))
        squares = [power_of(x, 2) for x in inputs]
        for count in (2, 3):
            for some in combinations(squares, count) if n_inputs <= 8 else ():
                total = some[0]
                for other in some[1:]:
                    total = apply("add", total, other)
                yield apply("sqrt", total)
                if _keeps_sign(total, points):
                    yield apply("div", constant(1), apply("sqrt", total))
    if family == "sines":
        sums = [apply("add", *tree.children) for tree in plain]
        yield from (
            apply(name, tree) for tree in (*angles, *plain, *sums) for name in ("sin", "cos")
        )
    if family == "exponentials":
        for tree in (*angles, *plain):
            yield apply("exp", tree)
            yield apply("exp", opposite(tree) if tree.root == "sub" else apply("neg", tree))
    if family == "logarithms":
        yield from (
            apply("log", tree)
            for tree in (*inputs, *differences)
            if evaluate(tree, points).min() > 0
        )


def _others(space: SearchSpace, points: FloatArray, scale: FloatArray) -> Iterator[Tree]:
    """Functions of inputs, and of two, that have no family of their own."""
    inputs = [variable(i) for i in range(len(scale))]
    angles = [in_units(i, float(scale[i])) for i in range(len(scale))]
    for operator in generated_functions(space):
        if operator.name in _IN_FAMILIES:
            continue
        if operator.arity == 1:
            yield from (
                apply(operator.name, x) for x in angles if is_defined(operator, evaluate(x, points))
            )
        else:
            order = combinations if operator.is_symmetric else permutations
            yield from (apply(operator.name, *pair) for pair in order(inputs, 2))


def _holds_function(tree: Tree) -> bool:
    return any(
        token == "div" or token in FUNCTIONS for token in tree.tokens if isinstance(token, str)
    )


def _with_factors(
    functions: Sequence[Tree], factors: Sequence[Tree], may_share: set[Tree]
) -> list[Tree]:
    """The functions, and their products with factors that hold other inputs, or may hold the
    same.
    """
    products = [
        times(factor, function)
        for function in functions
        for factor in factors
        if factor in may_share or not function.variables & factor.variables
    ]
    return [*functions, *products]


def _monomial(powers: Sequence[int]) -> Tree:
    return product_of(
        power_of(variable(index), powers.count(index)) for index in dict.fromkeys(powers)
    )


def _positive(difference: Tree, points: FloatArray) -> Tree:
    """The difference in the order in which it is positive, if it keeps its sign."""
    return opposite(difference) if evaluate(difference, points).max() < 0 else difference


def _keeps_sign(tree: Tree, points: FloatArray) -> bool:
    values = evaluate(tree, points)
    return bool((values > 0).all() or (values < 0).all())
