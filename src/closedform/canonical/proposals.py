"""Plainer variants of a formula, for the caller to judge: with plainer constants, without terms
that hardly matter or that other concepts make needless, and without functions that do nothing on
the data (the sine of something tiny is that thing itself).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import e, exp, inf, log, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, as_points
from closedform.canonical.algebra import Algebra
from closedform.canonical.constants import FreeConstant, free_constants, with_constants
from closedform.canonical.form import formula_of_terms, in_name_order, scaled, sum_of_terms
from closedform.canonical.product_sums import ProductSum, of_factors
from closedform.canonical.sum_spelling import spell
from closedform.canonical.tolerances import (
    CHANCE_HITS,
    COMPATIBLE,
    IDLE,
    LARGEST_DISTANCE,
    MOST_DIVIDED,
    NEAR_INSIDE,
)
from closedform.errors import ShapeError
from closedform.expressions.evaluate import evaluate, gradient, operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.operators import OPERATORS
from closedform.expressions.tolerances import SIMPLE_DENOMINATOR
from closedform.expressions.tree import Constant, Tree, apply, constant, named_constant
from closedform.field.alignment.tolerances import SAME


def without_small_terms(expression: Expression, points: ArrayLike) -> list[Expression]:
    """The formula without one of the terms of its outermost sum, the term of least slope first.

    If it is a product, a term is left out of one of its brackets.

    Scaled like canonical forms. Nothing is judged: that is the caller's.
    """
    array = as_points(points, len(expression.names))
    total, algebra = sum_of_terms(expression), Algebra()
    if total is None:
        return []
    _, columns = in_name_order(expression)
    found: dict[Expression, float] = {}
    for share, variant in _variants(scaled(total, algebra), algebra, array[:, columns]):
        form = formula_of_terms(variant, expression)
        if form is not None:
            found.setdefault(form, share)
    return sorted(found, key=lambda form: found[form])


def _variants(
    total: ProductSum, algebra: Algebra, points: FloatArray
) -> list[tuple[float, ProductSum]]:
    if len(total.parts) > 1:
        shares = slope_shares(total, points)
        return [(share, _without(total, place)) for place, share in enumerate(shares)]
    found: list[tuple[float, ProductSum]] = []
    for factors, _ in total.parts:
        for place, (atom, power) in enumerate(factors):
            if atom.is_group and atom.inside is not None and len(atom.inside.parts) > 1:
                rest = of_factors(factors[:place] + factors[place + 1 :])
                for left_out, share in enumerate(slope_shares(atom.inside, points)):
                    try:
                        shorter = algebra.power(_without(atom.inside, left_out), power)
                    except ArithmeticError:  # without the term it is the root of a negative number
                        continue
                    found.append((share, algebra.multiply(rest, shorter)))
    return found


def _without(total: ProductSum, place: int) -> ProductSum:
    return ProductSum(total.parts[:place] + total.parts[place + 1 :])


def slope_shares(total: ProductSum, points: FloatArray) -> list[float]:
    """The mean share of each term in the sizes of all gradients; a number is never small."""
    scale = points.std(axis=0) if len(points) else np.ones(points.shape[1])
    terms = [spell(ProductSum((part,))) for part in total.parts]
    with np.errstate(all="ignore"):
        sizes = np.stack([np.linalg.norm(gradient(t, points) * scale, axis=1) for t in terms])
        shares = sizes / sizes.sum(axis=0)
    return [
        float(np.mean(row[np.isfinite(row)])) if np.isfinite(row).any() else 1.0 for row in shares
    ]


def partial_sums(expression: Expression) -> list[Expression]:
    """The formula with some of the terms of its expanded outermost sum, shortest first, without
    itself.

    Scaled like canonical forms.
    """
    total = sum_of_terms(expression)
    if total is None:
        return []
    count = len(total.parts)
    sizes = range(1 if count <= MOST_DIVIDED else count - 2, count)
    selections = (ProductSum(parts) for size in sizes for parts in combinations(total.parts, size))
    forms = dict.fromkeys(formula_of_terms(selection, expression) for selection in selections)
    return [form for form in forms if form and not form.tree.is_constant]


def without_idle_functions(expression: Expression, points: FloatArray) -> Expression:
    """The formula with the arguments of odd functions in their place, where these are so small over
    the data that the function equals its argument.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    >>> print(without_idle_functions(cf.parse("tanh(0.02*x) + sin(y)"), points))
    0.02*x + sin(y)
    """

    def node(name: str, *operands: Tree) -> Tree:
        whole = apply(name, *operands)
        if OPERATORS[name].parity != "odd" or whole.is_constant:
            return whole
        with np.errstate(all="ignore"):
            argument, value = evaluate(operands[0], points), evaluate(whole, points)
            left = np.abs(value - argument).max(initial=0.0)
        return operands[0] if left <= IDLE * np.abs(argument).max(initial=0.0) else whole

    return Expression(expression.tree.fold(lambda token: Tree((token,)), node), expression.names)


DENOMINATORS = range(1, SIMPLE_DENOMINATOR + 1)
"""Denominators of the fractions to which constants are snapped."""

_FRACTIONS_PER_UNIT = len({Fraction(p, q) for q in DENOMINATORS for p in range(q)})
_INSIDE = tuple(
    dict.fromkeys(factor for q in DENOMINATORS for factor in (Fraction(q), Fraction(1, q)))
)


@dataclass(frozen=True, slots=True)
class _Snap:
    """A plainer constant in the place of another, and how far it is in standard errors (or
    relatively, without errors).
    """

    position: int
    tree: Tree
    distance: float


def snapped_forms(
    expression: Expression, *, errors: Sequence[float] | None = None
) -> list[Expression]:
    """The formula with plainer constants, in several ways.

    Every constant goes to the nearest integer or to the nearest fraction with a denominator of at
    most 4: all at once, each alone, and one after the other from the most certain on. Constants
    within 3 standard errors of 0 become 0. Multiples of pi, e and sqrt(2) are proposed if they are
    within 3 standard errors and such a hit is not by chance. Factors of an exponential are also
    tried as k*exp(m) with simple k and m: c*exp(x) is exp(x + log(c)).

    expression: best a canonical form.
    errors: standard errors of its `free_constants`. Constants then move by at most 3 of them, or to
        the nearest fraction.

    Scaled and ordered like canonical forms, without repetition, the fewest changes last.
    """
    free = free_constants(expression)
    if errors is not None and len(errors) != len(free):
        raise ShapeError(
            f"{len(errors)} errors were given for {len(free)} free constants; give one for each."
        )
    sizes = [None] * len(free) if errors is None else [float(error) for error in errors]
    families = (_irrational, _fraction, _integer, _zero)
    rows = [
        [family(place, size) for place, size in zip(free, sizes, strict=True)]
        for family in families
    ]
    choices: list[dict[int, Tree]] = []
    best = [
        min((snap for snap in column if snap), key=_plainest, default=None)
        for column in zip(*rows, strict=True)
    ]
    for row in (best, *rows):
        snaps = sorted(filter(None, row), key=lambda snap: (snap.distance, snap.position))
        choices += [
            {snap.position: snap.tree for snap in snaps[:count]}
            for count in range(len(snaps), 0, -1)
        ]
    alone = [snap for row in rows for snap in row if snap is not None]
    alone += _moved_inside(expression, free, sizes)
    choices += [{snap.position: snap.tree} for snap in alone]
    forms: dict[Expression, None] = {}
    for choice in sorted(choices, key=len, reverse=True):
        changed = with_constants(expression, choice)
        total = sum_of_terms(changed)
        form = None if total is None else formula_of_terms(total, changed)
        if form is not None and form != expression:
            forms.setdefault(form)
    return list(forms)


def _plainest(snap: _Snap) -> tuple[float, int, float]:
    """Among compatible numbers zero, then integers, then fractions; the others come last."""
    number = snap.tree.root.value if isinstance(snap.tree.root, Constant) else None
    rank = 3 if number is None else 0 if number == 0 else 1 if number.denominator == 1 else 2
    return (0.0 if snap.distance <= COMPATIBLE else 1.0), rank, snap.distance


def _distance(place: FreeConstant, target: float, error: float | None) -> float:
    away = abs(float(place.value) - target)
    if error is None:
        return away / max(abs(float(place.value)), 1e-300)
    return away / error if error > 0 else (0.0 if away == 0 else inf)


def _fraction(
    place: FreeConstant, error: float | None, denominators: Sequence[int] = DENOMINATORS
) -> _Snap | None:
    """The nearest fraction other than 0, if it is near enough and another number."""
    options = [Fraction(round(place.value * q), q) for q in denominators]
    nearest = min(
        (option for option in options if option),
        key=lambda o: (abs(o - place.value), o.denominator),
        default=place.value,
    )
    away = abs(float(nearest - place.value))
    reach = LARGEST_DISTANCE * max(1.0, abs(float(place.value)))
    if nearest == place.value or (away > reach and (error is None or away > COMPATIBLE * error)):
        return None
    return _Snap(place.position, constant(nearest), _distance(place, float(nearest), error))


def _integer(place: FreeConstant, error: float | None) -> _Snap | None:
    return _fraction(place, error, (1,))


def _zero(place: FreeConstant, error: float | None) -> _Snap | None:
    value = abs(float(place.value))
    possible = value <= COMPATIBLE * error if error is not None else value <= LARGEST_DISTANCE
    return _Snap(place.position, constant(0), _distance(place, 0.0, error)) if possible else None


def _irrational(place: FreeConstant, error: float | None) -> _Snap | None:
    """The nearest multiple of pi, its square or inverse, e or sqrt(2), if it is near enough and
    such hits are rare enough.
    """
    if error is None:
        return None
    # Of an exact field the error is rounding, of which the fit has more.
    error = max(error, SAME * abs(float(place.value)))
    units = (
        (pi, named_constant("pi")),
        (pi**2, apply("pow", named_constant("pi"), constant(2))),
        (1 / pi, apply("div", constant(1), named_constant("pi"))),
        (e, apply("exp", constant(1))),
        (sqrt(2), apply("sqrt", constant(2))),
    )
    expected = 2 * COMPATIBLE * error * sum(_FRACTIONS_PER_UNIT / unit for unit, _ in units)
    if expected >= CHANCE_HITS:
        return None
    found: list[_Snap] = []
    for unit, tree in units:
        for q in DENOMINATORS:
            multiple = Fraction(round(float(place.value) / unit * q), q)
            distance = _distance(place, float(multiple) * unit, error)
            if multiple and distance <= COMPATIBLE:
                found.append(
                    _Snap(place.position, apply("mul", constant(multiple), tree), distance)
                )
    return min(found, key=lambda snap: snap.distance, default=None)


def _moved_inside(
    expression: Expression, free: Sequence[FreeConstant], sizes: Sequence[float | None]
) -> Iterator[_Snap]:
    """Factors of exponentials as k*exp(m)."""
    tokens = expression.tree.tokens
    beside = {
        operands[0]
        for token, operands in zip(tokens, operand_positions(expression.tree), strict=True)
        if token in ("mul", "div") and any(tokens[child] == "exp" for child in operands[1:])
    }
    for place, error in zip(free, sizes, strict=True):
        if place.position not in beside or place.value <= 0:
            continue
        for factor in _INSIDE:
            shift = log(float(place.value / factor))
            inner = min(
                (Fraction(round(shift * q), q) for q in DENOMINATORS[:2]),
                key=lambda option: abs(option - shift),
            )
            reach = max(NEAR_INSIDE, COMPATIBLE * (error or 0.0) / float(place.value))
            if inner and abs(inner) <= 10 and abs(float(inner) - shift) <= reach:
                tree = apply("mul", constant(factor), apply("exp", constant(inner)))
                yield _Snap(
                    place.position, tree, _distance(place, float(factor) * exp(inner), error)
                )
