"""Places of a formula: its parts that are functions of one quantity, and what is around them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.constants import subtrees
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import product_of, signed_terms, sum_of
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.alignment.tolerances import SAME
from closedform.searching.structure_search.quantities import Data

SLOT = variable(10**6)
"""Stands for the part in what is around it."""

N_COMBINED = 20
"""Points at which gradients show what is a function of what."""

Factors = list[tuple[Tree, int]]
"""Factors of a product, with powers 1 and -1."""


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a formula that is a function of one quantity."""

    around: Tree  # the formula, with `SLOT` for the part
    part: Tree
    inner: Tree  # the quantity: an input, or a combination of several

    @property
    def is_term(self) -> bool:
        """Whether the formula is a sum and this is a term of it: an offset says nothing."""
        return any(term == SLOT for _, term in signed_terms(self.around))

    @property
    def is_factor(self) -> bool:
        """Whether the formula is a product and this is a factor of it: its scale says nothing."""
        return any(base == SLOT for base, _ in factors_of(self.around))

    def filled(self, new: Tree) -> Tree:
        """The formula with another part."""
        return self.around.replaced(SLOT.root, new)


def places(tree: Tree, data: Data) -> list[Place]:
    """All places of a formula, each once.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 3))
    >>> field = cf.GradientField.from_arrays(points, points, names=["x", "y", "z"])
    >>> data = Data.of(field, 50, np.random.default_rng())
    >>> found = places(cf.parse("sqrt(z*(x - x**3) + sin(y))", names=field.names).tree, data)
    >>> [str(cf.Expression(place.part, field.names)) for place in found]
    ['x - x**3', 'sin(y)', 'z']
    """
    found = [
        Place(around, part, variable(min(part.variables)))
        for around, part in _around_parts_of_one(tree)
    ]
    for end, part, inner in _functions_of_several(tree, data):
        start = end + 1 - part.size
        around = Tree((*tree.tokens[:start], *SLOT.tokens, *tree.tokens[end + 1 :]))
        found.append(Place(around, part, inner))
    found += _functions_of_quotients(tree)
    # Terms and factors in another order make no other place.
    known = {(each.inner, frozenset(Counter(each.around.tokens).items())): each for each in found}
    return list(known.values())


