"""One part of a formula exchanged for other functions of the same quantity.

A stand-in, such as x - 0.15*x**3 for sin(x), fits well because it is near the truth, part by part.
If everything around a part is right, the field says which slope the part must have at each point.
So the functions are chosen whose slopes are most like that.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from fractions import Fraction
from functools import reduce
from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import power_of, product_of, signed_terms, sum_of
from closedform.expressions.tree import Tree, apply, constant, subtrees, variable
from closedform.field.alignment.tolerances import SAME
from closedform.field.gradient_field import GradientField
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import Form, Forms, rival_forms
from closedform.searching.structure_search.quantities import USABLE, Data, Quantity, make_quantity
from closedform.searching.structure_search.writing import Draft

SLOT = variable(10**6)
"""Stands for the part in what is around it."""

N_COMBINED = 20
"""Points at which gradients show what is a function of what."""

Factors = list[tuple[Tree, int]]
"""Factors of a product, with powers 1 and -1."""

Written = tuple[Tree, tuple[int, ...]]
"""A tree, with the positions of the constants that are to be fitted."""

FAMILIES = 8
"""Functions that are tried for each part, and as many of those without constants inside."""

SIMPLE_POWERS = tuple(Fraction(n, d) for n, d in ((1, 1), (2, 1), (3, 1), (1, 2), (3, 2), (1, 3)))
"""Powers of a factor as people write them, and their inverses: a power that is fitted hides a
function, for log(x + 1.2)**1.3 is nearly log(x/2 + 1)."""

SUMMED_POWERS, MOST_SUMS = (1, 2, 3, 4, -1, -2), 4
"""Powers of which two are added in the place of a function, and such sums of each part."""


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


@dataclass(frozen=True, slots=True)
class Stock:
    """Functions of quantities, each list made once."""

    data: Data  # points at which slopes are compared
    space: SearchSpace  # limits what is made
    # By quantity: its values and its functions; None where it has no slope.
    known: dict[Tree, tuple[Quantity, Forms] | None] = attribute(default_factory=dict)

    def of(self, inner: Tree) -> tuple[Quantity, Forms] | None:
        """The functions of a quantity."""
        if inner not in self.known:
            quantity = make_quantity(self.data, inner)
            self.known[inner] = quantity and (quantity, rival_forms(quantity, self.space))
        return self.known[inner]


def exchanged_parts(concept: Expression, field: GradientField, stock: Stock) -> Iterator[Written]:
    """The formula with each of its parts exchanged, one at a time."""
    is_curved = field.tangent.basis is not None
    for place in places(concept.tree, stock.data):
        found = stock.of(place.inner)
        if found is None:
            continue
        quantity, forms = found
        values, slopes, weights = _slopes(place, quantity, stock.data, is_curved=is_curved)
        if place.is_factor:
            with np.errstate(all="ignore"):
                relative, alike = slopes / values, weights * np.abs(values)
            yield from _simple_powers(place, forms, relative, alike)
            yield from _powers(place, forms, relative, alike)
        yield from _sums(place, quantity, slopes, weights)
        yield from _functions(place, forms, slopes, weights)


def _slopes(
    place: Place, quantity: Quantity, data: Data, *, is_curved: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The part's values, the slope along the quantity that it should have at each point, and how
    well that is known. Its own slope where nothing around it could say, and on curved surfaces,
    where directions have coordinates of their own.
    """
    part = Expression(place.part, data.names)
    with np.errstate(all="ignore"):
        values = part(data.points)
        own = np.einsum("nd,nd->n", part.gradient(data.points) * data.scale, quantity.units)
        if is_curved:
            return values, own, np.ones(len(own))
        around = Expression(place.filled(variable(len(data.names))), (*data.names, "part"))
        gradients = around.gradient(np.column_stack([data.points, values]))
        rest, along = gradients[:, :-1] * data.scale, gradients[:, -1:] * quantity.units
        lengths = np.linalg.norm(rest + own[:, None] * along, axis=1)
        first, second = (_across(each, data.directions) for each in (rest, along))
        sizes = (second**2).sum(axis=1)
        needed = -(first * second).sum(axis=1) / sizes
        weights = np.sqrt(sizes) / lengths
    usable = np.isfinite(needed) & np.isfinite(weights)
    if not (rest != 0).any() or usable.mean() < USABLE:
        return values, own, np.ones(len(own))
    return values, np.where(usable, needed, 0.0), np.where(usable, weights, 0.0)


