"""Two formulas as the sides of one minimum or maximum.

Each side is known up to an invertible function. On the border both are equal, so one is turned by a
power, a logarithm or an exponential, multiplied and shifted, until their difference has one sign on
one side and the other on the other.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, product
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import evaluate
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import power_of, signed_terms, sum_of, times
from closedform.expressions.tree import Constant, Tree, apply, constant, variable

FUNCTIONS = ("inv", "log", "exp")

LOOSE = 0.3
"""A factor that is not known better than this, as a share of itself, is not known."""

DENOMINATORS = (1, 2, 3, 4, 5, 10, 20, 100, 1000, 10_000, 100_000)
"""Of numbers that people write, in their order."""

LARGEST = 1e6
"""Where a bound is missing on one side, a number of this size stands in for it."""

Line = tuple[Fraction, Fraction]
"""A factor and what is added."""


def joined(
    first: Expression, second: Expression, points: FloatArray, is_first: NDArray[np.bool_]
) -> list[Tree]:
    """Minima and maxima that are the first formula at some points and the second at all others."""
    signs, trees = np.where(is_first, 1.0, -1.0), (first.tree, second.tree)
    if not all(np.isfinite(evaluate(tree, points)).all() for tree in trees):
        return []
    ways = chain(
        [_proportional(*trees, points, signs)],
        _times_an_input(*trees, points, signs),
        _plus_terms(*trees, points, signs),
    )
    return [tree for way in ways for tree in way] or _shifted(*trees, points, signs)


def _times_an_input(
    one: Tree, other: Tree, points: FloatArray, signs: FloatArray
) -> Iterator[list[Tree]]:
    """Where w has both signs, w*min(a, b) is the smaller of w*a and w*b here, the greater there."""
    for column in range(points.shape[1]):
        if not _has_one_sign(points[:, column]) and points[:, column].all():
            shared = variable(column)
            sides = apply("div", one, shared), apply("div", other, shared)
            yield [times(shared, tree) for tree in _proportional(*sides, points, signs)]


def _plus_terms(
    one: Tree, other: Tree, points: FloatArray, signs: FloatArray
) -> Iterator[list[Tree]]:
    """The side b + h of min(a, b) + h is known as b, if h is a function of b."""
    for whole, part, own in ((one, other, -signs), (other, one, signs)):
        kinds: tuple[list[Tree], list[Tree]] = [], []
        for sign, term in signed_terms(whole):
            is_shared = term.variables <= part.variables
            kinds[is_shared].append(term if sign > 0 else apply("neg", term))
        if all(kinds):
            rest, shared = (sum_of(terms) for terms in kinds)
            yield [apply("add", tree, shared) for tree in _proportional(part, rest, points, own)]


def _proportional(one: Tree, other: Tree, points: FloatArray, signs: FloatArray) -> list[Tree]:
    """Sides of which one is turned by a factor, and by a power where neither changes its sign."""
    u, v = evaluate(one, points), evaluate(other, points)
    found = [
        apply(name, _on_line(one, (factor, Fraction(0))), other)
        for name, sides in _opposite(signs)
        if (factor := _factor(u, v, sides, _ratios(one, other))) is not None
    ]
    if _has_one_sign(u) and _has_one_sign(v):
        above, beside = (
            tree if values[0] > 0 else apply("neg", tree) for tree, values in ((one, u), (other, v))
        )
        found += [
            apply(name, _power_law(above, law), beside)
            for name, sides in _opposite(signs)
            if (law := _line(np.log(np.abs(u)), np.log(np.abs(v)), sides, np.exp)) is not None
            and law[0] != 1
        ]
    return found


def _shifted(one: Tree, other: Tree, points: FloatArray, signs: FloatArray) -> list[Tree]:
    """Sides of which one is multiplied and shifted, after both were turned by a function."""
    return [
        apply(name, _on_line(turned, line), other_turned)
        for (turned, own), (other_turned, others) in product(
            _turned(one, points), _turned(other, points)
        )
        for name, sides in _opposite(signs)
        if (line := _line(own, others, sides)) is not None
    ]


def _opposite(signs: FloatArray) -> tuple[tuple[str, FloatArray], ...]:
    """The first side is the greater one of a maximum, or the smaller one of a minimum."""
    return ("max", signs), ("min", -signs)


def _has_one_sign(values: FloatArray) -> bool:
    return bool((values > 0).all() or (values < 0).all())


def _turned(tree: Tree, points: FloatArray) -> Iterator[tuple[Tree, FloatArray]]:
    """A formula, and functions of it that are monotone and finite at all points."""
    yield tree, evaluate(tree, points)
    for name in FUNCTIONS:
        own = apply(name, tree)
        with np.errstate(all="ignore"):
            values = evaluate(own, points)
        if np.isfinite(values).all() and (name != "inv" or _has_one_sign(values)):
            yield own, values


def _power_law(tree: Tree, law: Line) -> Tree:
    """A multiple of a power."""
    power, factor = law
    own = power_of(tree, abs(power))
    if power < 0:
        return apply("div", constant(factor), own)
    return _on_line(own, (factor, Fraction(0)))


def _on_line(tree: Tree, line: Line) -> Tree:
    factor, added = line
    scaled = tree if factor == 1 else times(constant(factor), tree)
    return scaled if added == 0 else sum_of([scaled, constant(added)])


def _ratios(one: Tree, other: Tree) -> list[Fraction]:
    """Factors by which a number in the first becomes one in the second: sides often share terms."""
    first, second = (
        {abs(token.value) for token in tree.tokens if isinstance(token, Constant)} | {Fraction(1)}
        for tree in (one, other)
    )
    return [sign * b / a for a in sorted(first) for b in sorted(second) for sign in (1, -1) if a]


def _factor(
    u: FloatArray, v: FloatArray, sides: FloatArray, ratios: Sequence[Fraction]
) -> Fraction | None:
    """The plainest a with a*u above v on one side, and below it on the other."""
    with np.errstate(all="ignore"):
        bounds, is_low = v / u, u * sides > 0
    low = float(bounds[is_low].max(initial=-inf))
    high = float(bounds[~is_low & (u != 0)].min(initial=inf))
    return plainest_between(low, high, ratios) if _is_known(low, high) else None


def _line(
    u: FloatArray, v: FloatArray, sides: FloatArray, scale: np.ufunc = np.positive
) -> Line | None:
    """The plainest a, and for it the plainest b, or function of it, with a*u + b above v on one
    side, and below it on the other.
    """
    rows = -sides[:, None] * np.column_stack([u, np.ones_like(u)])
    ends = [
        linprog([sign, 0.0], A_ub=rows, b_ub=-sides * v, bounds=[(None, None)] * 2)
        for sign in (1.0, -1.0)
    ]
    if any(end.status != 0 for end in ends):
        return None
    low, high = (float(end.x[0]) for end in ends)
    if not _is_known(low, high):
        return None
    factor = plainest_between(low, high)
    bounds = scale(v - float(factor) * u)
    low = float(bounds[sides > 0].max(initial=-inf))
    high = float(bounds[sides < 0].min(initial=inf))
    return (factor, plainest_between(low, high)) if low < high else None


def _is_known(low: float, high: float) -> bool:
    """Whether a factor lies between bounds that say something about it."""
    return low < high and low * high > 0 and high - low < LOOSE * max(abs(low), abs(high))


def plainest_between(low: float, high: float, known: Sequence[Fraction] = ()) -> Fraction:
    """The number of an open interval that a person would write: of few digits, then one that is
    known, then one over a number of few digits, then of more digits.

    Examples
    --------
    >>> plainest_between(0.69, 0.72), plainest_between(-1.6, -1.4), plainest_between(1.41, 1.43)
    (Fraction(7, 10), Fraction(-3, 2), Fraction(10, 7))
    """
    middle = np.clip((low + high) / 2, max(low, -LARGEST), min(high, LARGEST))
    short, long = DENOMINATORS[:7], DENOMINATORS[7:]
    multiples = [Fraction(round(float(middle) * count), count) for count in short + long]
    parts = [Fraction(count, round(count / float(middle)) or count) for count in short if middle]
    for number in (*multiples[: len(short)], *known, *parts, *multiples[len(short) :]):
        if low < number < high:
            return number
    return Fraction(float(middle))
