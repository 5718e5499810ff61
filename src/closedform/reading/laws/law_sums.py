"""Laws that are sums of library terms: null spaces of the terms' changes along a motion.

Beside the families of the search the libraries hold distances between bodies, whose coordinates the
names of the inputs tell (x1, y1 and x2, y2), and functions of single inputs times powers of others.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, svd

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.evaluate import evaluate
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.sums_and_products import power_of, sum_of
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.alignment.eigen import extended_minima
from closedform.field.alignment.tolerances import DEPENDENT, PERFECT
from closedform.reading.laws.motions import Motion
from closedform.searching.space import SearchSpace
from closedform.searching.terms.exact_sums import exact_sums
from closedform.searching.terms.families import family_library
from closedform.searching.terms.library import Term
from closedform.searching.terms.moments import Moments
from closedform.searching.terms.sum_formula import Sum, plain_number, sums, write
from closedform.searching.terms.term_beam import Support

_NUMBERED = re.compile(r"(.*\D)(\d+)")

MOST_DISTANCES = 200
"""More would leave too few rows for each term."""

MOST_MIXED = 500
"""Terms that are kept, the cheapest: a third of the rows that are searched at least."""

FAMILIES = ("reciprocals", "radicals", "sines", "exponentials", "logarithms")

MOST_RADIAL_INPUTS = 8
"""With more there are hundreds of distances from the origin, and too few orbits for them."""


def distance_library(
    space: SearchSpace, names: Sequence[str], points: FloatArray, scale: FloatArray
) -> list[Term]:
    """Polynomials of degree 2, 1/d and log(d**2) of distances d of bodies; empty without bodies."""
    totals = (one for one in _squared_distances(names) if evaluate(one, points).min() > 0)
    trees = (tree for one in totals for tree in (_inverse_root(one), apply("log", one)))
    functions = _allowed(trees, space, names)
    if not 0 < len(functions) <= MOST_DISTANCES:
        return []
    return family_library("polynomials", space, names, points, scale, 2) + functions


def _squared_distances(names: Sequence[str]) -> Iterator[Tree]:
    """Of each two bodies, in each two or three of the letters that both have."""
    bodies: dict[str, dict[str, int]] = {}
    for place, name in enumerate(names):
        if match := _NUMBERED.fullmatch(name):
            bodies.setdefault(match[2], {})[match[1]] = place
    for one, other in combinations(bodies.values(), 2):
        pairs = [(place, other[letter]) for letter, place in one.items() if letter in other]
        squares = [power_of(apply("sub", variable(a), variable(b)), 2) for a, b in pairs]
        for count in (2, 3):
            yield from map(sum_of, combinations(squares, count))


def _inverse_root(total: Tree) -> Tree:
    return apply("div", constant(1), apply("sqrt", total))


def _allowed(trees: Iterable[Tree], space: SearchSpace, names: Sequence[str]) -> list[Term]:
    allowed = (tree for tree in trees if space.allows(tree, names))
    return [Term(tree, complexity(tree, space.costs)) for tree in allowed]


def mixed_library(
    space: SearchSpace,
    names: Sequence[str],
    points: FloatArray,
    scale: FloatArray,
    families: Sequence[str] = FAMILIES,
) -> list[Term]:
    """Polynomials and functions of one input times others, of all families, cheapest first."""
    found = family_library("polynomials", space, names, points, scale, None)
    for family in families:
        more = family_library(family, space, names, points, scale)
        found = [*found, *(term for term in more if len(term.tree.variables) <= 2)]
    terms: dict[Tree, Term] = {}
    for term in found:
        terms.setdefault(term.tree, term)
    return sorted(terms.values(), key=lambda term: (term.cost, term.tree.size))[:MOST_MIXED]


def radial_library(
    space: SearchSpace, names: Sequence[str], points: FloatArray, scale: FloatArray
) -> list[Term]:
    """Polynomials of degree 2, the user's own terms, and inverse distances from the origin."""
    terms = family_library("polynomials", space, names, points, scale, 2)
    for item in space.terms:
        tree = (parse(item, names) if isinstance(item, str) else item.rename(names)).tree
        terms.append(Term(tree, complexity(tree, space.costs), is_given=True))
    squares = [apply("pow", variable(i), constant(2)) for i in range(len(names))]
    counts = (2, 3) if len(names) <= MOST_RADIAL_INPUTS else ()
    totals = (sum_of(some) for count in counts for some in combinations(squares, count))
    roots = (_inverse_root(one) for one in totals if evaluate(one, points).min() > 0)
    # Later ones replace equal ones: what the user gave is given.
    return list({term.tree: term for term in [*terms, *_allowed(roots, space, names)]}.values())


MOST_TERMS = 24
"""Longest sum: the hyperdeterminant of 2x2x2 tensors has twelve terms."""

