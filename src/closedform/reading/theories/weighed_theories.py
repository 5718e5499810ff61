"""Theories, their constants fitted on both witnesses, weighed on unseen points together with
corrections of the best and with what a search found.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.progress import Progress
from closedform.errors import ExpressionError
from closedform.expressions.complexity import description_length, fitted_positions
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Tree
from closedform.field.alignment.tolerances import SAME
from closedform.field.gradient_field import GradientField
from closedform.judge.confidence import Weighing, weighing, weights_of
from closedform.judge.fitting import Fitter, Settled
from closedform.judge.neighbours.made_forms import N_POINTS, further_terms, stock_of, terms_of
from closedform.judge.neighbours.same_form import field_of, group_by_form
from closedform.judge.pool import Pool, neighbours_of, weigh
from closedform.judge.regions import Pair, divide
from closedform.judge.select_stage import select
from closedform.judge.witnesses import Heard, Witnesses, typical
from closedform.reading.settings import SEARCH_SHARE
from closedform.reading.theories.theory import FREE_COST, Theory
from closedform.searching.budget import Budget
from closedform.searching.front import Candidate
from closedform.searching.search_stage import search
from closedform.searching.space import SearchSpace

DRAWS, BEST_DRAWS, STEPS = 30, 3, 30
"""Places at which constants are tried, those of them from which a fit begins, and its steps: a
stated formula comes without a search that would have fitted it."""

ALIKE = 0.1
"""Nats by which two fits of one theory differ that are the same to anybody."""

STEPS_OF_CORRECTION = 8
"""Steps for a corrected theory, which begins at the fitted one."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedTheory:
    """A theory where the fit ended."""

    theory: Theory
    settled: Settled
    n_corrections: int = 0  # in it
    term: Tree | None = None  # what the last of them added
    is_factor: bool = False  # whether that term's exponential is a factor

    @property
    def numbers(self) -> FloatArray:
        """The constants."""
        return self.settled.numbers


def fit_theories(
    theories: Sequence[Theory], seen: GradientField, rng: np.random.Generator
) -> tuple[list[FittedTheory], Fitter]:
    """Fit all, and take scales and counts from the one that fits best."""
    witnesses = Witnesses.of(seen)
    numbers = weighing(has_values=witnesses.has_values)
    fitter = Fitter(witnesses, divide(seen, rng), (1.0, 1.0), numbers.most)
    found = [_fitted(theory, fitter, rng) for theory in theories]
    # What counts as a typical error is known only now; with it outliers no longer pull.
    for _ in range(2):
        fitter = _reweighed(fitter, found, numbers)
        found = [
            replace(one, settled=fitter.settle(one.theory.started(one.numbers), STEPS))
            for one in found
        ]
    return found, _reweighed(fitter, found, numbers)


def _reweighed(fitter: Fitter, found: Sequence[FittedTheory], numbers: Weighing) -> Fitter:
    nearest = min(
        (one.settled.heard for one in found), key=lambda heard: misfit(heard, numbers.most)
    )
    scales, counts = weigh(nearest, fitter.witnesses, numbers)
    return replace(fitter, scales=scales, counts=counts)


def misfit(heard: Heard, counts: Pair) -> float:
    """Nats before a scale is known: of medians, which a few far points do not move."""
    return float(np.dot(counts, np.log(typical(heard))))


def _fitted(theory: Theory, fitter: Fitter, rng: np.random.Generator) -> FittedTheory:
    """Fit one from the best of several starts."""
    points = fitter.witnesses.field.points
    _require_finite(theory, points)
    starts = [theory.numbers]
    if theory.constants:
        starts += list(np.column_stack([one.draw(DRAWS, rng) for one in theory.constants]))
    begun = [(fitter.witnesses.heard(*theory.at(one, points)), one) for one in starts]

    def settled(heard: Heard, numbers: FloatArray) -> Settled:
        return replace(fitter, scales=typical(heard)).settle(theory.started(numbers), STEPS)

    order = np.argsort([misfit(heard, fitter.counts) for heard, _ in begun], kind="stable")
    ends = [settled(*begun[place]) for place in order[:BEST_DRAWS]]
    best = min(ends, key=lambda end: misfit(end.heard, fitter.counts))
    # Some constants may change sign together without changing the concept; where both fit alike,
    # the signs of the start are meant.
    other = settled(best.heard, np.copysign(best.numbers, theory.numbers))
    lowest, loss = (misfit(end.heard, fitter.counts) for end in (best, other))
    return FittedTheory(theory, other if loss <= lowest + ALIKE else best)