def _across(vectors: FloatArray, directions: FloatArray) -> FloatArray:
    return vectors - directions * np.einsum("nd,nd->n", vectors, directions)[:, None]


def _functions(
    place: Place, forms: Forms, slopes: FloatArray, weights: FloatArray
) -> Iterator[Written]:
    """The part as a multiple of a function, with an offset where that is not idle."""
    for form, sign, factor in forms.nearest(slopes, FAMILIES, weights):
        for has_offset in (False,) if place.is_term else (False, True):
            draft = Draft()
            new = _placed(draft, form, sign, place.inner)
            new = apply("mul", draft.hole(factor), apply("log", new) if form.is_log else new)
            yield draft.done(
                place.filled(apply("add", new, draft.hole(0.0)) if has_offset else new)
            )


def _powers(
    place: Place, forms: Forms, slopes: FloatArray, weights: FloatArray
) -> Iterator[Written]:
    """A factor as a power of a function, or as an exponential: in logarithms a product is a sum."""
    for form, sign, factor in forms.nearest(slopes, FAMILIES, weights):
        draft = Draft()
        new = _placed(draft, form, sign, place.inner)
        number = draft.hole(factor)
        grown = (
            apply("pow", new, number) if form.is_log else apply("exp", apply("mul", number, new))
        )
        yield draft.done(place.filled(grown))


def _simple_powers(
    place: Place, forms: Forms, slopes: FloatArray, weights: FloatArray
) -> Iterator[Written]:
    """A factor as a power of a function that people would write."""
    powers = [sign * float(power) for power in SIMPLE_POWERS for sign in (1, -1)]
    for form, sign, power in forms.nearest(
        slopes, 2 * FAMILIES, weights, may_turn=True, powers=powers
    ):
        exponent = Fraction(power).limit_denominator(6)
        if sign == 0 and exponent not in (1, 3):
            # Other powers of what changes its sign are no map.
            continue
        draft = Draft()
        # A whole power may change the sign of all, which says nothing.
        new = _placed(draft, form, sign if exponent.denominator > 1 else 1, place.inner)
        raised = power_of(new, abs(exponent))
        yield draft.done(
            place.filled(raised if exponent > 0 else apply("div", constant(1), raised))
        )


def _sums(
    place: Place, quantity: Quantity, slopes: FloatArray, weights: FloatArray
) -> Iterator[Written]:
    """The part as the sums of two powers whose slopes are most like it: x**2 + x**4/2 for
    exp(0.7*x**2).
    """
    with np.errstate(all="ignore"):
        target = slopes / quantity.lengths
    for pair in _sums_of_powers(quantity.values, target, weights * quantity.lengths):
        draft = Draft()
        terms = [apply("mul", draft.hole(a), power_of(place.inner, power)) for power, a in pair]
        yield draft.done(place.filled(apply("add", *terms)))


def _sums_of_powers(
    values: FloatArray, slopes: FloatArray, weights: FloatArray
) -> list[tuple[tuple[int, float], tuple[int, float]]]:
    """Pairs of powers with the coefficients that give most nearly such slopes, best first."""
    powers = [power for power in SUMMED_POWERS if power > 0 or values.min() * values.max() > 0]
    target = slopes * weights
    found = []
    for first, second in combinations(powers, 2):
        terms = np.stack([power * values ** (power - 1.0) for power in (first, second)], axis=1)
        terms *= weights[:, None]
        if not (np.isfinite(terms).all() and np.isfinite(target).all()):
            continue
        sizes = np.linalg.norm(terms, axis=0)
        a, b = np.linalg.lstsq(terms / sizes, target, rcond=None)[0] / sizes
        left = float(((terms @ [a, b] - target) ** 2).sum())
        found.append((left, ((first, float(a)), (second, float(b)))))
    return [pair for _, pair in sorted(found)[:MOST_SUMS]]


def _placed(draft: Draft, form: Form, sign: int, inner: Tree) -> Tree:
    """A form of a quantity, with holes for its constants; positive, where a logarithm or a power
    needs that.
    """
    new = draft.form(form, 0).replaced(variable(0).root, inner)
    return apply("neg", new) if form.is_log and sign < 0 else new