MOST_NOISY = 16
"""The same where there is noise: each term must be seen above it."""

FEW_TERMS, PER_SIZE = 8, 6
"""Sums of so few terms are looked for one by one, and so many of each size are fitted."""

MOST_LONG = 40
"""Longer ones that are fitted, the cheapest."""

_CONSTANT = 1e-7  # share of its size by which a sum that rounding alone varies may vary

WIDTH = 30
"""Sets of each size that are extended."""

MOST_LOOKED_AT = 40
"""For each of them."""

DROP = 0.05
"""A set is complete if its last term lowers the ratio to this share; then more terms must do so
again, for a law with anything else added to it is as small as the law."""


@dataclass(frozen=True, slots=True)
class LawFit:
    """Terms of a library along a motion, ready to be fitted; all have the spread 1."""

    trees: list[Tree]
    costs: NDArray[np.int64]
    changes: FloatArray  # (n_rows, n_terms)
    values: FloatArray  # (n_points, n_terms): centred
    # (n_terms, n_terms): moments of the gradients, which is what independent noise adds to those of
    # the changes.
    lengths: FloatArray
    units: FloatArray  # (n_terms,): the terms' spreads
    # (n_terms, n): an orthonormal basis of the coefficients of sums that do not change; none if
    # nothing but constants is among them.
    null: FloatArray
    # lost, spread: (n_terms, n_terms): second moments of the changes and of the values.
    lost: FloatArray
    spread: FloatArray

    @property
    def is_exact(self) -> bool:
        """Whether some sum does not change."""
        return self.null.shape[1] > 0


def prepare_fit(motion: Motion, library: Sequence[Term]) -> LawFit | None:
    """Terms of a library along a motion; None if none of them varies."""
    table = motion.table([term.tree for term in library])
    units = table.values.std(axis=0)
    size = np.abs(table.values).max(axis=0, initial=0.0)
    varies = np.flatnonzero(units > _CONSTANT * size)
    if not len(varies):
        return None
    units, kept = units[varies], table.kept[varies]
    values = (table.values[:, varies] - table.values[:, varies].mean(axis=0)) / units
    changes = table.changes[:, varies] / units
    return LawFit(
        [library[k].tree for k in kept],
        np.array([library[k].cost for k in kept], dtype=np.int64),
        changes,
        values,
        table.lengths[np.ix_(varies, varies)] / units / units[:, None],
        units,
        _null_space(changes, values) if motion.is_rich else np.zeros((len(units), 0)),
        changes.T @ changes / len(changes),
        values.T @ values / len(values),
    )


def find_sums(fit: LawFit, names: tuple[str, ...], rng: np.random.Generator) -> list[Expression]:
    """Sums of few and cheap terms that change least along the motion."""
    found: dict[Expression, None] = {}
    for support in _supports(fit, rng):
        chosen = list(support) if fit.is_exact else reduced(fit, list(support))
        value, vector = smallest(fit, chosen)
        if value is not None:
            for tree in _written(fit, chosen, vector / fit.units[chosen]):
                found.setdefault(Expression(tree, names))
    return list(found)


def _supports(fit: LawFit, rng: np.random.Generator) -> list[Support]:
    """Which terms: sparse vectors of the null space, or of what noise leaves of one."""
    whole = np.eye(len(fit.trees))
    if fit.is_exact:
        lost = whole - fit.null @ fit.null.T
        moments = Moments(lost, whole, np.diagonal(lost).copy())
        return exact_sums(moments, fit.costs, MOST_TERMS, rng)
    lengths = np.sqrt(np.diagonal(fit.lengths))
    whole = fit.lengths / lengths / lengths[:, None]
    lost = fit.lost / lengths / lengths[:, None]
    moments = Moments(lost, whole, np.diagonal(lost).copy())
    long = exact_sums(moments, fit.costs, MOST_NOISY, rng)
    # Compared with the gradients, as noise asks for, functions with a pole near the data seem
    # small; compared with the spread, those that hardly vary do not count.
    few = [
        *best_supports(fit.lost, fit.spread, FEW_TERMS, per_size=PER_SIZE),
        *best_supports(lost, whole, FEW_TERMS, per_size=PER_SIZE),
    ]
    return list(dict.fromkeys([*few, *long[:MOST_LONG]]))


def _null_space(changes: FloatArray, values: FloatArray) -> FloatArray:
    """A basis of the coefficients of sums that do not change, with those that do not vary."""
    # The latter make the former sparse. Singular values, not eigenvalues of moments: where terms
    # nearly depend on each other squares would lose half of the digits.
    turn, still = _turned(values)
    _, left, vectors = svd(changes @ turn / np.sqrt(len(changes)), full_matrices=True)
    exact = np.zeros(turn.shape[1], dtype=bool)
    exact[: len(left)] = left <= np.sqrt(PERFECT)
    exact[len(left) :] = True  # fewer rows than terms
    fitting = turn @ vectors[exact].T
    if not fitting.shape[1]:
        return fitting
    basis = np.concatenate([fitting / np.linalg.norm(fitting, axis=0), still], axis=1)
    return np.linalg.qr(basis)[0]


