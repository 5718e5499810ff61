"""The pool: everything that may become the answer, fitted on both witnesses and scored in nats.

A search proposes by directions. What it found is brought into canonical form; then neighbours of
the best are made, and of the best of these again, so that values lead on where directions stopped.
Last come plainer numbers. The choice is made once, from all of it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute

import numpy as np
from numpy.typing import NDArray

from closedform.canonical.constants import recognise_constants
from closedform.canonical.form import canonical_form
from closedform.expressions.complexity import (
    belongs_to_form,
    description_length,
    fitted_positions,
    hoped_length,
)
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import values_and_gradients
from closedform.expressions.tree import Constant, Tree
from closedform.field.alignment.comparison import comparison_of, field_misalignment
from closedform.field.alignment.misalignment import chance_level
from closedform.field.alignment.refit import Tapes
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.judge.confidence import Weighing, weighing
from closedform.judge.fitting import Fitted, Fitter
from closedform.judge.neighbours.exchanged import Stock
from closedform.judge.neighbours.made_forms import (
    FEWEST_MADE,
    as_sum,
    made_forms,
    stock_of,
    variants,
)
from closedform.judge.regions import Pair, divide
from closedform.judge.rules import TIE
from closedform.judge.thresholds import Thresholds
from closedform.judge.witnesses import Heard, Witnesses, typical
from closedform.searching.front import Front
from closedform.searching.space import SearchSpace

MOST_FOUND, MOST_NEAR, MOST_TIDIED, MOST_PLAIN = 20, 30, 6, (4, 2)
"""Formulas of the search that are fitted, neighbours of each round, formulas that are brought into
canonical form, and those that get plainer numbers, twice: those of the best scores."""

LONGEST_TIDY = 24
"""Nodes of the longest formula that gets a canonical form."""

ALIKE = 1e-3
"""Share by which numbers of one formula differ that was fitted twice."""

ROUNDS, BOLD = 6, 0.2
"""Formulas that get neighbours, one after the other, and the share of its price that length costs
for every second of them."""

WIDENING = 2 / 3
"""Share of the time of the choice in which neighbours are made: plainer numbers have the rest."""

FAR = 3 * Thresholds().approximate
"""Misalignment, as a share of chance, from which neighbours and numbers make no formula even
`approximate`: a choice seldom halves it."""

LOOK_POINTS, LOOK_STEPS = 400, 10
"""Points and steps of the first look at hundreds of neighbours."""

Outline = tuple[object, ...]
"""A formula's nodes without its fitted numbers."""

Candidate = tuple[Expression, Sequence[int] | None, str]
"""A formula, the constants that may move (None: those that nobody would write), and its source."""

Priced = Callable[[Expression, float], float]
"""From a formula, and what a unit of length costs, to the nats that its description costs."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A formula of the pool."""

    fitted: Fitted  # on both witnesses, at all points that the choice sees
    cost: float  # nats that it costs to describe
    engine: str  # which engine found it, or 'neighbour'

    @property
    def expression(self) -> Expression:
        """The formula."""
        return self.fitted.expression

    def misalignment(self, witnesses: Witnesses) -> float:
        """The mean, where it was not fitted."""
        return float(witnesses.weights @ self.fitted.heard.squares()[0])


