"""Sums that a network's values propose: of curves, and of the terms of a library.

Where z = phi(g) and g is a sum of terms, some smooth function of z is that sum. Which one is linear
in the coefficients of both, so the best sum of given terms is again the smallest eigenvector of
what is lost against the whole: here the terms' covariance outside all smooth functions of z, and
the whole covariance. Values are smooth where a network's gradients are rough, so short sums are
seen that directions hide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from closedform.arrays import FloatArray
from closedform.basics.progress import Progress, Snapshot
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import values_and_gradients
from closedform.expressions.legality import addable
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree
from closedform.field.alignment.comparison import comparison_of
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.engine import SearchResult, Status
from closedform.searching.front import Candidate, Front
from closedform.searching.products import product_of_powers
from closedform.searching.space import SearchSpace
from closedform.searching.terms.library import Term, build_library
from closedform.searching.terms.sum_formula import Sum, plain_number, sums, write
from closedform.searching.values.curve_sums import curve_sums
from closedform.searching.values.curves import DEPENDENT, YARDSTICK, smooth_basis, values_left

ROUNDING = 1e-12

HALVINGS = 30
"""Steps to the smallest root of an eigenproblem that grows by one row."""

Supports = NDArray[np.int64]
"""Places of terms, shape (n_sums, n_terms)."""


@dataclass(frozen=True, slots=True)
class ValueSums:
    """Options of the search for sums by values.

    Attributes
    ----------
    n_terms : int
        Terms of the library.
    max_terms : int
        Largest number of terms in a sum.
    width, per_cost : int
        Sums of each number of terms that grow further: the best, and the best of each cost.
    told : int
        Sums that are returned.
    n_points : int
        Points that are looked at.
    pieces : int
        Pieces of the smooth functions of the latent.
    """

    n_terms: int = 1000
    max_terms: int = 6
    width: int = 40
    per_cost: int = 3
    told: int = 40
    n_points: int = 1000
    pieces: int = 12

    @property
    def name(self) -> str:
        """The name in an answer."""
        return "values"

    def search(
        self,
        field: GradientField,
        space: SearchSpace,
        budget: Budget,
        rng: np.random.Generator,
        progress: Progress,
    ) -> SearchResult:
        """Look for sums of terms that are a smooth function of the latent."""
        clock = budget.start()
        found: dict[Tree, None] = {}
        status: Status = "finished"
        for grown in self._sums(field, space, rng):
            progress.show(Snapshot(self.name, min(clock.used, 1.0)))
            found |= dict.fromkeys(grown)
            reason = clock.stop_reason(1.0)
            if reason is not None:
                status = reason
                break
        trees = [tree for tree in found if space.allows(tree, field.names)]
        formulas = [Expression(tree, field.names) for tree in trees]
        losses = comparison_of(field).misalignments(compile_tapes(trees))[0].tolist()
        sizes = [formula.complexity(space.costs) for formula in formulas]
        left = values_left(trees, field)
        kept = [
            Candidate(formula, loss, size, self.name, share)
            for formula, loss, size, share in zip(formulas, losses, sizes, left, strict=True)
            if size <= space.max_complexity
        ]
        statistics = {"engine": self.name, "seconds": clock.seconds, "evaluations": len(trees)}
        return SearchResult(Front.of(kept), status, statistics)

    def _sums(
        self, field: GradientField, space: SearchSpace, rng: np.random.Generator
    ) -> Iterator[list[Tree]]:
        """Sums of curves, then of usual terms."""
        usable = np.flatnonzero(field.weights > 0)
        if len(usable) > self.n_points:
            usable = np.sort(rng.choice(usable, self.n_points, replace=False))
        sample = field.subset(usable)
        importance = np.round(
            sample.weights @ sample.tangent.ambient(sample.frames)[:, :, 0] ** 2, 2
        )
        yield from curve_sums(sample, self.pieces, space)
        terms = build_library(
            space, sample.names, sample.points, sample.scale, importance, self.n_terms
        )
        library = ValueLibrary.of(terms, sample, space, self.pieces)
        if library is not None:
            yield from library.grow(self)


@dataclass(frozen=True, slots=True)
class ValueLibrary:
    """Terms of unit variance with their moments."""

    terms: list[Term]
    spreads: FloatArray  # (n_terms,)
    whole: FloatArray  # (n_terms, n_terms): correlations
    lost: FloatArray  # (n_terms, n_terms): of what no smooth function of the latent explains
    addable: NDArray[np.bool_]  # (n_terms, n_terms): which may stand in one sum
    join: int  # complexity of a plus

    @classmethod
    def of(
        cls, terms: list[Term], field: GradientField, space: SearchSpace, pieces: int
    ) -> "ValueLibrary | None":
        """The terms that vary on the data, each function once; None if there are none."""
        assert field.latents is not None
        trees = [term.tree for term in terms]
        values = values_and_gradients(compile_tapes(trees), field.points)[0].T
        roots = np.sqrt(field.steepness)[:, None]
        with np.errstate(all="ignore"):
            centred = (values - field.steepness @ values) * roots
            spreads = np.linalg.norm(centred, axis=0)
            varies = np.isfinite(spreads) & (spreads > DEPENDENT * np.abs(values).max(axis=0))
        scaled = centred[:, varies] / spreads[varies]
        whole = scaled.T @ scaled
        first = ~np.triu(np.abs(whole) > 1 - DEPENDENT, 1).any(axis=0)
        kept = np.flatnonzero(varies)[first]
        if len(kept) < 2:
            return None
        scaled, whole = scaled[:, first], whole[np.ix_(first, first)]
        seen = smooth_basis(field, pieces).T @ scaled
        chosen = [terms[k] for k in kept]
        pairs = np.ones((len(kept), len(kept)), dtype=bool)
        if space.legality is not None:
            found = addable([term.tree for term in chosen], field.names, space.legality)
            pairs = pairs if found is None else found
        join = space.costs.of("add")
        return cls(chosen, spreads[kept], whole, whole - seen.T @ seen, pairs, join)

    def grow(self, options: ValueSums) -> Iterator[list[Tree]]:
        """The best sums of one term, then of two, and so on, as formulas."""
        costs = np.array([term.cost for term in self.terms])
        supports = np.arange(len(self.terms))[:, None]
        left = np.diagonal(self.lost)
        best: list[tuple[int, float]] = []
        for size in range(1, options.max_terms + 1):
            spent = costs[supports].sum(axis=1) + self.join * (size - 1)
            kept = _best(left, spent, options.width, options.per_cost)
            supports, left, spent = supports[kept], left[kept], spent[kept]
            # What a shorter sum explains nearly as well is not told.
            least = [min((v for c, v in best if c <= s), default=np.inf) for s in spent]
            news = np.argsort(YARDSTICK(left + DEPENDENT, spent), kind="stable")[: options.told]
            yield [tree for k in news if left[k] < least[k] for tree in self._formulas(supports[k])]
            best += zip(spent.tolist(), left.tolist(), strict=True)
            # Below that nothing is left to explain that a spline could follow.
            if size == options.max_terms or left.min() < DEPENDENT:
                return
            grown = [self._extended(support) for support in supports] if size > 1 else self._pairs()
            supports = np.concatenate([places for places, _ in grown])
            left = np.concatenate([values for _, values in grown])
            supports, only = np.unique(np.sort(supports, axis=1), axis=0, return_index=True)
            left = left[only]
            if len(supports) == 0:
                return

    def _pairs(self) -> list[tuple[Supports, FloatArray]]:
        """Every pair of terms, and what it leaves."""
        return [
            self._extended(np.array([k]), np.arange(k + 1, len(self.terms)))
            for k in range(len(self.terms) - 1)
        ]

    def _extended(
        self, support: Supports, others: Supports | None = None
    ) -> tuple[Supports, FloatArray]:
        """A sum with each of the other terms added, and what each leaves: the smallest root of the
        eigenproblem with one more row, in coordinates in which the old one is diagonal.
        """
        others = np.arange(len(self.terms)) if others is None else others
        others = others[self.addable[np.ix_(support, others)].all(axis=0)]
        roots, vectors = self._solved(support)
        along = vectors.T @ self.whole[np.ix_(support, others)]
        shared = vectors.T @ self.lost[np.ix_(support, others)]
        free = 1 - (along**2).sum(axis=0)
        is_new = free > DEPENDENT
        others, along, shared, free = (
            others[is_new],
            along[:, is_new],
            shared[:, is_new],
            free[is_new],
        )
        lost = np.diagonal(self.lost)[others] - 2 * (along * shared).sum(axis=0)
        lost = (lost + (roots[:, None] * along**2).sum(axis=0)) / free
        coupled = (shared - roots[:, None] * along) ** 2 / free
        grown = np.hstack([np.tile(support, (len(others), 1)), others[:, None]])
        if len(support) == 1:
            return grown, (roots + lost) / 2 - np.hypot((roots - lost) / 2, np.sqrt(coupled[0]))
        low, high = np.zeros(len(others)), np.full(len(others), roots[0])
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            with np.errstate(divide="ignore", invalid="ignore"):
                is_below = lost - middle > (coupled / (roots[:, None] - middle)).sum(axis=0)
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return grown, (low + high) / 2

    def _solved(self, support: Supports) -> tuple[FloatArray, FloatArray]:
        """The eigenproblem of some terms."""
        # Where each adds little beyond the others, rounding would make their moments indefinite.
        block = np.ix_(support, support)
        return eigh(self.lost[block], self.whole[block] + ROUNDING * np.eye(len(support)))

    def _formulas(self, support: Supports) -> list[Tree]:
        """The sum with its best coefficients, and with those near 1 set to it; none where a term
        does not count, since the sum without it is there already. Logarithms make a product.
        """
        weights = self._solved(support)[1][:, 0]
        trees = [self.terms[k].tree for k in support]
        found = sums(weights / self.spreads[support], weights**2)
        whole = [one for one in found if len(one.places) == len(support)]
        if all(tree.root == "log" for tree in trees):
            return [_product(one, trees) for one in whole]
        return [write(one, trees) for one in whole]


def _product(found: Sum, trees: Sequence[Tree]) -> Tree:
    """What a sum of logarithms is the logarithm of, with the plainest power 1."""
    powers = [Fraction(plain_number(each)) for each in found.coefficients]
    return product_of_powers(
        [
            (trees[place].children[0], power)
            for place, power in zip(found.places, powers, strict=True)
        ]
    )


def _best(left: FloatArray, costs: FloatArray, width: int, per_cost: int) -> Supports:
    """Places of the sums that leave least, and of those that leave least of each cost."""
    order = np.argsort(left, kind="stable")
    chosen = set(order[:width].tolist())
    for cost in np.unique(costs):
        chosen.update(order[costs[order] == cost][:per_cost].tolist())
    return np.array(sorted(chosen, key=lambda k: (left[k], k)), dtype=np.int64)