def _turned(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients of independent sums of spread 1, and of those that do not vary, as columns."""
    _, sizes, axes = svd(values, full_matrices=False)
    varies = sizes > _CONSTANT * sizes[0]
    return axes[varies].T / sizes[varies] * np.sqrt(len(values)), axes[~varies].T


def reduced(fit: LawFit, support: list[int]) -> list[int]:
    """A sum without the terms that noise explains, by Schwarz's criterion."""
    while len(support) > 1:
        best, vector = smallest(fit, support)
        if best is None:
            return support
        shares = vector**2 * np.diagonal(fit.lengths)[support]
        options = []
        for k in np.argsort(shares)[:4]:
            rest = [term for place, term in enumerate(support) if place != k]
            value, _ = smallest(fit, rest)
            if value is not None:
                options.append((value, rest))
        if not options:
            return support
        value, rest = min(options, key=lambda option: option[0])
        if len(fit.changes) * np.log(max(value, PERFECT) / max(best, PERFECT)) > 2 * np.log(
            len(fit.changes)
        ):
            return support
        support = rest
    return support


def smallest(fit: LawFit, support: Sequence[int]) -> tuple[float | None, FloatArray]:
    """The least mean square of the change of terms' sums that vary, and the coefficients."""
    some = list(support)
    if fit.is_exact:  # the same without squares, compared with the spread
        turn = _turned(fit.values[:, some])[0]
        changes = fit.changes[:, some] @ turn / np.sqrt(len(fit.changes))
        _, left, vectors = svd(changes, full_matrices=False)
        return float(left[-1] ** 2), turn @ vectors[-1]
    block = np.ix_(some, some)
    lengths, axes = np.linalg.eigh(fit.spread[block])
    varies = lengths > DEPENDENT
    if not varies.any():
        return None, np.zeros(len(some))
    turn = axes[:, varies] / np.sqrt(lengths[varies])
    gradients = turn.T @ fit.lengths[block] @ turn
    # Sums that vary while their gradients cancel up to rounding.
    gradients += DEPENDENT**2 * np.trace(gradients) * np.eye(len(gradients))
    values, columns = eigh(turn.T @ fit.lost[block] @ turn, gradients, subset_by_index=[0, 0])
    return float(values[0]), turn @ columns[:, 0]


def _written(fit: LawFit, support: Sequence[int], vector: FloatArray) -> list[Tree]:
    shares = (vector * fit.units[list(support)]) ** 2
    trees = [fit.trees[k] for k in support]
    options = sums(vector, shares / shares.max())
    return [write(_in_best_unit(option), trees) for option in options]


def _in_best_unit(option: Sum) -> Sum:
    """The sum over one of its coefficients: 2/r - v**2 rather than 1/r - 0.5*v**2."""

    def numbers(unit: float) -> tuple[int, float]:
        ratios = [plain_number(abs(c / unit)) for c in option.coefficients]
        return sum(len(str(ratio)) for ratio in ratios if ratio != 1), abs(np.log(abs(unit)))

    unit = min((abs(c) for c in option.coefficients), key=numbers)
    return Sum(option.places, tuple(c / unit for c in option.coefficients))


def best_supports(
    small: FloatArray, whole: FloatArray, most_terms: int, *, per_size: int
) -> list[Support]:
    """The best sets of 1, 2, ... terms, by the least ratio of two quadratic forms."""
    values = np.diagonal(small).copy()
    found: list[Support] = [(int(k),) for k in np.argsort(values)[:per_size]]
    beam = np.arange(len(small))[:, None]
    complete: dict[Support, float] = {}
    for _ in range(min(most_terms, len(small)) - 1):
        extended = extended_minima(small, whole, beam)
        best: dict[Support, float] = {}
        for place in np.argsort(extended, axis=None)[: MOST_LOOKED_AT * WIDTH]:
            row, term = divmod(int(place), len(small))
            value = float(extended[row, term])
            support = tuple(sorted((*beam[row].tolist(), term)))
            if not np.isfinite(value) or support in best or len(best) == WIDTH:
                continue
            if _only_adds(support, value, complete):
                continue
            best[support] = value
            if value <= DROP * values[row]:
                complete.setdefault(support, value)
        if not best:
            break
        found += [one for k, one in enumerate(best) if k < per_size or one in complete]
        beam, values = np.array(list(best)), np.array(list(best.values()))
    return found


def _only_adds(support: Support, value: float, complete: dict[Support, float]) -> bool:
    """Whether a set holds a complete one and is hardly better."""
    return any(value > DROP * own and set(known) < set(support) for known, own in complete.items())