@dataclass(slots=True)
class Pool:
    """Formulas with their scores on the points that the choice sees."""

    witnesses: Witnesses
    labels: NDArray[np.int64]
    priced: Priced
    numbers: Weighing
    allowed: Callable[[Expression], bool] = lambda formula: True
    floor: float = 0.0
    scales: Pair = (1.0, 1.0)
    counts: Pair = (1.0, 1.0)
    entries: dict[Tree, Entry] = attribute(default_factory=dict)
    looked_at: set[Outline] = attribute(default_factory=set)

    def add(self, forms: Iterable[Candidate]) -> None:
        """Fit formulas, given with the constants that may move, and weigh all anew."""
        for formula, positions, engine in forms:
            if formula.tree.is_constant or formula.tree in self.entries:
                continue
            if self.entries and not self.allowed(formula):
                continue
            entry = self.fitted(formula, positions, engine)
            # What its units make impossible has no finite price.
            if np.isfinite(entry.cost) and not self._has_like(entry):
                self.entries[entry.expression.tree] = entry
        self._weigh()

    def _has_like(self, entry: Entry) -> bool:
        """Whether there is the same formula already, but for digits that nobody would tell."""
        return any(_are_alike(entry.expression.tree, other) for other in self.entries)

    def tidy(self, most: int, may_go_on: Callable[[], bool] = lambda: True) -> None:
        """Put canonical forms in the place of the best formulas, if they fit as well; the longest
        take seconds to find, and stay as they are.
        """
        for entry in self.ordered()[:most]:
            tree = entry.expression.tree
            if tree.size > LONGEST_TIDY or not may_go_on():
                continue
            plain = canonical_form(entry.expression, self.witnesses.field.points)
            if plain.tree == tree:
                continue
            tidy = self.fitted(plain, None, entry.engine)
            # phi's spline follows some spellings of a concept a little better than others.
            if np.isfinite(tidy.cost) and self.fit(tidy) <= self.fit(entry) + TIE:
                del self.entries[tree]
                if not self._has_like(tidy):
                    self.entries[tidy.expression.tree] = tidy
        self._weigh()

    def fitted(self, formula: Expression, positions: Sequence[int] | None, engine: str) -> Entry:
        """A formula with the constants at some positions fitted, those that nobody would write by
        default; it does not join the pool.
        """
        if positions is None and _has_exact_sides(formula, self.witnesses.field):
            positions = ()
        fitter = Fitter(self.witnesses, self.labels, self.scales, self.counts)
        fitted = _exactly(fitter.fit(formula, positions), self.witnesses.field)
        return Entry(fitted, self.priced(fitted.expression, self.numbers.price), engine)

    def _weigh(self) -> None:
        """Take scales and counts from the best fit, whatever its length: what is far off leaves
        errors that all neighbours share, counts for little, and would be chosen for its shortness.
        """
        if not self.entries:
            return
        most = self.numbers.most
        nearest = min(
            (entry.fitted.heard for entry in self.entries.values()),
            key=lambda heard: float(np.dot(most, np.log(typical(heard)))),
        )
        self.scales, self.counts = weigh(nearest, self.witnesses, self.numbers, self.floor)

    def score(self, entry: Entry) -> float:
        """Nats: what both witnesses leave over, and the length."""
        return self.fit(entry) + entry.cost

    def hoped_score(self, entry: Entry) -> float:
        """The score if plain numbers took the places of fitted ones."""
        tree = entry.expression.tree
        spared = description_length(tree) - hoped_length(tree)
        return self.score(entry) - self.numbers.price * spared

    def fit(self, entry: Entry) -> float:
        """Nats: what both witnesses leave over."""
        return float(np.dot(self.counts, self.witnesses.means(entry.fitted.heard, self.scales)))

    def ordered(self) -> list[Entry]:
        """Best first."""
        return sorted(
            self.entries.values(), key=lambda entry: (self.score(entry), str(entry.expression))
        )

    def best(self, boldness: float = 1.0, but: Collection[Outline] = ()) -> Entry | None:
        """The entry of the best score, with length at a share of its price, apart from some."""
        return min(
            (entry for tree, entry in self.entries.items() if _outline(tree) not in but),
            key=lambda entry: self.score(entry) - (1 - boldness) * entry.cost,
            default=None,
        )


def _are_alike(first: Tree, second: Tree) -> bool:
    """Whether two formulas differ by nothing but the last digits of fitted numbers."""
    return first.size == second.size and all(
        one == two
        or (
            isinstance(one, Constant)
            and isinstance(two, Constant)
            and not (belongs_to_form(one.value) or belongs_to_form(two.value))
            and abs(one.value - two.value) < ALIKE * abs(two.value)
        )
        for one, two in zip(first.tokens, second.tokens, strict=True)
    )