def _require_finite(theory: Theory, points: FloatArray) -> None:
    """Refuse a theory that says nothing about these points, whatever its constants are."""
    rng = np.random.default_rng(0)
    tries = [theory.numbers]
    tries += [np.array([one.draw(1, rng)[0] for one in theory.constants]) for _ in range(5)]
    for numbers in tries:
        values, gradients = theory.at(numbers, points)
        finite = np.isfinite(values) & np.isfinite(gradients).all(axis=1)
        if finite.any() and gradients[finite].any():
            return
    raise ExpressionError(
        f"The theory {theory.name!r} is not finite, or does not vary, at any of the "
        f"{len(points)} points. Check the formula, its constants and the range of the inputs."
    )


def corrections_of(
    best: FittedTheory, fitter: Fitter, allows: Callable[[Tree, tuple[str, ...]], bool]
) -> list[FittedTheory]:
    """The theory with each promising further term or factor, all constants fitted again."""
    seen = fitter.witnesses.field
    few = seen.subset(np.flatnonzero(seen.weights > 0)[: 2 * N_POINTS])
    values, gradients = best.theory.at(best.numbers, few.points)
    found = []
    for coefficient, term, is_factor in further_terms(values, gradients, few, allows):
        further = best.theory.corrected(term, coefficient, is_factor=is_factor)
        start = further.started(np.append(best.numbers, coefficient))
        settled = fitter.settle(start, STEPS_OF_CORRECTION)
        if np.isfinite(settled.loss):
            n_corrections = best.n_corrections + 1
            found.append(FittedTheory(further, settled, n_corrections, term, is_factor))
    return found


NO_FURTHER = 0.01
"""Share of the typical squared error within which a formula that was found is a theory with its
constants moved: the data cannot tell the two apart."""

MOST_RIVALS = 12
"""Formulas that are made from the best theory and weighed, and as many of a search: those of the
best scores."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A formula that nobody stated, the nats that it costs to describe, and whether a search found
    it.
    """

    expression: Expression
    cost: float
    is_found: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Hall:
    """Everything that competes."""

    theories: list[FittedTheory]
    corrected: list[FittedTheory]  # the best theory, and the best of these, corrected again
    rivals: list[Rival]  # made from the best theory, or found, and none of the theories
    fitter: Fitter  # holds the points of the fits, with scales and counts
    unseen: GradientField  # points that judge

    @classmethod
    def of(
        cls,
        theories: list[FittedTheory],
        fitter: Fitter,
        unseen: GradientField,
        space: SearchSpace,
        rng: np.random.Generator,
    ) -> "Hall":
        """The theories, corrections of the best, and forms in which a part of it is another."""
        best = min(theories, key=lambda one: _seen_score(one, fitter))
        found = corrections_of(best, fitter, space.allows_inside)
        # A theory that is far off may need two, of which neither pays alone.
        nearest = min(found, key=lambda one: one.settled.loss, default=None)
        if nearest is not None:
            found += corrections_of(nearest, fitter, space.allows_inside)
        hall = cls(theories, found, [], fitter, unseen)
        formula = best.theory.written(best.numbers)
        if formula is None:
            return hall
        made, count = _near(formula, fitter, space, rng)
        return hall.with_rivals(
            Rival(one, _made_cost(one, best.theory, count, _price(fitter))) for one in made
        )

    def with_rivals(self, found: Iterable[Rival]) -> "Hall":
        """With further formulas, but for those that are one of the theories."""
        new = [rival for rival in found if not self._is_stated(rival.expression)]
        return replace(self, rivals=[*self.rivals, *new])

    def with_search(
        self,
        field: GradientField,
        seen: np.ndarray,
        limits: Budget,
        space: SearchSpace,
        rng: np.random.Generator,
        progress: Progress,
    ) -> "Hall":
        """With what a search finds that begins at the theories."""
        known = [one.theory.written(one.numbers) for one in self.theories]
        wider = replace(space, guesses=(*space.guesses, *(one for one in known if one)))
        result = search(
            field, space=wider, budget=limits.share(SEARCH_SHARE), rng=rng, points=seen,
            progress=progress,
        )  # fmt: skip
        if result.status == "interrupted":
            raise KeyboardInterrupt  # it was meant for the whole contest
        # Neighbours of the theories are made too: the truth may differ from one in a part.
        stated = [Candidate(one, 1.0, one.complexity(), "theory") for one in known if one]
        front = replace(result.front, others=(*result.front.others, *stated))
        rest = limits.share(1 - SEARCH_SHARE)
        selection = select(replace(result, front=front), field, rng=rng, budget=rest, space=wider)
        found = selection.contenders[:MOST_RIVALS]
        return self.with_rivals(
            Rival(one.expression.rename(field.names), one.cost, is_found=True) for one in found
        )

    def _is_stated(self, rival: Expression) -> bool:
        """Whether a formula is one of the theories, with its free constants moved."""
        field = self.fitter.witnesses.field
        target = replace(field_of(rival, field), latents=None, slopes=None)
        if not (target.weights > 0).any():
            return True
        fitter = replace(
            self.fitter, witnesses=Witnesses.of(target), scales=(SAME, SAME), counts=(1.0, 0.0)
        )
        bound = max(SAME, NO_FURTHER * self.fitter.scales[0])
        for one in self.theories:
            settled = fitter.settle(one.theory.started(one.numbers))
            values, gradients = one.theory.at(settled.numbers, field.points)
            squares = fitter.witnesses.heard(values, gradients).squares()[0]
            if float(np.median(squares)) < bound:
                return True
        return False