def _around_parts_of_one(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Parts that depend on one input, the largest of them, after what is around each."""
    if len(tree.variables) == 1:
        yield SLOT, tree
    elif tree.root in ("add", "sub"):
        terms = [apply("neg", term) if sign < 0 else term for sign, term in signed_terms(tree)]
        yield from _groups_of_terms(terms)
        yield from _inside(terms, sum_of, least=2)
    elif tree.root in ("mul", "div"):
        factors = list(factors_of(tree))
        yield from _groups_of_factors(factors)
        bases, powers = zip(*factors, strict=True)
        yield from _inside(
            bases, lambda others: quotient_of(list(zip(others, powers, strict=True))), least=2
        )
    else:
        yield from _inside(tree.children, lambda parts: apply(str(tree.root), *parts), least=1)


def _inside(
    parts: Sequence[Tree], joined: Callable[[list[Tree]], Tree], *, least: int
) -> Iterator[tuple[Tree, Tree]]:
    """The same within each of several trees that depends on at least so many inputs."""
    for at, each in enumerate(parts):
        if len(each.variables) >= least:
            for around, part in _around_parts_of_one(each):
                yield joined([*parts[:at], around, *parts[at + 1 :]]), part


def _groups_of_terms(terms: Sequence[Tree]) -> Iterator[tuple[Tree, Tree]]:
    """Terms of a sum that depend on one input beside the same cofactor."""
    split = [list(factors_of(term)) for term in terms]
    for column in sorted(set().union(*(term.variables for term in terms))):
        groups: dict[object, list[int]] = {}
        for number, factors in enumerate(split):
            if all(
                base.variables == {column} or column not in base.variables for base, _ in factors
            ):
                cofactors = [pair for pair in factors if _is_cofactor(pair[0], column)]
                groups.setdefault(frozenset(cofactors), []).append(number)
        for numbers in groups.values():
            own = [[f for f in split[n] if not _is_cofactor(f[0], column)] for n in numbers]
            if not any(column in base.variables for factors in own for base, _ in factors):
                continue
            cofactor = [f for f in split[numbers[0]] if _is_cofactor(f[0], column)]
            rest = [term for n, term in enumerate(terms) if n not in numbers]
            around = quotient_of([*cofactor, (SLOT, 1)])
            yield sum_of([*rest, around]), sum_of([quotient_of(each) for each in own])


def _groups_of_factors(factors: Factors) -> Iterator[tuple[Tree, Tree]]:
    """Factors of a product that depend on one input alone."""
    for column in sorted(set().union(*(base.variables for base, _ in factors))):
        own = [pair for pair in factors if pair[0].variables == {column}]
        rest = [pair for pair in factors if pair not in own]
        if own and all(column not in base.variables for base, _ in rest):
            yield quotient_of([*rest, (SLOT, 1)]), quotient_of(own)


def _is_cofactor(tree: Tree, column: int) -> bool:
    """Whether a factor depends on other inputs; numbers belong to the part."""
    return bool(tree.variables) and column not in tree.variables


def _functions_of_several(tree: Tree, data: Data) -> Iterator[tuple[int, Tree, Tree]]:
    """Where a function of one combination of several inputs ends, that function, and the
    combination: of 5/(x*y - 6) it is x*y - 6, and also x*y; of x/y - y/x it is x/y, and y/x.
    """
    few = data.points[:N_COMBINED]
    for end, part in enumerate(subtrees(tree)):
        # A factor or a sign alone makes no other function.
        is_scaled = part.root == "mul" and any(child.is_constant for child in part.children)
        if len(part.variables) < 2 or part.root == "neg" or is_scaled:
            continue
        for inner in dict.fromkeys(reversed(subtrees(part)[:-1])):
            if inner.variables == part.variables and _are_parallel(part, inner, few, data.names):
                yield end, part, inner


def _are_parallel(first: Tree, second: Tree, points: FloatArray, names: tuple[str, ...]) -> bool:
    """Whether two formulas have parallel gradients, as functions of each other have."""
    with np.errstate(all="ignore"):
        a, b = (Expression(tree, names).gradient(points) for tree in (first, second))
        cosines = (a * b).sum(axis=1) ** 2 / ((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return bool(np.all(cosines > 1 - SAME))


def _functions_of_quotients(tree: Tree) -> Iterator[Place]:
    """In a product, sums of two terms: a + b is a*(1 + b/a), and b*(a/b + 1)."""
    factors = list(factors_of(tree))
    for number, (base, power) in enumerate(factors):
        terms = [
            [pair for pair in factors_of(term) if not pair[0].is_constant]
            for _, term in signed_terms(base)
        ]
        if len(terms) != 2 or not all(terms):
            continue
        others = [*factors[:number], *factors[number + 1 :]]
        for first, second in (terms, terms[::-1]):
            below = [(part, -place) for part, place in first]
            shared = {part for part, _ in first} & {part for part, _ in second}
            inner = quotient_of([pair for pair in second + below if pair[0] not in shared])
            if len(inner.variables) > 1:
                outside = [(part, power * place) for part, place in first]
                around = quotient_of([*others, *outside, (SLOT, power)])
                yield Place(around, quotient_of([(base, 1), *below]), inner)


def factors_of(tree: Tree, power: int = 1) -> Iterator[tuple[Tree, int]]:
    """The factors of a product or quotient, with powers 1 and -1."""
    if tree.root == "mul":
        for child in tree.children:
            yield from factors_of(child, power)
    elif tree.root == "div":
        yield from factors_of(tree.children[0], power)
        yield from factors_of(tree.children[1], -power)
    elif tree.root == "neg":
        yield constant(-1), 1
        yield from factors_of(tree.children[0], power)
    else:
        yield tree, power


def quotient_of(factors: Factors) -> Tree:
    """The product, or quotient, of factors with powers 1 and -1."""
    above = [base for base, power in factors if power > 0]
    below = [base for base, power in factors if power < 0]
    tree = product_of(above) if above else constant(1)
    return reduce(lambda whole, base: apply("div", whole, base), below, tree)
