"""In a product, exchange the factors that depend on one quantity for other functions of it.

In logarithms a product is a sum, so each factor's slope can be read off the field as soon as the
other factors are right.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import signed_terms
from closedform.expressions.tree import Constant, Tree, apply, constant, variable
from closedform.field.gradient_field import GradientField
from closedform.neighbours.stock import FAMILIES, Stock, functions_of_several, placed
from closedform.searching.structure_search.exchange import factors_of, quotient_of
from closedform.searching.structure_search.forms import Forms
from closedform.searching.structure_search.quantities import Data
from closedform.searching.structure_search.writing import Draft

Factors = list[tuple[Tree, int]]
"""Factors of a product, with powers 1 and -1."""

SHARES, MOST_DENOMINATOR = (1 / 3, 1 / 2, 1.0, 2.0), 36
"""Inverses of the powers that a factor mostly has beside one without any, and what powers that come
of them may be divided by.
"""


def exchanged_factors(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """In a product, what depends on one input alone, or on one combination of several, exchanged
    for a power of another function or for an exponential: in logarithms a product is a sum.
    """
    for inner, forms, slopes, weights, rest in _factors(concept, field, stock):
        for form, sign, factor in forms.nearest(slopes, FAMILIES, weights):
            draft = Draft()
            new = placed(draft.form(form, 0), inner)
            if form.is_log:
                new = new if sign > 0 else apply("neg", new)
                new = apply("pow", new, draft.hole(factor))
            else:
                new = apply("exp", apply("mul", draft.hole(factor), new))
            yield draft.done(apply("mul", quotient_of(rest, 1), new) if rest else new)


def simple_factors(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, tuple[int, ...]]]:
    """The same with powers as people write them: a power that is fitted hides a function, for
    log(x + 1.2)**1.3 is nearly log(x/2 + 1).
    """
    for inner, forms, slopes, weights, rest in _factors(concept, field, stock):
        powers = _common_powers(rest)
        near = forms.nearest(slopes, FAMILIES, weights, may_turn=True, powers=powers)
        for form, sign, power in near:
            exponent = Fraction(abs(power)).limit_denominator(MOST_DENOMINATOR)
            if sign == 0 and (power < 0 or exponent not in (1, 3)):
                # Other powers of what changes its sign are no map.
                continue
            draft = Draft()
            new = placed(draft.form(form, 0), inner)
            if exponent != 1:
                # A whole power may change the sign of all, which says nothing.
                is_whole = sign > 0 or exponent.denominator == 1
                new = apply("pow", new if is_whole else apply("neg", new), constant(exponent))
            factors = [*rest, (new, 1 if power > 0 else -1)]
            # What has nothing above the line is as well turned over.
            turn = 1 if any(place > 0 for _, place in factors) else -1
            yield draft.done(quotient_of([(base, turn * place) for base, place in factors], 1))


def _factors(
    concept: Expression, field: GradientField, stock: Stock
) -> Iterator[tuple[Tree, Forms, FloatArray, FloatArray, Factors]]:
    """Quantities of which factors of a product are functions, other functions of them, the slopes
    that the factors' logarithm should have and how well they are known, and the other factors.

    Where the other factors are right, the field says what the slopes are; so a function may be
    found that is far from the one in the formula.
    """
    data, tree = stock.data, concept.tree
    for inner, own, rest in (*factor_groups(tree, data), *_sum_groups(tree)):
        found = stock.of(inner)
        if found is None:
            continue
        quantity, forms = found
        with np.errstate(all="ignore"):
            if rest and field.tangent.basis is None:
                others = Expression(quotient_of(rest, 1), concept.names)
                gradients = others.gradient(data.points) * data.scale
                slopes, weights = _shares(
                    gradients / others(data.points)[:, None], quantity.units, data.directions
                )
            else:
                part = Expression(quotient_of(own, 1), concept.names)
                gradients = part.gradient(data.points) * data.scale
                slopes = np.einsum("nd,nd->n", gradients, quantity.units) / part(data.points)
                weights = np.ones(len(slopes))
        yield inner, forms, slopes, np.abs(weights), rest


def _shares(
    first: FloatArray, second: FloatArray, directions: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """How much of a unit vector goes with one unit of another in a sum that points in given
    directions, and how much of the other: shape (n_points,) each.
    """
    (a, b, c), (d, e) = (
        [np.einsum("nd,nd->n", left, right) for left, right in pairs]
        for pairs in (
            ((first, first), (first, second), (second, second)),
            ((first, directions), (second, directions)),
        )
    )
    determinant = a * c - b * b
    weights, others = (c * d - b * e) / determinant, (a * e - b * d) / determinant
    return others / weights, weights


def _common_powers(rest: Factors) -> tuple[float, ...]:
    """Powers of a factor that would be 1 if another one's power were a third, a half, one or two,
    and their negatives.
    """
    found: set[float] = set()
    for base, _ in rest:
        last = base.children[1].root if base.root == "pow" else None
        power = {"sqrt": 0.5, "square": 2.0}.get(str(base.root), 1.0)
        if not base.is_constant:
            found.add(abs(float(last.value)) if isinstance(last, Constant) else power)
    sizes = {power * share for power in found for share in SHARES}
    return tuple(sign * size for size in sorted(sizes) for sign in (1, -1))


def factor_groups(tree: Tree, data: Data) -> Iterator[tuple[Tree, Factors, Factors]]:
    """Quantities of which some factors of a product are functions, those factors, and the others,
    which do not depend on what the quantity depends on.
    """
    factors = list(factors_of(tree, 1))
    if len(factors) < 2:
        return
    inners = [variable(column) for column in sorted(tree.variables)]
    for base, _ in factors:
        several = functions_of_several(base, data)
        inners += [inner for end, inner in several if end == base.size - 1]
    for inner in dict.fromkeys(inners):
        own = [pair for pair in factors if pair[0].variables == inner.variables]
        rest = [pair for pair in factors if not pair[0].variables & inner.variables]
        several = len(inner.variables) > 1
        if own and len(own) + len(rest) == len(factors) and (len(own) == 1 or not several):
            yield inner, own, rest


def _sum_groups(tree: Tree) -> Iterator[tuple[Tree, Factors, Factors]]:
    """The same of sums of two: a + b is a*(1 + b/a), and b*(a/b + 1)."""
    factors = list(factors_of(tree, 1))
    for number, (base, place) in enumerate(factors):
        terms = [list(factors_of(term, place)) for _, term in signed_terms(base)]
        terms = [[pair for pair in term if not pair[0].is_constant] for term in terms]
        if len(terms) != 2 or not all(terms):
            continue
        for first, second in (terms, terms[::-1]):
            turned = [(part, -power) for part, power in first]
            above = [pair for pair in second if pair not in first]
            below = [(part, -power) for part, power in first if (part, power) not in second]
            inner = quotient_of([(part, place * power) for part, power in above + below], 1)
            yield (
                inner,
                [(base, place), *turned],
                [*factors[:number], *factors[number + 1 :], *first],
            )
