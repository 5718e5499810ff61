"""A curve, values over an index with errors, and a formula whose numbers are fitted to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from closedform.arrays import FloatArray
from closedform.expressions.complexity import FITTED, description_length, fitted_positions
from closedform.expressions.evaluate import value_and_gradient
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Constant, Tree, Variable, apply, constant, variable
from closedform.field.alignment.tolerances import ROUNDING
from closedform.judge.regions import N_REGIONS
from closedform.searching.structure_search.quantities import substitute
from closedform.searching.structure_search.writing import DENOMINATORS

MOST_TRIES = 30
"""Evaluations of one fit, after which it stays where it is."""

HUGE, MOST_LOG = 1e50, 100.0
"""What is larger is taken as this: its square can be added up; and so is its logarithm."""

COMPATIBLE, NEARLY = 3.0, 1e-2
"""Standard errors, or a share of its size, within which a number may be a plain one; two numbers
may be one within so many errors."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Values over an index, as the directions that they stand for.

    The coefficient c of one term beside another is the direction (1, c). So errors are angles: what
    is far from zero counts by its share, and what is near zero by its size.
    """

    # All of shape (n_points,), in the order of the index.
    index: FloatArray
    values: FloatArray
    turns: FloatArray  # the angle by which a unit of the value turns the direction
    # Standard errors as angles, none below the typical one: over few regions an error is known
    # roughly, and a network's own is not in it.
    errors: FloatArray

    @classmethod
    def of(cls, index: FloatArray, values: FloatArray, errors: FloatArray) -> "Curve":
        """The usable points of a curve; errors that are not known are none."""
        usable = np.flatnonzero(np.isfinite(index) & np.isfinite(values))
        usable = usable[np.argsort(index[usable], kind="stable")]
        index, values, errors = index[usable], values[usable], errors[usable]
        size = float(np.median(np.abs(values))) or float(np.abs(values).max(initial=0.0)) or 1.0
        turns = size / (size**2 + values**2)
        angles = np.where(np.isfinite(errors), errors, 0.0) * turns
        least = max(float(np.median(angles)) if len(angles) else 0.0, float(np.sqrt(ROUNDING)))
        return cls(index, values, turns, np.maximum(angles, least))

    @property
    def stretches(self) -> list[np.ndarray]:
        """Neighbouring points, which stand or fall together."""
        return np.array_split(np.arange(len(self.index)), min(N_REGIONS, len(self.index)))


@dataclass(frozen=True)
class CurveForm:
    """A formula of an index, with numbers."""

    # Over the index and, after it, the numbers; a number may stand in several places.
    tree: Tree
    numbers: tuple[float, ...]

    @classmethod
    def of(cls, tree: Tree, positions: Sequence[int]) -> "CurveForm":
        """A formula whose constants at some positions are the numbers."""
        tokens, numbers = list(tree.tokens), []
        for position in positions:
            token = tokens[position]
            assert isinstance(token, Constant)
            numbers.append(float(token.value))
            tokens[position] = Variable(len(numbers))
        return cls(Tree(tuple(tokens)), tuple(numbers))

    @cached_property
    def written(self) -> Tree:
        """The formula with its numbers in their places."""
        return substitute(self.tree, [variable(0), *map(constant, self.numbers)])

    @cached_property
    def length(self) -> float:
        """Of its description, in which a number that stands in several places comes once."""
        counts = [self.tree.tokens.count(Variable(1 + k)) for k in range(len(self.numbers))]
        return description_length(self.written) - FITTED * sum(max(n - 1, 0) for n in counts)

    def at(self, index: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, and their derivatives by the numbers, shape (n_points, n_numbers)."""
        inputs = [index, *(np.full_like(index, number) for number in self.numbers)]
        with np.errstate(all="ignore"):
            values, slopes = value_and_gradient(self.tree, inputs)
        nothing = np.zeros_like(index)
        table = [nothing + slopes.get(1 + k, 0.0) for k in range(len(self.numbers))]
        return nothing + values, np.stack([nothing, *table], axis=1)[:, 1:]

    def plainer(self, errors: FloatArray) -> Iterator["CurveForm"]:
        """With one number plain, or two that are one, where their standard errors allow it."""
        for place, (number, error) in enumerate(zip(self.numbers, errors, strict=True)):
            for below in DENOMINATORS:
                near = round(number * below) / below
                if abs(near - number) <= max(COMPATIBLE * error, NEARLY * abs(number)):
                    yield self._with(place, constant(near))
                    break
            for other in range(place):
                gap = self.numbers[other] - number
                if abs(gap) <= COMPATIBLE * np.hypot(error, errors[other]):
                    yield self._with(place, variable(1 + other))

    def _with(self, place: int, part: Tree) -> "CurveForm":
        """Something else for a number."""
        parts = [variable(k) for k in range(len(self.numbers) + 1)]
        parts[1 + place] = part
        tree = _without_ones(substitute(self.tree, parts))
        kept = [k for k in range(1, len(parts)) if k in tree.variables]
        parts[1:] = [
            variable(1 + kept.index(k)) if k in kept else part for k in range(1, len(parts))
        ]
        return CurveForm(substitute(tree, parts), tuple(self.numbers[k - 1] for k in kept))

    @property
    def with_pivot(self) -> "CurveForm":
        """b*log(k/c) for b*log(k) + a: where it is zero can be read off."""
        *factor, offset = self.numbers or (0.0,)
        logarithm = apply("log", variable(0))
        scaled = logarithm if not factor else apply("mul", variable(1), logarithm)
        if self.tree != apply("add", scaled, variable(1 + len(factor))):
            return self
        pivot = float(np.exp(np.clip(-offset / (factor or [1.0])[0], -MOST_LOG, MOST_LOG)))
        inside = apply("log", apply("div", variable(0), variable(1 + len(factor))))
        tree = inside if not factor else apply("mul", variable(1), inside)
        return CurveForm(tree, (*factor, pivot))

    def expression(self, name: str, digits: int = 17) -> Expression:
        """The formula in the index's name, its numbers to so many digits."""
        shown = replace(self, numbers=tuple(float(f"{n:.{digits}g}") for n in self.numbers))
        return Expression(_with_signs(shown.written), (name,))


