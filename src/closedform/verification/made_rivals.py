"""Rivals that are made of a formula, not waited for: near it in form, and perhaps nearer the truth.

A search that missed the truth cannot say so. But a stand-in, such as x - 0.15*x**3 for sin(x),
fits well because it is near the truth, part by part. So its parts are exchanged for every family of
functions, terms are left out and added, and each of these forms is fitted and compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.constants import subtrees
from closedform.canonical.small_terms import without_small_terms
from closedform.expressions.evaluate import operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.gradient_field import GradientField
from closedform.searching.space import DEFAULT_OPERATORS, SearchSpace
from closedform.searching.structure_search.exchange import (
    exchanged_parts,
    factors_of,
    parts,
    quotient_of,
)
from closedform.searching.structure_search.forms import Forms, rival_forms
from closedform.searching.structure_search.quantities import Data, Quantity, make_quantity
from closedform.searching.structure_search.writing import Draft
from closedform.verification.residuals import residuals
from closedform.verification.same_form import free_positions
from closedform.verification.thresholds import FAMILIES, MOST_ADDED, MOST_MADE

Drafts = dict[Tree, tuple[int, ...]]
"""Trees, each with the positions of the constants that are to be fitted."""

N_POINTS = 300
"""Points at which slopes are compared to choose families; what is chosen is fitted on all."""


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


def rival_space(space: SearchSpace) -> SearchSpace:
    """Where rivals come from: the space of the search, and the functions that it has in stock; a
    user who forbids a function has not shown that the network does not use it.
    """
    named = set(space.operator_names)
    further = [name for name in (*DEFAULT_OPERATORS, "tanh", "atan") if name not in named]
    return replace(space, operators=(*space.operators, *further), templates=())


def make_rivals(
    concept: Expression, field: GradientField, space: SearchSpace, rng: np.random.Generator
) -> Drafts:
    """Forms near a formula: a part exchanged, a term less, a term more.

    Parameters
    ----------
    concept : Expression
        Over the field's inputs.
    field : GradientField
    space : SearchSpace
        Limits what is made.
    rng : Generator
        Draws the points at which slopes are compared.
    """
    drafts: Drafts = {}
    stock = Stock(Data.of(field, N_POINTS, rng), space)
    makers = (_shortened, _lengthened) if field.rank > 1 else (
        _shortened, _lengthened, _exchanged_inputs, _exchanged_factors, _exchanged_inside,
        _exchanged_functions,
    )  # fmt: skip
    for maker in makers:
        for tree, holes in maker(concept, field, stock):
            if tree != concept.tree and not tree.is_constant:
                free = dict.fromkeys([*holes, *free_positions(tree, field.names)])
                drafts.setdefault(tree, tuple(free))
    return dict(list(drafts.items())[:MOST_MADE])


def _shortened(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """Without one term."""
    for form in without_small_terms(concept, stock.data.points):
        yield form.tree, ()


def _lengthened(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """With one more term, or with the exponential of one as a factor: those that explain most of
    what is left over.
    """
    few = field.subset(np.sort(np.flatnonzero(field.weights > 0)[: 2 * N_POINTS]))
    allows = stock.space.allows_inside
    terms = [tree for tree in _terms(len(field.names)) if allows(tree, field.names)]
    for is_factor in (False, True):
        for coefficient, term in _most_gained(concept, few, terms, is_factor=is_factor):
            draft = Draft()
            number = draft.hole(coefficient)
            further = _factor(number, term) if is_factor else apply("mul", number, term)
            tree, holes = draft.done(apply("mul" if is_factor else "add", concept.tree, further))
            yield tree, holes


def _most_gained(
    concept: Expression, field: GradientField, terms: Sequence[Tree], *, is_factor: bool
) -> list[tuple[float, Tree]]:
    """The terms that explain most of what a concept leaves over, with their coefficients, as one
    step of least squares sees it.
    """
    left, lengths = residuals(concept, field)
    with np.errstate(all="ignore"):
        # The gradient of c*exp(t) is along that of c, and c times that of t.
        sizes = (concept(field.points) if is_factor else 1.0) / lengths
    gains: list[tuple[float, float, Tree]] = []
    for tree in terms:
        with np.errstate(all="ignore"):
            slopes = field.project(Expression(tree, field.names).gradient(field.points))
            slopes = slopes * sizes[:, None]
            across = slopes - np.einsum(
                "ndk,nk->nd", field.frames, np.einsum("ndk,nd->nk", field.frames, slopes)
            )
            size = float((across**2).sum())
            along = float((across * left).sum())
        if np.isfinite(size) and size > 0 and np.isfinite(along):
            gains.append((along**2 / size, -along / size, tree))
    gains.sort(key=lambda gain: -gain[0])
    return [(coefficient, tree) for _, coefficient, tree in gains[:MOST_ADDED]]


def _factor(coefficient: Tree, term: Tree) -> Tree:
    """The exponential of a term: a power if the term is a logarithm."""
    if term.root == "log":
        return apply("pow", term.children[0], coefficient)
    return apply("exp", apply("mul", coefficient, term))


def _terms(n_inputs: int) -> list[Tree]:
    """Low powers, products of two, and functions of one input."""
    inputs = [variable(column) for column in range(n_inputs)]
    found: list[Tree] = []
    for column, each in enumerate(inputs):
        found += [each, apply("square", each), apply("pow", each, constant(3))]
        found += [apply(name, each) for name in ("sin", "cos", "exp", "log", "sqrt")]
        found.append(apply("div", constant(1), each))
        found += [apply("mul", each, other) for other in inputs[column + 1 :]]
        found += [apply("mul", apply("square", each), other) for other in inputs if other != each]
    return found


def _exchanged_inputs(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """What depends on one input beside a common cofactor, exchanged."""
    inputs = {column: stock.of(variable(column)) for column in sorted(concept.tree.variables)}
    known = {column: found[1] for column, found in inputs.items() if found is not None}
    yield from exchanged_parts(concept.tree, stock.data, stock.space, known).items()


def _exchanged_factors(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """In a product, what depends on one input alone, or on one combination of several, exchanged
    for a power of another function or for an exponential: in logarithms a product is a sum.
    """
    data = stock.data
    for inner, own, rest in _factor_groups(concept.tree):
        found = stock.of(inner)
        if found is None:
            continue
        quantity, forms = found
        with np.errstate(all="ignore"):
            part = Expression(quotient_of(own, 1), field.names)
            gradients = part.gradient(data.points) * data.scale
            slopes = np.einsum("nd,nd->n", gradients, quantity.units) / part(data.points)
        for form, sign, factor in forms.nearest(slopes, FAMILIES):
            draft = Draft()
            new = _placed(draft.form(form, 0), inner)
            if form.is_log:
                new = new if sign > 0 else apply("neg", new)
                new = apply("pow", new, draft.hole(factor))
            else:
                new = apply("exp", apply("mul", draft.hole(factor), new))
            made, holes = draft.done(apply("mul", quotient_of(rest, 1), new) if rest else new)
            yield made, holes


def _exchanged_inside(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """What depends on one input deeper in the formula, such as sqrt(y) in z*(x*sqrt(y) + w),
    exchanged.
    """
    tree, data = concept.tree, stock.data
    outside = {part.column for part in parts(tree)}
    outside |= {min(inner.variables) for inner, _, _ in _factor_groups(tree) if inner.size == 1}
    for end, part in _parts_of_one(tree):
        (column,) = part.variables
        found = None if column in outside else stock.of(variable(column))
        if found is None:
            continue
        own = Expression(part, field.names)
        slopes = own.gradient(data.points)[:, column] * data.scale[column]
        for draft, new in _families(found[1], slopes, variable(column)):
            made, holes = draft.done(_with_part(tree, end, part, new))
            yield made, holes


def _parts_of_one(tree: Tree) -> Iterator[tuple[int, Tree]]:
    """The largest subtrees that depend on one input, and where they end.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> tree = parse("z*(x*sqrt(y) + w)").tree
    >>> [(end, part.size) for end, part in _parts_of_one(tree)]
    [(0, 1), (1, 1), (3, 2), (5, 1)]
    """
    all_parts, operands = subtrees(tree), operand_positions(tree)
    places = [len(all_parts) - 1]
    found: list[int] = []
    for place in places:
        if len(all_parts[place].variables) == 1:
            found.append(place)
        else:
            places += operands[place]
    yield from ((place, all_parts[place]) for place in sorted(found))


def _with_part(tree: Tree, end: int, part: Tree, new: Tree) -> Tree:
    start = end + 1 - part.size
    return Tree((*tree.tokens[:start], *new.tokens, *tree.tokens[end + 1 :]))


Factors = list[tuple[Tree, int]]


def _factor_groups(tree: Tree) -> Iterator[tuple[Tree, Factors, Factors]]:
    """Quantities of which some factors of a product are functions, those factors, and the others,
    which do not depend on what the quantity depends on.
    """
    factors = list(factors_of(tree, 1))
    if len(factors) < 2:
        return
    inners = [variable(column) for column in sorted(tree.variables)]
    for base, _ in factors:
        inners += [inner for end, inner in _functions_of_several(base) if end == base.size - 1]
    for inner in dict.fromkeys(inners):
        own = [pair for pair in factors if pair[0].variables == inner.variables]
        rest = [pair for pair in factors if not pair[0].variables & inner.variables]
        several = len(inner.variables) > 1
        if own and len(own) + len(rest) == len(factors) and (len(own) == 1 or not several):
            yield inner, own, rest


def _exchanged_functions(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """A function of several inputs that enter together, exchanged for another of the same."""
    whole, tree, data = subtrees(concept.tree), concept.tree, stock.data
    for end, inner in _functions_of_several(concept.tree):
        found = stock.of(inner)
        if found is None:
            continue
        quantity, forms = found
        gradients = Expression(whole[end], field.names).gradient(data.points) * data.scale
        slopes = np.einsum("nd,nd->n", gradients, quantity.units)
        for draft, new in _families(forms, slopes, inner):
            made, holes = draft.done(_with_part(tree, end, whole[end], new))
            yield made, holes


def _functions_of_several(tree: Tree) -> Iterator[tuple[int, Tree]]:
    """Where a function of one combination of several inputs ends, and that combination: of
    5/(x*y - 6) it is x*y - 6, and also x*y.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> tree = parse("5/(x*y - 6)").tree
    >>> [(end, inner.size) for end, inner in _functions_of_several(tree)]
    [(5, 3), (6, 5), (6, 3)]
    """
    whole, operands = subtrees(tree), operand_positions(tree)
    for end in range(len(whole)):
        place = end
        while True:
            inner = [child for child in operands[place] if not whole[child].is_constant]
            if len(inner) != 1 or len(whole[inner[0]].variables) < 2:
                break
            place = inner[0]
            # A factor or a sign alone makes no other function.
            if tree.tokens[end] not in ("mul", "neg"):
                yield end, whole[place]


def _families(forms: Forms, slopes: FloatArray, inner: Tree) -> Iterator[tuple[Draft, Tree]]:
    """The functions whose slopes are most like given ones, written in a quantity."""
    for form, sign, factor in forms.nearest(slopes, FAMILIES):
        draft = Draft()
        outer = draft.form(form, 0)
        if form.is_log:
            outer = apply("log", outer if sign > 0 else apply("neg", outer))
        new = apply("mul", draft.hole(factor), _placed(outer, inner))
        yield draft, new
        yield draft, apply("add", new, draft.hole(0.0))


def _placed(outer: Tree, inner: Tree) -> Tree:
    """A function of the first input with another tree in that input's place; holes stay."""
    first = variable(0)
    return outer.fold(lambda token: inner if Tree((token,)) == first else Tree((token,)), apply)
