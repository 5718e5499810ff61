"""Forms that are made of a formula, not waited for: near it in form, and perhaps nearer the truth.

A search that missed the truth cannot say so. But a stand-in, such as x - 0.15*x**3 for sin(x),
fits well because it is near the truth, part by part. So its parts are exchanged for every family of
functions, terms are left out and added, and each of these forms is fitted and compared.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.constants import subtrees
from closedform.canonical.small_terms import without_small_terms
from closedform.expressions.evaluate import operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions
from closedform.expressions.sums_and_products import power_of
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.gradient_field import GradientField
from closedform.neighbours.factor_forms import exchanged_factors, factor_groups, simple_factors
from closedform.neighbours.same_form import free_positions
from closedform.neighbours.stock import FAMILIES, Stock, functions_of_several, placed
from closedform.searching.space import DEFAULT_OPERATORS, SearchSpace
from closedform.searching.structure_search.exchange import parts, with_other_functions
from closedform.searching.structure_search.forms import Forms
from closedform.searching.structure_search.quantities import Data
from closedform.searching.structure_search.writing import Draft

Drafts = dict[Tree, tuple[int, ...]]
"""Trees, each with the positions of the constants that are to be fitted."""

FEWEST_MADE, MOST_MADE, MOST_ADDED = 100, 600, 6
"""Forms that are made though the time is over, forms in all, and terms that are added."""

MOST_LENGTHENED = 12
"""Inputs of which further terms are made: 300 terms, which take a tenth of a second."""

SUMMED_POWERS, MOST_SUMS = (1, 2, 3, 4, -1, -2), 4
"""Powers of which two are added in the place of a function, and such sums of each part."""

N_POINTS = 300
"""Points at which slopes are compared to choose families; what is chosen is fitted on all."""


def wider_space(space: SearchSpace) -> SearchSpace:
    """Where rivals come from: the space of the search, and the functions that it has in stock; a
    user who forbids a function has not shown that the network does not use it.
    """
    named = set(space.operator_names)
    further = [name for name in (*DEFAULT_OPERATORS, "tanh", "atan") if name not in named]
    return replace(space, operators=(*space.operators, *further), templates=())


def stock_of(field: GradientField, space: SearchSpace, rng: np.random.Generator) -> Stock:
    """What parts of formulas of a field may be exchanged for, in a space and a little beyond."""
    return Stock(Data.of(field, N_POINTS, rng), wider_space(space))


def made_forms(
    concept: Expression,
    field: GradientField,
    stock: Stock,
    *,
    may_go_on: Callable[[], bool] = lambda: True,
) -> tuple[Drafts, bool]:
    """Forms near a formula: a part exchanged, a term less, a term more.

    Parameters
    ----------
    concept : Expression
        Over the field's inputs.
    field : GradientField
    stock : Stock
        What parts are exchanged for; see `stock_of`.
    may_go_on : callable
        Asked from form to form, after the first few.

    Returns
    -------
    drafts : dict
    is_complete : bool
        Whether nothing stopped it.
    """
    drafts: Drafts = {}
    makers = (_shortened, _lengthened) if field.rank > 1 else (
        _shortened, _lengthened, _exchanged_for_sums, _exchanged_inputs, simple_factors,
        exchanged_factors, _exchanged_inside, _exchanged_functions,
    )  # fmt: skip
    for maker in makers:
        for tree, holes in maker(concept, field, stock):
            if len(drafts) >= FEWEST_MADE and not may_go_on():
                return drafts, False
            if tree != concept.tree and not tree.is_constant:
                # The numbers of a simple factor are plain, and stay so.
                is_simple = maker is simple_factors
                others = fitted_positions(tree) if is_simple else free_positions(tree, field.names)
                drafts.setdefault(tree, tuple(dict.fromkeys([*holes, *others])))
    return dict(list(drafts.items())[:MOST_MADE]), True


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
    columns = _least_explained(concept, few)
    terms = [tree for tree in _terms(columns) if allows(tree, field.names)]
    with np.errstate(all="ignore"):
        slopes = [few.project(Expression(tree, few.names).gradient(few.points)) for tree in terms]
    known = list(zip(terms, slopes, strict=True))
    for is_factor in (False, True):
        for coefficient, term in _most_gained(concept, few, known, is_factor=is_factor):
            draft = Draft()
            number = draft.hole(coefficient)
            further = _factor(number, term) if is_factor else apply("mul", number, term)
            tree, holes = draft.done(apply("mul" if is_factor else "add", concept.tree, further))
            yield tree, holes


def _most_gained(
    concept: Expression,
    field: GradientField,
    terms: Sequence[tuple[Tree, FloatArray]],
    *,
    is_factor: bool,
) -> list[tuple[float, Tree]]:
    """The terms, given with their slopes, that explain most of what a concept leaves over, with
    their coefficients, as one step of least squares sees it.
    """
    left, lengths = _left_over(concept, field)
    with np.errstate(all="ignore"):
        # The gradient of c*exp(t) is along that of c, and c times that of t.
        sizes = (concept(field.points) if is_factor else 1.0) / lengths
    gains: list[tuple[float, float, Tree]] = []
    for tree, own in terms:
        with np.errstate(all="ignore"):
            slopes = own * sizes[:, None]
            across = slopes - np.einsum(
                "ndk,nk->nd", field.frames, np.einsum("ndk,nd->nk", field.frames, slopes)
            )
            size = float((across**2).sum())
            along = float((across * left).sum())
        if np.isfinite(size) and size > 0 and np.isfinite(along):
            gains.append((along**2 / size, -along / size, tree))
    gains.sort(key=lambda gain: -gain[0])
    return [(coefficient, tree) for _, coefficient, tree in gains[:MOST_ADDED]]


def _left_over(formula: Expression, field: GradientField) -> tuple[FloatArray, FloatArray]:
    """The part of a formula's unit gradient outside the field's directions, its sign that of a
    gradient along the first latent's, and the gradient's length with that sign.
    """
    with np.errstate(all="ignore"):
        gradients = field.project(formula.gradient(field.points))
        lengths = np.linalg.norm(gradients, axis=1)
        along = np.einsum("ndk,nd->nk", field.frames, gradients)
        sign = np.where(along[:, :1] < 0, -1.0, 1.0)
        left = gradients - np.einsum("ndk,nk->nd", field.frames, along)
        return sign * left / lengths[:, None], lengths * sign[:, 0]


def _factor(coefficient: Tree, term: Tree) -> Tree:
    """The exponential of a term: a power if the term is a logarithm."""
    if term.root == "log":
        return apply("pow", term.children[0], coefficient)
    return apply("exp", apply("mul", coefficient, term))


def _least_explained(concept: Expression, field: GradientField) -> list[int]:
    """The inputs in which a concept leaves most of the field over: products of two take the square
    of their number.
    """
    left, _ = _left_over(concept, field)
    energies = np.square(field.tangent.ambient(np.nan_to_num(left)[:, :, None])).sum(axis=(0, 2))
    return np.sort(np.argsort(-energies, kind="stable")[:MOST_LENGTHENED]).tolist()


def _terms(columns: Sequence[int]) -> list[Tree]:
    """Low powers, products of two, and functions of one input."""
    inputs = [variable(column) for column in columns]
    found: list[Tree] = []
    for place, each in enumerate(inputs):
        found += [each, apply("square", each), apply("pow", each, constant(3))]
        found += [apply(name, each) for name in ("sin", "cos", "exp", "log", "sqrt")]
        found.append(apply("div", constant(1), each))
        found += [apply("mul", each, other) for other in inputs[place + 1 :]]
        found += [apply("mul", apply("square", each), other) for other in inputs if other != each]
    return found


def _exchanged_for_sums(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """What depends on one input beside a common cofactor, exchanged for the sums of two powers
    whose slopes are most like it: x**2 + x**4/2 for exp(0.7*x**2).
    """
    for part in parts(concept.tree):
        if part.cofactor is None and part.rest is None:
            continue
        values, own = stock.data.points[:, part.column], variable(part.column)
        gradients = Expression(part.stands, field.names).gradient(stock.data.points)
        for (first, a), (second, b) in _sums_of_powers(values, gradients[:, part.column]):
            draft = Draft()
            tree = apply(
                "add",
                apply("mul", draft.hole(a), power_of(own, first)),
                apply("mul", draft.hole(b), power_of(own, second)),
            )
            if part.cofactor is not None:
                tree = apply("mul", part.cofactor, tree)
            if part.rest is not None:
                tree = apply("add", part.rest, tree)
            made, holes = draft.done(tree)
            if stock.space.allows_inside(made, field.names):
                yield made, holes


def _sums_of_powers(
    values: FloatArray, slopes: FloatArray
) -> list[tuple[tuple[int, float], tuple[int, float]]]:
    """Pairs of powers with the coefficients that give most nearly such slopes, best first.

    Examples
    --------
    >>> x = np.linspace(0.5, 2, 50)
    >>> (first, second), *_ = _sums_of_powers(x, 2 * x + 6 * x**2)
    >>> [(power, round(number, 3)) for power, number in (first, second)]
    [(2, 1.0), (3, 2.0)]
    """
    powers = [power for power in SUMMED_POWERS if power > 0 or values.min() * values.max() > 0]
    found = []
    for first, second in combinations(powers, 2):
        terms = np.stack([power * values ** (power - 1.0) for power in (first, second)], axis=1)
        if not (np.isfinite(terms).all() and np.isfinite(slopes).all()):
            continue
        sizes = np.linalg.norm(terms, axis=0)
        a, b = np.linalg.lstsq(terms / sizes, slopes, rcond=None)[0] / sizes
        left = float(((terms @ [a, b] - slopes) ** 2).sum())
        found.append((left, ((first, float(a)), (second, float(b)))))
    return [pair for _, pair in sorted(found)[:MOST_SUMS]]


def _exchanged_inputs(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """What depends on one input beside a common cofactor, exchanged."""

    def forms_of(column: int) -> Forms | None:
        found = stock.of(variable(column))
        return found and found[1]

    for part in parts(concept.tree):
        yield from with_other_functions(part, stock.data, forms_of)


def _exchanged_inside(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """What depends on one input deeper in the formula, such as sqrt(y) in z*(x*sqrt(y) + w),
    exchanged.
    """
    tree, data = concept.tree, stock.data
    outside = {part.column for part in parts(tree)}
    outside |= {
        min(inner.variables) for inner, _, _ in factor_groups(tree, data) if inner.size == 1
    }
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


def _exchanged_functions(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """A function of several inputs that enter together, exchanged for another of the same."""
    whole, tree, data = subtrees(concept.tree), concept.tree, stock.data
    for end, inner in functions_of_several(concept.tree, data):
        found = stock.of(inner)
        if found is None:
            continue
        quantity, forms = found
        gradients = Expression(whole[end], field.names).gradient(data.points) * data.scale
        slopes = np.einsum("nd,nd->n", gradients, quantity.units)
        for draft, new in _families(forms, slopes, inner):
            made, holes = draft.done(_with_part(tree, end, whole[end], new))
            yield made, holes


def _families(forms: Forms, slopes: FloatArray, inner: Tree) -> Iterator[tuple[Draft, Tree]]:
    """The functions whose slopes are most like given ones, written in a quantity."""
    for form, sign, factor in forms.nearest(slopes, FAMILIES):
        draft = Draft()
        outer = draft.form(form, 0)
        if form.is_log:
            outer = apply("log", outer if sign > 0 else apply("neg", outer))
        new = apply("mul", draft.hole(factor), placed(outer, inner))
        yield draft, new
        yield draft, apply("add", new, draft.hole(0.0))
