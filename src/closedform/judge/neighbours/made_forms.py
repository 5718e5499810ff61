"""Forms that are made of a formula, not waited for: near it in form, and perhaps nearer the truth.

A search that missed the truth cannot say so. But a stand-in, such as x - 0.15*x**3 for sin(x),
fits well because it is near the truth, part by part. So its parts are exchanged for every family of
functions, terms are left out and added, and each of these forms is fitted and compared.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.constants import free_constants
from closedform.canonical.proposals import (
    snapped_forms,
    without_idle_functions,
    without_small_terms,
)
from closedform.expressions.complexity import constant_values, fitted_positions, with_numbers
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import sum_of
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.alignment.misalignment import split
from closedform.field.gradient_field import GradientField
from closedform.judge.neighbours.exchanged import Stock, Written, exchanged_parts
from closedform.judge.neighbours.same_form import free_positions
from closedform.searching.products import factor_powers
from closedform.searching.space import DEFAULT_OPERATORS, SearchSpace
from closedform.searching.structure_search.quantities import Data
from closedform.searching.structure_search.writing import Draft

Drafts = dict[Tree, tuple[int, ...]]
"""Trees, each with the positions of the constants that are to be fitted."""

FEWEST_MADE, MOST_MADE, MOST_ADDED = 100, 600, 6
"""Forms that are made, and looked at, though the time is over; forms in all; terms that are
added."""

MOST_LENGTHENED = 12
"""Inputs of which further terms are made: 300 terms, which take a tenth of a second."""

SMALL_CONSTANT = 0.2
"""Constants below this are tried as 0: sqrt(x) for sqrt(x + 0.06)."""

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
    may_go_on: Callable[[], bool] = lambda: True,
) -> Drafts:
    """Forms near a formula over the field's inputs: a part exchanged, a term less, a term more.

    may_go_on: asked from form to form, after the first few.
    """
    drafts: Drafts = {}
    makers = (_shortened, _lengthened, *((exchanged_parts,) if field.rank == 1 else ()))
    for maker in makers:
        for tree, holes in maker(concept, field, stock):
            if len(drafts) >= FEWEST_MADE and not may_go_on():
                return drafts
            if tree != concept.tree and not tree.is_constant:
                # Beside another function plain numbers stay plain; beside one term more or less
                # all have to give way.
                is_other = maker is exchanged_parts
                others = fitted_positions(tree) if is_other else free_positions(tree, field.names)
                drafts.setdefault(tree, tuple(dict.fromkeys([*holes, *others])))
    return dict(list(drafts.items())[:MOST_MADE])


def _shortened(concept: Expression, field: GradientField, stock: Stock) -> Iterator[Written]:
    """Without one term."""
    for form in without_small_terms(concept, stock.data.points):
        yield form.tree, ()


def _lengthened(concept: Expression, field: GradientField, stock: Stock) -> Iterator[Written]:
    """With one more term, or with the exponential of one as a factor: those that explain most of
    what is left over.
    """
    few = field.subset(np.sort(np.flatnonzero(field.weights > 0)[: 2 * N_POINTS]))
    allows = stock.space.allows_inside
    with np.errstate(all="ignore"):
        own = concept(few.points), concept.gradient(few.points)
    for coefficient, term, is_factor in further_terms(*own, few, allows):
        draft = Draft()
        number = draft.hole(coefficient)
        yield draft.done(with_term(concept.tree, number, term, is_factor=is_factor))


def with_term(formula: Tree, number: Tree, term: Tree, *, is_factor: bool) -> Tree:
    """A formula with one more term, or with its exponential as a factor: a power if the term is a
    logarithm.
    """
    if not is_factor:
        return apply("add", formula, apply("mul", number, term))
    if term.root == "log":
        return apply("mul", formula, apply("pow", term.children[0], number))
    return apply("mul", formula, apply("exp", apply("mul", number, term)))


def further_terms(
    values: FloatArray,
    gradients: FloatArray,
    field: GradientField,
    allows: Callable[[Tree, tuple[str, ...]], bool],
) -> Iterator[tuple[float, Tree, bool]]:
    """The terms that explain most of what a function leaves of a field, given its values and
    gradients there: each with its coefficient, and whether its exponential is a factor.
    """
    left, lengths = _left_over(gradients, field)
    terms = [tree for tree in terms_of(_least_explained(left, field)) if allows(tree, field.names)]
    with np.errstate(all="ignore"):
        slopes = [field.project(Expression(t, field.names).gradient(field.points)) for t in terms]
        # The gradient of c*exp(t) is along that of c, and c times that of t.
        sizes = (1.0 / lengths, values / lengths)
    for is_factor in (False, True):
        gains: list[tuple[float, float, Tree]] = []
        for tree, own in zip(terms, slopes, strict=True):
            with np.errstate(all="ignore"):
                across, _ = split(own * sizes[is_factor][:, None], field.frames)
                size = float((across**2).sum())
                along = float((across * left).sum())
            # What one step of least squares explains, and the coefficient that it gives.
            if np.isfinite(size) and size > 0 and np.isfinite(along):
                gains.append((along**2 / size, -along / size, tree))
        gains.sort(key=lambda gain: -gain[0])
        yield from ((coefficient, tree, is_factor) for _, coefficient, tree in gains[:MOST_ADDED])


def _left_over(gradients: FloatArray, field: GradientField) -> tuple[FloatArray, FloatArray]:
    """The part of unit gradients outside the field's directions, its sign that of a gradient along
    the first latent's, and the gradients' lengths with that sign.
    """
    with np.errstate(all="ignore"):
        inside = field.project(gradients)
        lengths = np.linalg.norm(inside, axis=1)
        left, along = split(inside, field.frames)
        sign = np.where(along[:, :1] < 0, -1.0, 1.0)
        return sign * left / lengths[:, None], lengths * sign[:, 0]


def _least_explained(left: FloatArray, field: GradientField) -> list[int]:
    """The inputs in which most of the field is left over: products of two take the square of their
    number.
    """
    energies = np.square(field.tangent.ambient(np.nan_to_num(left)[:, :, None])).sum(axis=(0, 2))
    return np.sort(np.argsort(-energies, kind="stable")[:MOST_LENGTHENED]).tolist()


def terms_of(columns: Sequence[int]) -> list[Tree]:
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


def variants(formula: Expression, errors: Sequence[float], points: FloatArray) -> list[Expression]:
    """Plainer formulas near one whose fitted constants have these standard errors.

    Examples
    --------
    >>> import numpy as np, closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    >>> made = variants(cf.parse("x**2 + 1.98*y"), [0.02], points)
    >>> [str(form) for form in made][:2]
    ['x**2 + 2*y', 'x**2']
    """
    places = fitted_positions(formula.tree)
    known = dict(zip(places, errors, strict=False))
    free = [known.get(each.position, 0.0) for each in free_constants(formula)]
    dropped = [
        Expression(_without_zeros(with_numbers(formula.tree, [place], [0.0])), formula.names)
        for place, value in zip(places, constant_values(formula.tree, places), strict=True)
        if abs(value) < SMALL_CONSTANT
    ]
    made = [
        *snapped_forms(formula, errors=free), *dropped, *without_small_terms(formula, points),
        Expression(apply("square", formula.tree), formula.names),
        without_idle_functions(formula, points),
    ]  # fmt: skip
    return [form for form in dict.fromkeys(made) if form != formula and not form.tree.is_constant]


def _without_zeros(tree: Tree) -> Tree:
    """The tree without terms and factors that are 0: a canonical form takes longer to find."""
    zero = constant(0)

    def node(name: str, *operands: Tree) -> Tree:
        if (name in ("mul", "div") and operands[0] == zero) or (name == "mul" and zero in operands):
            return zero
        if name == "add" and zero in operands:
            return operands[1] if operands[0] == zero else operands[0]
        if name == "sub" and operands[1] == zero:
            return operands[0]
        return apply(name, *operands)

    return tree.fold(lambda token: Tree((token,)), node)


def as_sum(formula: Expression) -> Expression | None:
    """The logarithm of a product with an exponential in it, which is the same concept: its parts
    are terms of a sum, and can be exchanged as such. None for other formulas.

    Examples
    --------
    >>> import closedform as cf
    >>> print(as_sum(cf.parse("exp(0.3*v**2)*(exp(x) + 3)**2")))
    0.3*v**2 + 2*log(exp(x) + 3)
    """
    factors = list(factor_powers(formula.tree))
    if len(factors) < 2 or not any(base.root == "exp" for base, _ in factors):
        return None
    terms = []
    for base, power in factors:
        term = base.children[0] if base.root == "exp" else apply("log", base)
        terms.append(term if power == 1 else apply("mul", constant(power), term))
    return Expression(sum_of(terms), formula.names)