def weigh(
    heard: Heard, witnesses: Witnesses, numbers: Weighing, floor: float = 0.0
) -> tuple[Pair, Pair]:
    """Typical squared errors of a formula, and as how many independent pieces of evidence each
    witness counts by them.
    """
    first, second = typical(heard)
    scales = max(first, floor), max(second, floor)
    pieces, *also = (witnesses.pieces(errors) for errors in witnesses.errors(heard, scales))
    return scales, numbers.counts((pieces, sum(also, 0.0)))


def gather(
    front: Front,
    field: GradientField,
    space: SearchSpace,
    priced: Priced,
    rng: np.random.Generator,
    *,
    used: Callable[[], float] = lambda: 0.0,
    floor: float = 0.0,
) -> Pool:
    """Everything that may become the answer, from what a search found.

    field: the points that the choice sees.
    space: limits what is made.
    used: share of the time that is used up, asked before each longer step; at 1, what there is has
        to do.
    floor: squared errors below it count as this one.
    """
    witnesses = Witnesses.of(field)
    numbers = weighing(has_values=witnesses.has_values)
    pool = Pool(
        witnesses,
        divide(field, rng),
        priced,
        numbers,
        lambda formula: (
            formula.complexity(space.costs) <= space.max_complexity
            and space.allows(formula.tree, field.names)
        ),
        floor,
    )
    pool.counts = pool.numbers.most

    def may_go_on() -> bool:
        return used() < 1

    def may_widen() -> bool:
        return used() < WIDENING

    found = [
        (c.expression, () if _has_exact_sides(c.expression, field) else None, c.engine)
        for c in front.all
    ]
    pool.add(_nearest(found, pool, MOST_FOUND))
    if is_far(front.lowest, field):
        return pool
    pool.tidy(MOST_TIDIED, may_go_on)
    parents: set[Outline] = set()
    stock = stock_of(field, space, rng)
    for round_number in range(ROUNDS):
        # By turns the best, and the best if length were cheap: a stand-in that is too long for the
        # choice is often nearer the truth than one that is short.
        parent = pool.best(BOLD if round_number % 2 else 1.0, parents)
        if parent is None or not may_widen() or _is_exact(pool):
            break
        parents.add(_outline(parent.expression.tree))
        pool.add(neighbours_of(parent.expression, pool, stock, may_widen))
        pool.tidy(1, may_go_on)
    for count in MOST_PLAIN:
        for place, entry in enumerate(_promising(pool, count)):
            # The best whatever the time: how busy a machine is must not decide between 1/2 and
            # 0.498.
            if place == 0 or may_go_on():
                plainer = variants(entry.expression, entry.fitted.errors, field.points)
                pool.add((form, None, entry.engine) for form in plainer)
        pool.tidy(count, may_go_on)
    return pool


def is_far(misalignment: float, field: GradientField) -> bool:
    """Whether the best that was found is so far off that improving it is in vain."""
    return misalignment > FAR * chance_level(field.rank, field.tangent.rank)


def _is_exact(pool: Pool) -> bool:
    """Whether the best formula fits as well as one can, where it was not fitted."""
    best = pool.best()
    return best is not None and best.misalignment(pool.witnesses) <= PERFECT


def neighbours_of(
    parent: Expression,
    pool: Pool,
    stock: Stock,
    may_go_on: Callable[[], bool] = lambda: True,
    most: int = MOST_NEAR,
) -> list[Candidate]:
    """The nearest of the forms that differ from one in a part, in canonical form."""
    field = pool.witnesses.field
    made = made_forms(parent, field, stock, may_go_on)
    logarithm = as_sum(parent)
    if logarithm is not None:
        made |= made_forms(logarithm, field, stock, may_go_on)
    # Neighbours of one formula are mostly neighbours of the next one too.
    new = {_outline(tree, free): (tree, free) for tree, free in made.items()}
    drafts = [
        (Expression(tree, field.names), free, "neighbour")
        for key, (tree, free) in new.items()
        if key not in pool.looked_at
    ]
    pool.looked_at.update(new)
    return _nearest(drafts, pool, most, may_go_on)


