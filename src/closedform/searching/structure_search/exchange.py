"""Exchange parts: what depends on one input alone beside a common cofactor, for one function with
constants.

A search often ends with a stand-in, such as x - 0.15*x**3 for sin(x). Its slope is known as values,
so every family of functions is fitted to them, and the best are fitted again as parts of the whole.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions
from closedform.expressions.sums_and_products import product_of, signed_terms, sum_of
from closedform.expressions.tape import node_positions
from closedform.expressions.tree import Constant, Tree, apply, constant, variable
from closedform.field.alignment.refit import refit
from closedform.field.gradient_field import GradientField
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import Form, Forms, wider_forms
from closedform.searching.structure_search.quantities import Data, first_state, make_quantity
from closedform.searching.structure_search.writing import Draft, tidied
from closedform.searching.structure_search.yardstick import USUAL_YARDSTICK

FAMILIES = 6
"""Functions of each part that are fitted as parts of the whole."""

ROUGH_STEPS, STEPS = 10, 40
"""Steps of the first fits, on few points, and of the last ones, on the whole field."""

CANDIDATES, FINISHED = 3, 8
"""Formulas whose parts are exchanged, and new ones of each that are fitted on the whole field."""

N_POINTS = 300
"""Points of the first fits."""


_Fit = tuple[Candidate, tuple[Tree, tuple[int, ...]]]
"""A candidate, and the draft that it was made of."""


@dataclass(frozen=True, slots=True)
class Part:
    """What depends on one input beside a cofactor, and what is left of the sum without it."""

    column: int
    stands: Tree
    cofactor: Tree | None
    rest: Tree | None


def exchange_parts(
    front: Front,
    field: GradientField,
    space: SearchSpace,
    rng: np.random.Generator,
    *,
    may_go_on: Callable[[], bool] = lambda: True,
) -> Front:
    """Candidates in which one part of one of the best is exchanged for a function of each family,
    constants fitted.

    Parameters
    ----------
    front : Front
        The shortest descriptions on it lend their parts.
    field : GradientField
    space : SearchSpace
        Limits what is made.
    rng : Generator
        Draws the points at which slopes are compared.
    may_go_on : callable
        Asked before each part.
    """
    usable = np.flatnonzero(field.weights > 0)
    few = field.subset(np.sort(rng.choice(usable, min(N_POINTS, len(usable)), replace=False)))
    data = Data.of(few, N_POINTS, rng)
    inputs = first_state(data)
    if inputs.size < len(field.names):
        return Front()
    known: dict[int, Forms | None] = {}

    def forms_of(column: int) -> Forms | None:
        if column not in known:
            quantity = make_quantity(data, variable(column))
            known[column] = quantity and wider_forms(quantity, space)
        return known[column]

    found = Front()
    for candidate in sorted(front, key=_length)[:CANDIDATES]:
        rough: list[_Fit] = []
        for part in parts(candidate.expression.tree):
            if not may_go_on():
                break
            drafts = dict(with_other_functions(part, data, forms_of))
            rough += _fitted(list(drafts.items()), few, space, ROUGH_STEPS)
        best = sorted(rough, key=lambda fit: _length(fit[0]))[:FINISHED]
        finished = _fitted([fit[1] for fit in best], field, space, STEPS)
        found = found.merge(Front.of(fit[0] for fit in finished))
    return found


def _length(candidate: Candidate) -> float:
    return float(USUAL_YARDSTICK(candidate.misalignment, candidate.complexity))


def with_other_functions(
    part: Part, data: Data, forms_of: Callable[[int], Forms | None]
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """A formula with one part exchanged for the functions most like it, and the positions of the
    new constants; none where the input has no slope. The verdict makes its rivals with it.

    Parameters
    ----------
    part : Part
    data : Data
        Points at which slopes are compared.
    forms_of : callable
        From an input's column to its functions.
    """
    forms = forms_of(part.column)
    if forms is None:
        return
    gradients = Expression(part.stands, data.names).gradient(data.points)
    slopes = gradients[:, part.column] * data.scale[part.column]
    for form, sign, factor in forms.nearest(slopes, FAMILIES):
        for with_offset in (False, True) if part.cofactor is not None else (False,):
            yield _written(part, form, sign, factor, with_offset=with_offset)


def parts(tree: Tree) -> Iterator[Part]:
    """Every group of summands that depend on one input beside the same cofactor."""
    summands = [(sign, list(factors_of(term, 1))) for sign, term in signed_terms(tree)]
    for column in sorted(tree.variables):
        groups: dict[tuple[object, ...], list[int]] = {}
        for number, (_, factors) in enumerate(summands):
            if all(
                base.variables == {column} or column not in base.variables for base, _ in factors
            ):
                others = sorted(
                    ((base.tokens, power) for base, power in factors if _is_cofactor(base, column)),
                    key=str,
                )
                groups.setdefault(tuple(others), []).append(number)
        for numbers in groups.values():
            own = [
                quotient_of(
                    [f for f in summands[n][1] if not _is_cofactor(f[0], column)], summands[n][0]
                )
                for n in numbers
            ]
            if not any(column in part.variables for part in own):
                continue
            cofactor = [
                factor for factor in summands[numbers[0]][1] if _is_cofactor(factor[0], column)
            ]
            rest = [
                quotient_of(factors, sign)
                for n, (sign, factors) in enumerate(summands)
                if n not in numbers
            ]
            yield Part(
                column,
                sum_of(own),
                quotient_of(cofactor, 1) if cofactor else None,
                sum_of(rest) if rest else None,
            )


def _is_cofactor(tree: Tree, column: int) -> bool:
    """Whether a factor depends on other inputs; numbers belong to the part."""
    return bool(tree.variables) and column not in tree.variables


def _written(
    part: Part, form: Form, sign: int, factor: float, *, with_offset: bool
) -> tuple[Tree, tuple[int, ...]]:
    draft = Draft()
    tree = draft.form(form, part.column)
    if form.is_log:
        tree = apply("log", tree if sign > 0 else apply("neg", tree))
    tree = apply("mul", draft.hole(factor), tree)
    if with_offset:
        tree = apply("add", tree, draft.hole(0.37 * abs(factor)))
    if part.cofactor is not None:
        tree = apply("mul", part.cofactor, tree)
    if part.rest is not None:
        tree = apply("add", part.rest, tree)
    return draft.done(tree)


def _fitted(
    drafts: Sequence[tuple[Tree, tuple[int, ...]]],
    field: GradientField,
    space: SearchSpace,
    steps: int,
) -> list[_Fit]:
    """Candidates, and the drafts that they were made of with their constants fitted."""
    names = field.names
    allowed = [(tree, free) for tree, free in drafts if space.allows(tree, names)]
    fitted, values = refit(
        [Expression(tree, names) for tree, _ in allowed],
        field,
        iterations=steps,
        positions=[_movable(tree, free) for tree, free in allowed],
    )
    found = []
    for expression, value, (_, free) in zip(fitted, values.tolist(), allowed, strict=True):
        plain = Expression(tidied(expression.tree, field.points), names)
        size = complexity(plain.tree, space.costs)
        if value < 1 and size <= space.max_complexity:
            found.append((Candidate(plain, value, size, "exchange"), (expression.tree, free)))
    return found


def _movable(tree: Tree, free: Sequence[int]) -> list[int]:
    """The new constants, and the fitted ones of the rest."""
    nodes = node_positions(tree)
    return [place for place in dict.fromkeys([*free, *fitted_positions(tree)]) if place in nodes]


def factors_of(tree: Tree, power: int) -> Iterator[tuple[Tree, int]]:
    """The factors of a product or quotient, with powers 1 and -1."""
    if tree.root == "mul":
        for child in tree.children:
            yield from factors_of(child, power)
    elif tree.root == "div":
        yield from factors_of(tree.children[0], power)
        yield from factors_of(tree.children[1], -power)
    else:
        yield tree, power


def quotient_of(factors: Sequence[tuple[Tree, int]], sign: int) -> Tree:
    """The product, or quotient, of factors with powers 1 and -1, times a sign."""
    above = [base for base, power in factors if power > 0]
    below = [base for base, power in factors if power < 0]
    tree = product_of(above) if above else constant(1)
    for base in below:
        tree = apply("div", tree, base)
    if sign > 0:
        return tree
    if isinstance(tree.root, Constant):
        return constant(-tree.root.value)
    return apply("neg", tree)
