"""Sums whose terms depend on a second quantity in different ways: A(y)*(a(x) + C(y)) and
A(y)*a(x) + B(y), as in (p + 1/v^2)*(v - b).

Neither has x and y apart. But where a(x) is given, g_y/g_x*a' = alpha(y)*a + beta(y), with alpha =
A'/A and beta = alpha*C + C' = B'/A: at fixed y a straight line in a. So a(x) is found by how
straight these lines are, A by what alpha looks like, and C or B by linear regression.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.polynomial import legendre

from closedform.arrays import FloatArray
from closedform.expressions.kernel import FINE, values_and_gradients
from closedform.expressions.parse import parse
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree, Variable, apply, variable
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import Form, Forms
from closedform.searching.structure_search.merges import REFINED, Merge, Pair
from closedform.searching.structure_search.quantities import substitute
from closedform.searching.structure_search.writing import Draft

LINES = ("x", "x**2", "x**3", "x**4", "1/x", "1/x**2", "sqrt(x)", "exp(x)", "exp(-x)", "log(x)")
"""What the first quantity may enter by."""

ADDED = ("1", *LINES, "sin(x)", "cos(x)")
"""What may be added, as a function of the second quantity."""

COFACTORS = (
    "x", "x**2", "1/x", "log: x", "log: x + 1", "log: x - 1", "log: x**2 + 1", "log: log(x)",
    "log: sin(x)", "log: cos(x)", "log: x + c", "log: (x**2) + c", "log: exp(b*x) + c",
    "log: sin(b*x)", "log: cos(b*x)",
)  # fmt: skip
"""What A may be; of what is no logarithm it is the exponential."""

DEGREE = 8
"""Of the polynomials that alpha and beta are until their form is known."""

STRAIGHTEST, FACTORS, BEST = 2, 4, 2
"""Functions a that are tried, functions A of each with constants inside and as many without, and
sums of each kind of these.
"""

STRAIGHT = 1e-5
"""Share of the pair's energy that straight lines may leave over: polynomials describe alpha and
beta so well, if they are smooth."""


def find_varying(pair: Pair, forms: Forms, space: SearchSpace, level: float) -> list[Merge]:
    """The best such sums: A is one of the forms of the first quantity of a pair, and a is a plain
    function of the second.
    """
    one, other = (pair.state.quantities[place] for place in (pair.first, pair.second))
    lines = _plain(LINES, other.values[pair.few], space)
    added = _plain(ADDED, one.values[pair.few], space)
    cofactors = forms.only(COFACTORS)
    regressions = [Regression.of(pair, line) for line in lines]
    near = sorted((each for each in regressions if each), key=lambda each: each.lost)[:STRAIGHTEST]
    ranked: list[tuple[float, Tree, tuple[int, ...]]] = []
    for regression in near:
        if regression.lost > max(STRAIGHT * pair.energy, level):
            continue
        alphas = regression.alpha * one.lengths[pair.few]
        weights = regression.weights / one.lengths[pair.few]
        for form, sign, power in cofactors.nearest(alphas, FACTORS, weights):
            cofactor = Cofactor.of(form, sign, power, one.values[pair.few])
            if cofactor is not None:
                ranked += regression.sums(cofactor, added)
    ranked.sort(key=lambda each: each[0])
    return pair.fitted([(tree, free) for _, tree, free in ranked[:REFINED]], pair.weaker, level)


@dataclass(frozen=True, slots=True)
class Plain:
    """A function without constants at the values of a quantity."""

    tree: Tree
    values: FloatArray
    slopes: FloatArray


@dataclass(frozen=True, slots=True)
class Regression:
    """The equation g_y/g_x*a' = alpha(y)*a + beta(y) for a given a(x).

    Attributes
    ----------
    line : Plain
        The function a.
    target : ndarray, shape (n_screened,)
        The left side.
    weights : ndarray, shape (n_screened,)
        Such that the squares of what is left over add up to the loss.
    alpha : ndarray, shape (n_screened,)
        By polynomials.
    lost : float
        What polynomials leave over.
    """

    line: Plain
    target: FloatArray
    weights: FloatArray
    alpha: FloatArray
    lost: float

    @classmethod
    def of(cls, pair: Pair, line: Plain) -> "Regression | None":
        """Fit polynomials for alpha and beta; None where the equation has no solution."""
        one, other = (pair.state.quantities[place] for place in (pair.first, pair.second))
        few = pair.few
        slopes, steps = pair.along[few] / one.lengths[few], pair.across[few] / other.lengths[few]
        with np.errstate(all="ignore"):
            ratio = slopes / steps
            target = ratio * line.slopes
            # An angle's error is that of the ratio in scaled coordinates, divided by 1 + ratio^2.
            scaled = pair.along[few] / pair.across[few]
            per_target = one.lengths[few] / (other.lengths[few] * line.slopes)
            energy = pair.along[few] ** 2 + pair.across[few] ** 2
            total = pair.data.weights[few]
            weights = np.sqrt(total / total.sum() * energy) * per_target / (1 + scaled**2)
            is_finite = np.isfinite(target * weights).all() and np.isfinite(weights).all()
        if not is_finite:
            return None
        y = one.values[few]
        middle, half = (y.max() + y.min()) / 2, max((y.max() - y.min()) / 2, 1e-300)
        basis = legendre.legvander((y - middle) / half, DEGREE)
        design = np.hstack([basis * line.values[:, None], basis])
        if not np.isfinite(design).all():
            return None
        solution, lost = _solve(design * weights[:, None], target * weights)
        return cls(line, target, weights, basis @ solution[: DEGREE + 1], lost)

    def sums(
        self, cofactor: "Cofactor", added: Sequence[Plain]
    ) -> Iterator[tuple[float, Tree, tuple[int, ...]]]:
        """The sums for a given A: what each leaves over, its tree and the positions of its
        constants. One function is added, or two, inside the factor or beside it.
        """
        rest = (self.target - cofactor.alpha * self.line.values) * self.weights
        with np.errstate(all="ignore"):
            inside = [cofactor.alpha * each.values + each.slopes for each in added]
            beside = [each.slopes / cofactor.values for each in added]
        for is_inside, columns in ((True, inside), (False, beside)):
            design = np.column_stack(columns) * self.weights[:, None]
            usable = [
                k for k, column in enumerate(design.T) if np.isfinite(column).all() and column.any()
            ]
            for size in (1, 2):
                judged = [
                    (_solve(design[:, list(chosen)], rest), [added[k].tree for k in chosen])
                    for chosen in combinations(usable, size)
                    if size > 1 or added[chosen[0]].slopes.any()
                ]
                judged.sort(key=lambda each: each[0][1])
                for (numbers, lost), trees in judged[:BEST]:
                    terms = list(zip(numbers.tolist(), trees, strict=True))
                    yield lost, *cofactor.written(self.line.tree, terms, is_inside=is_inside)


@dataclass(frozen=True, slots=True)
class Cofactor:
    """The function A(y), a power of a form or its exponential: its values, and alpha = A'/A."""

    form: Form
    sign: int
    power: float
    values: FloatArray
    alpha: FloatArray

    @classmethod
    def of(cls, form: Form, sign: int, power: float, y: FloatArray) -> "Cofactor | None":
        """None if it is not finite everywhere."""
        plain = _at(form.tree, y)
        if plain is None:
            return None
        with np.errstate(all="ignore"):
            if form.is_log:
                # Mostly a plain power; it is fitted later.
                power = round(2 * power) / 2 or power
                values, alpha = np.abs(plain.values) ** power, power * plain.slopes / plain.values
            else:
                values, alpha = np.exp(power * plain.values), power * plain.slopes
        is_usable = np.isfinite(values).all() and np.isfinite(alpha).all() and values.min() > 0
        return cls(form, sign, power, values, alpha) if is_usable else None

    def written(
        self, line: Tree, terms: Sequence[tuple[float, Tree]], *, is_inside: bool
    ) -> tuple[Tree, tuple[int, ...]]:
        """A*(a + terms), or A*a + terms: a tree, and the positions of its constants."""
        draft = Draft()
        base = draft.form(self.form, 0)
        if self.form.is_log:
            base = apply("neg", base) if self.sign < 0 else base
            factor = apply("pow", base, draft.hole(self.power))
        else:
            factor = apply("exp", apply("mul", draft.hole(self.power), base))
        line = substitute(line, [variable(1)])
        tree = line if is_inside else apply("mul", line, factor)
        for number, term in terms:
            is_number = not any(isinstance(token, Variable) for token in term.tokens)
            hole = draft.hole(number)
            tree = apply("add", tree, hole if is_number else apply("mul", hole, term))
        return draft.done(apply("mul", tree, factor) if is_inside else tree)


def _solve(design: FloatArray, target: FloatArray) -> tuple[FloatArray, float]:
    """Least squares, and what they leave over."""
    solution, *_ = np.linalg.lstsq(design, target, rcond=1e-12)
    return np.asarray(solution, dtype=np.float64), float(((target - design @ solution) ** 2).sum())


def _plain(texts: Sequence[str], values: FloatArray, space: SearchSpace) -> list[Plain]:
    """Those functions that the space allows and that are finite at the values."""
    trees = [tree for tree in _trees(tuple(texts)) if space.allows_inside(tree, ["x"])]
    return [plain for tree in trees if (plain := _at(tree, values)) is not None]


@cache
def _trees(texts: tuple[str, ...]) -> tuple[Tree, ...]:
    return tuple(parse(text, names=["x"]).tree for text in texts)


def _at(tree: Tree, values: FloatArray) -> Plain | None:
    found, gradients, status = values_and_gradients(
        compile_tapes([tree]), np.ascontiguousarray(values[:, None])
    )
    is_fine = (status[0] == FINE).all() and np.isfinite(gradients).all()
    return Plain(tree, found[0], gradients[0, :, 0]) if is_fine else None
