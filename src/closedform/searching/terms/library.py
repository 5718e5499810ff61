"""The library of the term search: terms made from the operator table and the space, cheapest
first.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, islice, permutations
from math import log2, log10

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.evaluate import NUMPY, evaluate
from closedform.expressions.expression import Expression
from closedform.expressions.operators import FUNCTIONS, OPERATORS, Operator
from closedform.expressions.parse import parse
from closedform.expressions.sums_and_products import opposite, power_of, product_of, times
from closedform.expressions.tree import Constant, Tree, Variable, apply, constant, variable
from closedform.searching.space import SearchSpace

PLAIN_SPREAD = (0.02, 50.0)
"""Inputs of this spread stand in functions as they are; others, as multiples of a power of ten."""

MOST_PAIRED = 12
"""Inputs, by importance, of which functions of two are tried."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a library.

    Attributes
    ----------
    tree : Tree
    cost : int
        Its complexity.
    is_given : bool
        Whether the user supplied it; then the space's limits on operators do not apply to it.
    """

    tree: Tree
    cost: int
    is_given: bool = False


def build_library(
    space: SearchSpace,
    names: Sequence[str],
    points: FloatArray,
    scale: FloatArray,
    importance: FloatArray,
    limit: int,
) -> list[Term]:
    """The cheapest terms of a space, the user's own before all others.

    Parameters
    ----------
    space : SearchSpace
    names : sequence of str
        The field's inputs.
    points : ndarray, shape (n_points, n_inputs)
        Where terms must be defined: a logarithm or reciprocal whose argument changes sign there is
        left out, because a network has no poles among its data.
    scale : ndarray, shape (n_inputs,)
        The spread of each input.
    importance : ndarray, shape (n_inputs,)
        How much the field depends on each input; among terms of one cost the more important inputs
        come first.
    limit : int
        Largest number of terms.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    >>> space = SearchSpace(operators=["add", "mul"], max_degree=2)
    >>> library = build_library(space, ["x", "y"], points, np.ones(2), np.ones(2), 10)
    >>> [str(Expression(term.tree, ("x", "y"))) for term in library]
    ['x', 'y', 'x**2', 'y**2', 'x*y']
    """
    maker = _Maker(space, tuple(names), points, scale, importance, limit)
    given = _given_terms(space, names, maker)
    known = {term.tree for term in given}
    made = [term for term in maker.terms() if term.tree not in known]
    return (given + made)[: max(limit, len(given))]


def _given_terms(space: SearchSpace, names: Sequence[str], maker: "_Maker") -> list[Term]:
    """The user's terms and guesses, and the parts of the guesses that the space allows."""
    found: dict[Tree, Term] = {}

    def take(tree: Tree, is_given: bool) -> None:
        if not tree.is_constant and tree not in found and (is_given or maker.allows(tree)):
            found[tree] = Term(tree, maker.cost(tree), is_given)

    for item in (*space.terms, *space.guesses):
        take(_read(item, names).tree, True)
    for item in space.guesses:
        for part in _parts(_read(item, names).tree):
            take(part, False)
    return list(found.values())


def _read(item: Expression | str, names: Sequence[str]) -> Expression:
    return parse(item, names=names) if isinstance(item, str) else item.rename(names)