def _price(fitter: Fitter) -> float:
    return weighing(has_values=fitter.witnesses.has_values).price


def _made_cost(form: Expression, theory: Theory, count: int, price: float) -> float:
    """The price of a theory, of a form's place among those made from it, and its new numbers."""
    further = max(len(fitted_positions(form.tree)) - len(theory.constants), 0)
    return price * (theory.free_length + FREE_COST * further) + float(np.log(count))


def _seen_score(one: FittedTheory, fitter: Fitter) -> float:
    means = fitter.witnesses.means(one.settled.heard, fitter.scales)
    return float(np.dot(fitter.counts, means)) + _price(fitter) * one.theory.free_length


def _near(
    formula: Expression, fitter: Fitter, space: SearchSpace, rng: np.random.Generator
) -> tuple[list[Expression], int]:
    """The best forms that differ from a formula in a part, and of how many they are."""
    pool = Pool(
        fitter.witnesses, fitter.labels, lambda form, price: price * description_length(form.tree),
        weighing(has_values=fitter.witnesses.has_values),
        scales=fitter.scales, counts=fitter.counts,
    )  # fmt: skip
    stock = stock_of(fitter.witnesses.field, space, rng)
    pool.add(neighbours_of(formula, pool, stock, most=MOST_RIVALS))
    return [entry.expression for entry in pool.ordered()], max(len(pool.looked_at), 1)


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """All that competed, on unseen points: theories first, then corrected ones, then rivals."""

    weights: FloatArray  # they sum to 1
    scores: FloatArray  # nats: what both witnesses leave over, and what it costs to describe
    heard: list[Heard]
    witnesses: Witnesses
    scales: Pair  # typical squared errors of directions and values
    counts: Pair  # their independent pieces of evidence


def weigh_hall(hall: Hall) -> Weighed:
    """Weigh everything on unseen points, phi and constants as they were fitted."""
    before = hall.fitter.witnesses
    after = Witnesses.of(hall.unseen, before)
    price = _price(hall.fitter)
    heard = []
    fitted = (*hall.theories, *hall.corrected)
    for one in fitted:
        fit = before.heard(*one.theory.at(one.numbers, before.field.points)).phi
        told = one.theory.at(one.numbers, hall.unseen.points)
        heard.append(after.heard(*told, fit))
    for rival in hall.rivals:
        fit = before.hear(rival.expression.tree).phi
        heard.append(after.hear(rival.expression.tree, fit))
    # A theory was stated before anybody looked, so that only its free constants are charged; what
    # was made or found to fit is charged what it adds: a correction its place among the terms that
    # there are, and its number.
    choices = float(np.log(2 * len(terms_of(range(len(hall.unseen.names))))))
    costs = [price * one.theory.free_length + one.n_corrections * choices for one in fitted]
    costs += [rival.cost for rival in hall.rivals]
    # Typical errors are those of what fits best, stated or not: by those of a theory that is far
    # off nothing could be much better than it. For the same reason the evidence counts in full: how
    # smoothly all of them fail must not protect the best.
    counts = weighing(has_values=before.has_values).most
    scales = typical(min(heard, key=lambda each: misfit(each, counts)))
    means = np.array([after.means(each, scales) for each in heard])
    scores = means @ counts + np.array(costs)
    # Corrections and forms that were made all answer to the same misfit: the best speaks for them.
    n_theories = len(hall.theories)
    groups = [min(place, n_theories) for place in range(len(heard))]
    found = [place for place, rival in enumerate(hall.rivals) if rival.is_found]
    forms = group_by_form([hall.rivals[place].expression for place in found], hall.unseen)
    for place, form in zip(found, forms, strict=True):
        groups[len(heard) - len(hall.rivals) + place] = n_theories + 1 + form
    return Weighed(weights_of(scores, groups), scores, heard, after, scales, counts)