def _outline(tree: Tree, free: Sequence[int] | None = None) -> Outline:
    """A formula without the numbers that are fitted."""
    numbers = set(fitted_positions(tree) if free is None else free)
    return tuple(None if place in numbers else token for place, token in enumerate(tree.tokens))


def _nearest(
    drafts: Sequence[Candidate], pool: Pool, most: int, may_go_on: Callable[[], bool] = lambda: True
) -> list[Candidate]:
    """Of many drafts the best, as few points show, with their constants as they are, or after a few
    steps by directions.

    Each is given the benefit that its fitted numbers may become plain ones.
    """
    if len(drafts) <= 1:
        return list(drafts)
    few = pool.witnesses.field.subset(np.arange(min(LOOK_POINTS, pool.witnesses.field.n_points)))
    look, comparison = Witnesses.of(few), comparison_of(few)
    heard: list[Heard] = []
    looked: list[Candidate] = []
    origins: list[int] = []
    for start in range(0, len(drafts), FEWEST_MADE):
        if looked and not may_go_on():
            break
        some = drafts[start : start + FEWEST_MADE]
        free = [fitted_positions(f.tree) if places is None else places for f, places, _ in some]
        given = Tapes.of([form for form, _, _ in some], free)
        fitted, _ = given.fit(comparison, LOOK_STEPS)
        # By directions numbers that values propose would be lost.
        for tapes in (fitted, given):
            with np.errstate(all="ignore"):
                values, gradients, _ = values_and_gradients(tapes.batch, few.points)
            heard += [look.heard(*pair) for pair in zip(values, gradients, strict=True)]
            looked += [
                (form, places, engine)
                for form, (_, places, engine) in zip(tapes.read(), some, strict=True)
            ]
            origins += range(start, start + len(some))
    scales = tuple(np.min([typical(each) for each in heard], axis=0).tolist())
    means = np.array([look.means(each, scales) for each in heard])
    prices = pool.numbers.price * np.array([hoped_length(form.tree) for form, _, _ in looked])
    # Constants that were fitted by directions may be too far off for the values: so by turns the
    # best by both, by both if length were cheap, and by directions. Spellings of one formula leave
    # the same.
    orders = [np.argsort(means @ np.multiply(pool.counts, heeded) + share * prices, kind="stable")
              for heeded, share in (((1, 1), 1.0), ((1, 1), BOLD), ((1, 0), 0.0))]  # fmt: skip
    chosen: dict[tuple[str, ...], int] = {}
    for place in np.stack(orders, axis=1).ravel().tolist():
        chosen.setdefault(tuple(f"{each:.3f}" for each in means[place]), place)
    once = {origins[place]: place for place in reversed(chosen.values())}
    return [looked[place] for place in chosen.values() if once[origins[place]] == place][:most]


def _promising(pool: Pool, most: int) -> list[Entry]:
    """Formulas of the best scores, and of the best if fitted numbers became plain ones: the truth
    often comes with exponents of 0.336 and 0.333 at first.
    """
    hoped = sorted(pool.entries.values(), key=pool.hoped_score)
    return list({id(e): e for e in (*pool.ordered()[:most], *hoped[:most])}.values())


def _has_exact_sides(formula: Expression, field: GradientField) -> bool:
    """Whether it is a minimum or maximum whose sides are exact: a number that only moves their
    border changes no direction until it passes a point, and a fit would leave it anywhere.
    """
    if not {"min", "max", "abs"}.intersection(formula.tree.tokens):
        return False
    return bool(field_misalignment(formula, field).max() <= PERFECT)


def _exactly(fitted: Fitted, field: GradientField) -> Fitted:
    """What is exact up to rounding, with the numbers that it has up to rounding."""
    if not float(fitted.heard.squares()[0].mean()) <= PERFECT:
        return fitted
    plain = recognise_constants(fitted.expression)
    if not float(field_misalignment(plain, field).mean()) <= PERFECT:
        return fitted
    return replace(fitted, expression=plain)