def _with_signs(tree: Tree) -> Tree:
    """With differences for sums of what is negative."""

    def node(name: str, *parts: Tree) -> Tree:
        number = parts[-1].root if name == "add" and parts[-1].size == 1 else None
        if name == "add" and parts[1].root == "mul":
            number = parts[1].children[0].root
        if not isinstance(number, Constant) or number.value >= 0:
            return apply(name, *parts)
        opposite: Tree = constant(-number.value)
        if parts[1].size > 1:
            opposite = _without_ones(apply("mul", opposite, parts[1].children[1]))
        return apply("sub", parts[0], opposite)

    return tree.fold(lambda token: Tree((token,)), node)


def _without_ones(tree: Tree) -> Tree:
    """Without factors, divisors and exponents of 1, and terms and factors of 0."""

    def node(name: str, *parts: Tree) -> Tree:
        one, zero = constant(1), constant(0)
        if name in ("mul", "div", "pow") and parts[1] == one:
            return parts[0]
        if name == "mul" and parts[0] == one:
            return parts[1]
        if name in ("mul", "div") and zero in parts[: 1 + (name == "mul")]:
            return zero
        if name in ("add", "sub") and parts[1] == zero:
            return parts[0]
        if name == "add" and parts[0] == zero:
            return parts[1]
        return apply(name, *parts)

    return tree.fold(lambda token: Tree((token,)), node)


@dataclass(frozen=True, slots=True, eq=False)
class FittedCurve:
    """A form at its best numbers."""

    form: CurveForm
    # (n_numbers,): standard errors of the numbers, by leaving out one stretch after another or by
    # the curve's own errors, whichever is larger.
    errors: FloatArray
    left: FloatArray  # (n_points,): angles, each by numbers that were fitted without its stretch

    @property
    def n_fitted(self) -> int:
        """Numbers that nobody would write."""
        return len(self.form.numbers) + len(fitted_positions(self.form.tree))


def fit_curve(form: CurveForm, curve: Curve) -> FittedCurve | None:
    """Fit a form's numbers; None where it has no values, or more numbers than a curve tells."""
    weights, count = curve.turns / curve.errors, len(form.numbers)
    if count + 2 > len(curve.index):
        return None

    @lru_cache(maxsize=1)  # a fit asks for residuals and slopes one after the other
    def once(numbers: tuple[float, ...]) -> tuple[FloatArray, FloatArray]:
        values, slopes = replace(form, numbers=numbers).at(curve.index)
        with np.errstate(all="ignore"):
            return (values - curve.values) * weights, slopes * weights[:, None]

    def at(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
        return once(tuple(numbers.tolist()))

    def left_at(numbers: FloatArray) -> FloatArray:
        return np.clip(np.nan_to_num(at(numbers)[0], nan=HUGE), -HUGE, HUGE)

    def clipped_slopes(numbers: FloatArray) -> FloatArray:
        return np.clip(np.nan_to_num(at(numbers)[1]), -HUGE, HUGE)

    slopes_at: Any = clipped_slopes  # SciPy's types know names of methods only
    found = np.array(form.numbers)
    left, slopes = at(found)
    if not ((np.abs(left) < HUGE).all() and (np.abs(slopes) < HUGE).all()):
        return None
    if count:
        found = least_squares(left_at, found, slopes_at, x_scale="jac", max_nfev=MOST_TRIES).x
        left, slopes = at(found)
        if not ((np.abs(left) < HUGE).all() and (np.abs(slopes) < HUGE).all()):
            return None
    inverse = np.linalg.pinv(slopes.T @ slopes)
    shifts, unseen = np.zeros((len(curve.stretches), count)), left.copy()
    for place, rows in enumerate(curve.stretches):
        own = slopes[rows]
        # What the fit would leave there without these points, as far as it is linear.
        lever = np.eye(len(rows)) - own @ inverse @ own.T
        unseen[rows] = np.linalg.lstsq(lever, left[rows], rcond=None)[0]
        shifts[place] = inverse @ own.T @ unseen[rows]
    if not (np.isfinite(found).all() and np.isfinite(unseen).all()):
        return None
    scatter = (len(shifts) - 1) / len(shifts) * (shifts**2).sum(axis=0)
    errors = np.sqrt(np.maximum(scatter, np.diag(inverse)))
    best = replace(form, numbers=tuple(found.tolist()))
    return FittedCurve(best, errors, unseen * curve.errors)
