"""What a term search has found: formulas judged by the definition on all points, and the front of
them. Sums that cannot be on it are not written out.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree
from closedform.field.alignment.comparison import comparison_of
from closedform.field.alignment.eigen import CoefficientFit
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace
from closedform.searching.terms.library import Term
from closedform.searching.terms.sum_formula import Sum, sums, write
from closedform.searching.terms.term_beam import Support, TermBeam

NEAR = 1.5
"""What is this many times worse on the sample than the best so far may still be better on all
points.
"""

AS_GOOD = 3.0
"""What is this many times worse than the best fits about as well."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A sum that is to be judged.

    Attributes
    ----------
    terms : frozenset of Tree
        What it is a sum of.
    complexity : int
    """

    terms: frozenset[Tree]
    complexity: int


@dataclass(frozen=True, slots=True)
class Found:
    """A sum that was judged on all points."""

    tree: Tree
    formula: Formula
    misalignment: float

    @property
    def complexity(self) -> int:
        """Its complexity."""
        return self.formula.complexity


class Finds:
    """The formulas found so far; a sample saves the judgement on all points for those that come
    near the front.

    Parameters
    ----------
    field, sample : GradientField
        All points, and some of them or the same object.
    engine : str
        Whose finds they are.
    """

    def __init__(self, field: GradientField, sample: GradientField, engine: str) -> None:
        self.names, self.engine = field.names, engine
        self.all_points = comparison_of(field)
        self.some_points = self.all_points if sample is field else comparison_of(sample)
        self.found: dict[Tree, Found] = {}
        self.least = 1.0

    def take(self, made: Mapping[Tree, Formula]) -> None:
        """Judge formulas, and remember those that come near the front."""
        trees = [tree for tree in made if tree not in self.found]
        values = self.some_points.misalignments(compile_tapes(trees))[0]
        if self.all_points is not self.some_points:
            trees = self._promising(trees, values, [made[tree].complexity for tree in trees])
            values = self.all_points.misalignments(compile_tapes(trees))[0]
        for tree, value in zip(trees, values.tolist(), strict=True):
            self.found[tree] = Found(tree, made[tree], value)
            self.least = min(self.least, value)

    def _promising(self, trees: list[Tree], values: FloatArray, sizes: list[int]) -> list[Tree]:
        known, own = self.steps(), Steps(zip(sizes, values.tolist(), strict=True))
        near = [NEAR * min(known.best(size), own.best(size)) for size in sizes]
        return [
            tree
            for tree, value, limit in zip(trees, values, near, strict=True)
            if value <= max(limit, PERFECT)
        ]

    def steps(self) -> "Steps":
        """The lowest misalignment up to each complexity."""
        return Steps((found.complexity, found.misalignment) for found in self.found.values())

    def bound(self, largest: int) -> int:
        """Complexity from which on nothing is of use: that of the simplest perfect formula, or one
        more than the largest.
        """
        return min(
            (f.complexity for f in self.found.values() if f.misalignment <= PERFECT),
            default=largest + 1,
        )

    def front(self) -> Front:
        """The front of all that was found; what differs from something simpler by rounding only is
        left out.
        """
        kept: list[Candidate] = []
        best = np.inf
        for found in sorted(self.found.values(), key=lambda f: (f.complexity, f.misalignment)):
            if best > PERFECT and found.misalignment < 0.999 * best:
                kept.append(
                    Candidate(
                        self.expression(found.tree),
                        found.misalignment,
                        found.complexity,
                        self.engine,
                    )
                )
                best = found.misalignment
        return Front.of(kept)

    def alike(self) -> list[Tree]:
        """Formulas that fit about as well as the best and hold the terms of no other of them,
        simplest first.
        """
        chosen: list[Found] = []
        for found in sorted(self.found.values(), key=lambda f: (f.complexity, f.misalignment)):
            fits = found.misalignment <= max(AS_GOOD * self.least, PERFECT)
            if fits and not any(other.formula.terms <= found.formula.terms for other in chosen):
                chosen.append(found)
        return [found.tree for found in chosen]

    def expression(self, tree: Tree) -> Expression:
        """A formula with the field's names."""
        return Expression(tree, self.names)


class Steps:
    """The lowest misalignment up to each complexity."""

    def __init__(self, pairs: Iterable[tuple[int, float]]) -> None:
        ordered = sorted(pairs)
        self.sizes = [size for size, _ in ordered]
        self.lowest = list(accumulate((value for _, value in ordered), min))

    def best(self, size: int) -> float:
        """The lowest misalignment among what is no more complex; 1 if there is nothing."""
        place = bisect_right(self.sizes, size)
        return self.lowest[place - 1] if place else 1.0


def drafted(
    library: Sequence[Term],
    beam: TermBeam,
    fits: Sequence[CoefficientFit],
    known: Steps,
    space: SearchSpace,
    names: Sequence[str],
) -> dict[Tree, Formula]:
    """Write the fits of a beam as formulas.

    Parameters
    ----------
    library : sequence of Term
        To which the beam's supports point.
    beam : TermBeam
    fits : sequence of CoefficientFit
        One for each support.
    known : Steps
        The best misalignment of each complexity so far: what is far above it is left out.
    space : SearchSpace
    names : sequence of str
        Inputs.

    Returns
    -------
    dict of Tree to Formula
        What the space allows, with plain and with rounded numbers.
    """
    number = space.costs.constant + space.costs.of("mul")
    drafts: list[tuple[int, float, Support, Sum]] = []
    for support, least, fit in zip(beam.supports, beam.sizes, fits, strict=False):
        drafts += [
            (least + number * d.n_numbers, fit.misalignment, support, d)
            for d in sums(fit.coefficients, fit.shares)
        ]
    own = Steps(
        (size, value) for size, value, support, draft in drafts if len(draft.places) == len(support)
    )
    made: dict[Tree, Formula] = {}
    for expected, value, support, draft in drafts:
        if value > max(NEAR * min(known.best(expected), own.best(expected)), PERFECT):
            continue
        terms = [library[k] for k in support]
        tree = write(draft, [term.tree for term in terms])
        size = complexity(tree, space.costs)
        if size <= space.max_complexity and _allows(space, tree, terms, names):
            made[tree] = Formula(frozenset(term.tree for term in terms), size)
    return made


def _allows(space: SearchSpace, tree: Tree, terms: Sequence[Term], names: Sequence[str]) -> bool:
    if any(term.is_given for term in terms):
        is_possible = space.legality is None or space.legality.allows(tree, names)
        return is_possible and space.has_form(tree, names)
    return space.allows(tree, names)
