"""One part of a formula exchanged for other functions of the same quantity.

A stand-in, such as x - 0.15*x**3 for sin(x), fits well because it is near the truth, part by part.
If everything around a part is right, the field says which slope the part must have at each point.
So the functions are chosen whose slopes are most like that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as attribute
from fractions import Fraction
from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import power_of
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.gradient_field import GradientField
from closedform.judge.neighbours.places import Place, places
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import Form, Forms, rival_forms
from closedform.searching.structure_search.quantities import USABLE, Data, Quantity, make_quantity
from closedform.searching.structure_search.writing import Draft

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
    """Pairs of powers with the coefficients that give most nearly such slopes, best first.

    Examples
    --------
    >>> x = np.linspace(0.5, 2, 50)
    >>> (first, second), *_ = _sums_of_powers(x, 2 * x + 6 * x**2, np.ones(50))
    >>> [(power, round(number, 3)) for power, number in (first, second)]
    [(2, 1.0), (3, 2.0)]
    """
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