def _parts(tree: Tree) -> Iterator[Tree]:
    """Every subtree."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += part.children


@dataclass
class _Maker:
    """Makes terms class by class, and forgets what costs more than the limit leaves room for."""

    space: SearchSpace
    names: tuple[str, ...]
    points: FloatArray
    scale: FloatArray
    importance: FloatArray
    limit: int
    _costs: dict[tuple, int] = field(default_factory=dict)
    _allowed: dict[tuple, bool] = field(default_factory=dict)

    def terms(self) -> list[Term]:
        """All classes, sorted by cost, cut at the limit."""
        inputs = [int(i) for i in np.argsort(-self.importance, kind="stable")]
        self._place = {column: place for place, column in enumerate(inputs)}
        plain = [variable(i) for i in inputs]
        arguments = [in_units(i, float(self.scale[i])) for i in inputs]
        monomials = self._cheapest(self._monomials(plain))
        small = self._arguments(self._small_polynomials(arguments))
        functions = self._cheapest(
            [*self._functions(small, set(arguments)), *self._functions_of_two(plain)]
        )
        kept = self._cheapest([*monomials, *functions])
        # A product costs what its factors do and one operator: those above the dearest kept term
        # need not be made.
        room = self._rank(kept[-1])[0] if len(kept) == self.limit else self.space.max_complexity
        kept = self._cheapest([*kept, *self._products(monomials, functions, set(arguments), room)])
        return [Term(tree, self.cost(tree)) for tree in kept]

    @property
    def _per_input(self) -> float:
        return 0.5 * log2(len(self.names))

    def cost(self, tree: Tree) -> int:
        """Complexity, computed once for each shape."""
        shape = shape_of(tree)
        if shape not in self._costs:
            self._costs[shape] = complexity(tree, self.space.costs)
        return self._costs[shape]

    def allows(self, tree: Tree) -> bool:
        """Whether the space allows a term; the part without templates once for each shape if inputs
        do not matter.
        """
        return self._allows_inside(tree) and self.space.has_form(tree, self.names)

    def _allows_inside(self, tree: Tree) -> bool:
        by_input = self.space.inside or self.space.legality is not None
        key = tree.tokens if by_input else shape_of(tree)
        if key not in self._allowed:
            self._allowed[key] = self.space.allows_inside(tree, self.names)
        return self._allowed[key]

    def _cheapest(self, trees: Iterable[Tree]) -> list[Tree]:
        # Ranking is cheap, and few of the dear ones are ever asked for.
        ranked = sorted(dict.fromkeys(trees), key=self._rank)
        return list(islice(filter(self.allows, ranked), self.limit))

    def _arguments(self, trees: Iterable[Tree]) -> list[Tree]:
        """The cheapest to stand inside functions: there a template does not apply."""
        ranked = sorted(dict.fromkeys(trees), key=self._rank)
        return list(islice(filter(self._allows_inside, ranked), self.limit))

    def _rank(self, tree: Tree) -> tuple[float, int, int]:
        """Cheap terms first, and those of few inputs: of each kind with j inputs there are about
        n_inputs**j.

        Half a unit keeps x*y before x/y: of a quadratic form no part may be missing from the first
        library.
        """
        used = tree.variables
        cost = self.cost(tree) + self._per_input * len(used) + (0.5 if tree.root == "div" else 0.0)
        return cost, tree.size, max(self._place[i] for i in used)

    def _monomials(self, inputs: list[Tree]) -> Iterator[Tree]:
        made = 0
        for degree in range(1, self.space.max_degree + 1):
            for factors in combinations_with_replacement(range(len(inputs)), degree):
                counts = sorted(_counts(factors), key=lambda pair: _column(inputs[pair[0]]))
                yield product_of(power_of(inputs[i], count) for i, count in counts)
                made += 1
                # Higher degrees cost more, but for powers of one input.
                if made > 20 * self.limit:
                    return

    def _small_polynomials(self, inputs: list[Tree]) -> Iterator[Tree]:
        squares = [power_of(x, 2) for x in inputs]
        yield from inputs
        yield from squares
        # Inputs come by importance, and stand in formulas in the user's order.
        some = sorted(range(min(len(inputs), 40)), key=lambda i: _column(inputs[i]))
        few = sorted(range(min(len(inputs), 12)), key=lambda i: _column(inputs[i]))
        for i, j in combinations(some, 2):
            yield apply("mul", inputs[i], inputs[j])
            yield apply("add", inputs[i], inputs[j])
            yield apply("sub", inputs[i], inputs[j])
            yield apply("add", squares[i], squares[j])
        for i, j, k in combinations(few, 3):
            yield apply("add", apply("add", squares[i], squares[j]), squares[k])
        for i in few:
            yield apply("mul", constant(2), inputs[i])
        for x in (*inputs, *squares):
            yield apply("add", constant(1), x)
        for i, j in combinations(few, 2):
            yield apply("add", constant(1), apply("add", squares[i], squares[j]))

    def _functions(self, small: list[Tree], inputs: set[Tree]) -> Iterator[Tree]:
        """Functions, reciprocals and radicals of small polynomials."""
        operators = [
            operator for operator in generated_functions(self.space) if operator.arity == 1
        ]
        names = [operator.name for operator in operators]
        for tree in small:
            values = evaluate(tree, self.points)
            if not np.isfinite(values).all():
                continue
            low = float(values.min(initial=np.inf))
            kind = _kind(tree)
            for operator in operators:
                if kind not in operator.pointless and is_defined(operator, values):
                    yield apply(operator.name, tree)
                elif (
                    tree.root == "sub"
                    and not is_defined(operator, values)
                    and is_defined(operator, -values)
                ):
                    yield apply(operator.name, opposite(tree))
            if (
                "exp" in names
                and kind not in OPERATORS["exp"].pointless
                and (tree in inputs or low >= 0)
            ):
                yield apply("exp", apply("neg", tree))
            elif "exp" in names and tree.root == "sub":
                yield apply("exp", opposite(tree))
            base = evaluate(tree.children[0], self.points) if kind == "square" else values
            if kind != "twice" and (base.min(initial=np.inf) > 0 or base.max(initial=-np.inf) < 0):
                yield _reciprocal(tree)
                if kind != "square":
                    yield _reciprocal(power_of(tree, 2))
                if tree in inputs:
                    yield _reciprocal(power_of(tree, 3))
                if low > 0 and "sqrt" in names and kind != "square":
                    yield _reciprocal(apply("sqrt", tree))

    def _functions_of_two(self, inputs: list[Tree]) -> Iterator[Tree]:
        """Functions of two inputs, in both orders if that matters."""
        for operator in generated_functions(self.space):
            if operator.arity == 2:
                order = combinations if operator.is_symmetric else permutations
                some = sorted(
                    range(min(len(inputs), MOST_PAIRED)), key=lambda i: _column(inputs[i])
                )
                yield from (apply(operator.name, inputs[i], inputs[j]) for i, j in order(some, 2))

    def _products(
        self, monomials: list[Tree], functions: list[Tree], inputs: set[Tree], room: float
    ) -> Iterator[Tree]:
        """Monomials of degree one and two and powers of one input times functions, and functions of
        different inputs.
        """
        join, per_input = self.space.costs.of("mul"), self._per_input
        factors = sorted(
            (
                (self.cost(tree), tree)
                for tree in monomials
                if _degree(tree) <= 2 or tree.root == "pow"
            ),
            key=lambda pair: pair[0],
        )
        costs = [cost for cost, _ in factors]
        for function in functions:
            used = function.variables
            left = room - self.cost(function) - join
            is_power = (
                function.root == "div"
                and _kind(function.children[1]) in ("other", "square")
                and len(used) == 1
            )
            for own, factor in factors[: bisect_right(costs, left - per_input * len(used))]:
                also = factor.variables
                if own + per_input * len(also) <= left and not (is_power and used & also):
                    # x/y rather than x*(1/y): one spelling, and the cheaper one.
                    yield times(factor, function)
        simple = [
            (tree, self.cost(tree))
            for tree in functions
            if tree.root != "div" and tree.children[0] in inputs
        ]
        for (first, cost), (second, own) in combinations(simple, 2):
            is_new = first.variables != second.variables and not first.root == second.root == "exp"
            if is_new and cost + own + join + 2 * per_input <= room:
                yield apply("mul", first, second)


def generated_functions(space: SearchSpace) -> list[Operator]:
    """The functions of a space that terms are made with; whole powers are spelled by others."""
    return [
        operator
        for name, operator in FUNCTIONS.items()
        if space.allows_operator(name)
        and (operator.power is None or operator.power.denominator != 1)
    ]


def is_defined(operator: Operator, values: FloatArray) -> bool:
    """Whether a function of one argument and its slope are finite at all of these values.

    Examples
    --------
    >>> from closedform.expressions.operators import OPERATORS
    >>> (
    ...     is_defined(OPERATORS["log"], np.array([0.5, 2.0])),
    ...     is_defined(OPERATORS["sqrt"], np.zeros(1)),
    ... )
    (True, False)
    """
    bound = NUMPY.bound(operator)
    with np.errstate(all="ignore"):
        found = bound.value(values)
        return bool(np.isfinite(found).all() and np.isfinite(bound.slopes[0](values, found)).all())


def in_units(column: int, spread: float) -> Tree:
    """An input as it stands inside a function: sin(x) of an x of a thousand metres needs
    kilometres.
    """
    if PLAIN_SPREAD[0] <= spread <= PLAIN_SPREAD[1]:
        return variable(column)
    return apply("mul", constant(Fraction(10) ** -round(log10(spread))), variable(column))


def _kind(tree: Tree) -> str:
    """What a small polynomial is, as far as functions of it may be pointless."""
    if tree.root == "pow":
        return "square"
    if tree.root == "add" and tree.children[0] == constant(1):
        return "one more"
    return "twice" if tree.root == "mul" and tree.children[0] == constant(2) else "other"


def shape_of(tree: Tree) -> tuple:
    """The tokens with inputs counted in order of appearance: what a tree's complexity depends
    on.
    """
    order: dict[int, int] = {}
    return tuple(
        order.setdefault(t.index, len(order)) if isinstance(t, Variable) else t for t in tree.tokens
    )


def _column(tree: Tree) -> int:
    """The first input of a tree."""
    return min(tree.variables)


def _counts(factors: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(i, factors.count(i)) for i in dict.fromkeys(factors)]


def _reciprocal(tree: Tree) -> Tree:
    return apply("div", constant(1), tree)


def _degree(monomial: Tree) -> int:
    powers = sum(int(t.value) - 1 for t in monomial.tokens if isinstance(t, Constant))
    return powers + sum(isinstance(t, Variable) for t in monomial.tokens)
