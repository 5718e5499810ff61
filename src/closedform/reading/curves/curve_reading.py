"""A curve read as a formula, with a verdict."""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.alignment.misalignment import chance_level
from closedform.field.alignment.tolerances import ROUNDING
from closedform.interpretation.verdict import CheckResult, Verdict
from closedform.judge.confidence import Judged, clues_of, weighing, weights_of
from closedform.judge.regions import independent_pieces
from closedform.judge.thresholds import Thresholds
from closedform.reading.curves.curve_form import Curve, CurveForm, FittedCurve, fit_curve
from closedform.reading.curves.curve_search import propose
from closedform.searching.space import SearchSpace

FEWEST = 8
"""Fewer points of a curve say nothing about its form."""

MOST_PLAIN = 20
"""Forms that get plainer numbers in each round: the truth often begins with more numbers than
others, some of which are plain, or one."""

MOST_TOLD = 5
"""Other forms that a verdict names."""

NOT_COUNTED = 2
"""Numbers that are not held against a form: what confidences were fitted on is known up to a factor
and an offset, which a curve has to state."""

ALIKE = 0.1
"""Two formulas are one if they differ by less than this share of what the best leaves over."""

DIGITS = 6
"""Of numbers, as a curve is shown."""


@dataclass(frozen=True, slots=True)
class CurveReading:
    """A curve as a formula."""

    concept: Expression  #: in the index's name
    verdict: Verdict
    confidence: float  #: that this form is the curve's
    numbers: tuple[float, ...]  #: that were fitted, in the order in which they are written
    errors: tuple[float, ...]  #: their standard errors
    r2: float  #: share of the variance that it explains

    def __str__(self) -> str:
        # Rounded down: 1.00 would say more than can be known.
        sure = int(100 * self.confidence) / 100
        return f"{self.concept} ({self.verdict.status}, confidence {sure:.2f})"


def read_curve(
    index: FloatArray, values: FloatArray, errors: FloatArray, name: str = "k"
) -> CurveReading | None:
    """The formula of `name` that a curve follows; None for fewer than eight points.

    Examples
    --------
    >>> k = np.geomspace(0.01, 1, 40)
    >>> curve = read_curve(k, np.log(k / 0.05), np.full(40, 1e-3))
    >>> print(curve.concept, curve.verdict.status)
    log(k/0.05) verified
    """
    curve = Curve.of(*(np.asarray(each, dtype=float) for each in (index, values, errors)))
    if len(curve.index) < FEWEST:
        return None
    hall = _Hall(curve, {})
    for form in propose(curve, SearchSpace()):
        hall.add(form)
    done: set[int] = set()
    # Each round makes numbers plain that the last one left.
    while new := [one for one in hall.ranked()[0][:MOST_PLAIN] if id(one) not in done]:
        for one in new:
            done.add(id(one))
            for form in one.form.plainer(one.errors):
                hall.add(form)
    return hall.reading(name)


@dataclass(slots=True)
class _Hall:
    """Fitted forms with their scores."""

    curve: Curve
    fitted: dict[object, FittedCurve]

    def add(self, form: CurveForm) -> None:
        """Fit a form, unless it is known."""
        form = form.with_pivot
        if form.tree not in self.fitted and (one := fit_curve(form, self.curve)) is not None:
            self.fitted[form.tree] = one

    def left(self, one: FittedCurve) -> float:
        """Logarithm of the mean square that a form leaves over: what is below the known errors, in
        which all is counted, says little.
        """
        errors = self.curve.errors
        return float(np.log(1 + ((one.left / errors) ** 2).mean()) + 2 * np.log(np.median(errors)))

    def pieces(self, one: FittedCurve) -> float:
        """As how many independent points its errors count."""
        units = one.left / np.hypot(one.left, self.curve.errors)
        if float((units**2).mean()) < ROUNDING:
            return float(len(units))
        return independent_pieces(units[:, None], np.arange(len(units))[:, None].astype(float))

    def ranked(self) -> tuple[list[FittedCurve], FloatArray, FloatArray]:
        """All forms, best first, what they leave over in nats, and what they cost."""
        every = list(self.fitted.values())
        numbers = weighing(has_values=False)
        # Each piece is one number: half the logarithm of its square.
        count = min(numbers.most[0], self.pieces(min(every, key=self.left)) / 2)
        fits = count * np.array([self.left(one) for one in every])
        costs = numbers.price * np.array([one.form.length for one in every])
        order = np.argsort(fits + costs, kind="stable")
        return [every[place] for place in order], fits[order], costs[order]

    def reading(self, name: str) -> CurveReading:
        """The best form, judged."""
        every, fits, costs = self.ranked()
        groups = self.groups(every)
        weights = weights_of(fits + costs, groups)
        best, numbers = every[0], weighing(has_values=False)
        clues = clues_of(
            fits, weights, np.array([one.form.length for one in every]), self.left(best),
            float(np.log(self.pieces(best) / len(self.curve.index))),
            max(best.n_fitted - NOT_COUNTED, 0),
        )  # fmt: skip
        chance, heaviest = numbers.chance_of_truth(clues), float(weights[0])
        judged = Judged(
            weights, tuple(groups), 1 - min(chance / heaviest, 1.0), np.zeros((0, 2)),
            np.zeros((0, 2)),
        )  # fmt: skip
        values = best.form.at(self.curve.index)[0]
        around = self.curve.values - self.curve.values.mean()
        total = float((around**2).sum())
        r2 = 1 - float(((values - self.curve.values) ** 2).sum()) / total if total else 1.0
        found = [every[place].form.expression(name, DIGITS) for place in judged.listed()]
        return CurveReading(
            best.form.expression(name, DIGITS), _verdict(best, judged, found[:MOST_TOLD]),
            judged.confidence, best.form.numbers, tuple(best.errors.tolist()), r2,
        )  # fmt: skip

    def groups(self, every: list[FittedCurve]) -> list[int]:
        """Which form each is: spellings of one have the same values."""
        near = ALIKE * np.exp(self.left(every[0]) / 2)
        values = [one.form.at(self.curve.index)[0] * self.curve.turns for one in every]
        groups: list[int] = []
        for place, own in enumerate(values):
            same = (k for k in range(place) if np.sqrt(((values[k] - own) ** 2).mean()) < near)
            groups.append(next((groups[k] for k in same), place))
        return groups


def _verdict(best: FittedCurve, judged: Judged, others: list[Expression]) -> Verdict:
    """By the lines of any other verdict."""
    lines = Thresholds()
    sure = int(100 * judged.confidence) / 100
    share = float((best.left**2).mean()) / chance_level(1, 2)
    degrees = float(np.degrees(np.sqrt(np.median(best.left**2))))
    checks = (
        CheckResult(
            share <= lines.approximate, f"It is {degrees:.2g} degrees off.", name="alignment"
        ),
        CheckResult(
            judged.confidence >= lines.confidence,
            f"Confidence {judged.confidence:.3f}; {lines.confidence:g} is needed.",
            name="confidence",
        ),
    )
    told = f"(confidence {sure:.2f}, {degrees:.2g} degrees off)"
    if not checks[0].passed:
        return Verdict("none", f"The curve does not follow this formula {told}.", checks)
    if checks[1].passed:
        return Verdict("verified", f"The curve follows this formula {told}.", checks)
    if judged.unknown < 0.5 and others:
        said = f"The curve follows this formula, and others as well {told}."
        return Verdict("ambiguous", said, checks, None, tuple(others))
    said = f"The curve is near this formula, but another may be the truth {told}."
    return Verdict("approximate", said, checks, None, tuple(others))
