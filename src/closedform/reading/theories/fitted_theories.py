"""Theories with their constants fitted on both witnesses, and the best of what may correct one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ExpressionError
from closedform.expressions.tree import Tree
from closedform.field.gradient_field import GradientField
from closedform.judge.confidence import Weighing, weighing
from closedform.judge.fitting import Fitter, Settled
from closedform.judge.neighbours.made_forms import N_POINTS, further_terms
from closedform.judge.pool import weigh
from closedform.judge.regions import Pair, divide
from closedform.judge.witnesses import Heard, Witnesses, typical
from closedform.reading.theories.theory import Theory

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
    """The theory with one more term or factor, those that explain most of what is left over, all
    constants fitted again.
    """
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
