"""A curve, values over an index with their errors, read as a formula with a verdict.

Forms are sums and products of functions of the index, and quotients. A sum is linear in its
coefficients, the logarithm of a product in its exponents, and a quotient N/D in both sides, since
N - value*D vanishes. So linear algebra finds them all, with the functions of one quantity that the
search has in stock; then they are fitted, and weighed as the judge weighs formulas.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import values_and_gradients
from closedform.expressions.sums_and_products import sum_of
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.alignment.misalignment import chance_level
from closedform.field.alignment.tolerances import ROUNDING
from closedform.interpretation.verdict import CheckResult, Verdict
from closedform.judge.confidence import Judged, clues_of, weighing, weights_of
from closedform.judge.regions import independent_pieces
from closedform.judge.thresholds import Thresholds
from closedform.reading.curve_form import Curve, CurveForm, FittedCurve, fit_curve
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import Form, wider_forms
from closedform.searching.structure_search.quantities import Quantity, Yardstick
from closedform.searching.structure_search.writing import Draft

WIDTH, MOST_SINGLE = 12, 60
"""Forms of each kind and length that are grown and fitted, each family once; and those of a single
function, whose numbers inside may be far from where they begin."""

LONGEST_SUM, LONGEST_PRODUCT = 3, 2
"""Functions in a sum, the constant among them, and in a product."""

DEGREE, LONGEST_QUOTIENT = 3, 4
"""Highest power of the index in a quotient, and coefficients in it."""

NEAR = 1e-3
"""Share of the squares below which losses do not differ before the numbers inside are fitted: they
begin at a few values each."""

INDEPENDENT = 1e-10
"""Share of a column that its predecessors must leave of it to be another."""


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """Functions at the points of a curve: forms, whether their logarithm is meant, and values."""

    forms: list[Form]
    are_logs: list[bool]
    values: FloatArray  # shape (n_columns, n_points)

    def only(self, kept: np.ndarray) -> "_Columns":
        places = np.flatnonzero(kept).tolist()
        return _Columns(
            [self.forms[k] for k in places], [self.are_logs[k] for k in places], self.values[places]
        )

    def family(self, place: int) -> tuple[str, bool]:
        return self.forms[place].family, self.are_logs[place]


def propose(curve: Curve, space: SearchSpace) -> Iterator[CurveForm]:
    """Forms with numbers to begin a fit at."""
    draft = Draft()
    yield CurveForm.of(*draft.done(draft.hole(float(curve.values.mean()))))
    if np.ptp(curve.values) == 0 or np.ptp(curve.index) == 0:
        return
    columns, sizes = _columns(curve, space), np.abs(curve.values)
    for chosen, coefficients in _grown(curve, columns, LONGEST_SUM):
        yield _sum(columns, chosen, coefficients)
    if (curve.values > 0).all() or (curve.values < 0).all():
        # What does not keep its sign has no power.
        is_log = np.array(columns.are_logs)
        powers = columns.only(is_log | ~np.array([form.is_log for form in columns.forms]))
        ratio = Curve(curve.index, np.log(sizes), curve.turns * sizes, curve.errors)
        sign = float(np.sign(curve.values[0]))
        for chosen, coefficients in _grown(ratio, powers, LONGEST_PRODUCT, has_offset=True):
            yield _product(powers, chosen, coefficients, sign)
    yield from _quotients(curve)


def _columns(curve: Curve, space: SearchSpace) -> _Columns:
    """The functions of one quantity; of logarithms their arguments too, which are functions."""
    ones = np.ones(len(curve.index))
    stock = wider_forms(Quantity(variable(0), curve.index, ones[:, None], ones), space)
    forms = [stock.form(place) for place in range(len(stock.forms))]
    with np.errstate(all="ignore"):
        tapes = compile_tapes([form.tree for form in forms])
        values = values_and_gradients(tapes, curve.index[:, None])[0]
        logs = np.log(np.where(values > 0, values, np.nan))
    is_log = np.array([form.is_log for form in forms])
    every = _Columns(
        [*forms, *(form for form in forms if form.is_log)],
        [False] * len(forms) + [True] * int(is_log.sum()),
        np.concatenate([values, logs[is_log]]),
    )
    # An offset is a term of its own.
    shifted = [form.tree.root == "add" and form.tree.children[1].is_constant for form in forms]
    kept = np.isfinite(every.values).all(axis=1) & (np.ptp(every.values, axis=1) > 0)
    kept[: len(forms)] &= ~np.array(shifted)
    return every.only(kept & (np.abs(every.values).max(axis=1) < 1e100))


def _grown(
    curve: Curve, columns: _Columns, longest: int, *, has_offset: bool = False
) -> Iterator[tuple[tuple[int, ...], FloatArray]]:
    """Sums of columns, the best of each length, with their coefficients; -1 is the constant."""
    weights = curve.turns / curve.errors
    target, own = curve.values * weights, columns.values * weights
    own = own / np.linalg.norm(own, axis=1)[:, None]
    costs = np.array([form.cost for form in columns.forms], dtype=float)
    yardstick = _yardstick(target)
    beams: list[tuple[tuple[int, ...], float]] = [((-1,), 1.0)]
    beams += [] if has_offset else [((), 0.0)]
    for _ in range(longest):
        found: dict[tuple[object, ...], tuple[float, tuple[int, ...], float]] = {}
        for chosen, cost in beams:
            if len(chosen) - has_offset >= longest:
                continue
            basis = [weights if k < 0 else own[k] for k in chosen]
            frame = np.linalg.qr(np.array(basis).reshape(-1, len(target)).T)[0]
            rest, further = target - frame @ (frame.T @ target), own - (own @ frame) @ frame.T
            sizes = (further**2).sum(axis=1)
            with np.errstate(all="ignore"):
                losses = (rest @ rest - (further @ rest) ** 2 / sizes) / len(target)
            losses = np.where(sizes > INDEPENDENT, np.maximum(losses, 0.0), np.inf)
            scores = yardstick(losses, cost + costs)
            for place in np.argsort(scores, kind="stable")[: 20 * WIDTH].tolist():
                if not np.isfinite(scores[place]):
                    break
                new = (*chosen, place)
                key = tuple(sorted(str(columns.family(k)) if k >= 0 else "" for k in new))
                if key not in found or scores[place] < found[key][0]:
                    found[key] = float(scores[place]), new, cost + float(costs[place])
        ranked = [(new, cost) for _, new, cost in sorted(found.values())]
        beams = ranked[:WIDTH]
        singles = [one for one in ranked[:MOST_SINGLE] if sum(k >= 0 for k in one[0]) == 1]
        for new, _ in dict.fromkeys([*beams, *singles]):
            table = np.stack([weights if k < 0 else columns.values[k] * weights for k in new], 1)
            yield new, np.linalg.lstsq(table, target, rcond=None)[0].astype(float)


def _sum(columns: _Columns, chosen: tuple[int, ...], numbers: FloatArray) -> CurveForm:
    draft, terms = Draft(), []
    for place, number in zip(chosen, numbers.tolist(), strict=True):
        if place < 0:
            terms.append(draft.hole(number))
            continue
        inner = draft.form(columns.forms[place], 0)
        function = apply("log", inner) if columns.are_logs[place] else inner
        terms.append(apply("mul", draft.hole(number), function))
    return CurveForm.of(*draft.done(sum_of(terms[::-1])))


def _product(
    columns: _Columns, chosen: tuple[int, ...], numbers: FloatArray, sign: float
) -> CurveForm:
    """A factor, powers, and exponentials."""
    draft = Draft()
    tree = draft.hole(sign * float(np.exp(np.clip(numbers[0], -300, 300))))
    for place, number in zip(chosen[1:], numbers[1:].tolist(), strict=True):
        inner, power = draft.form(columns.forms[place], 0), draft.hole(number)
        is_power = columns.are_logs[place]
        factor = (
            apply("pow", inner, power) if is_power else apply("exp", apply("mul", power, inner))
        )
        tree = apply("mul", tree, factor)
    return CurveForm.of(*draft.done(tree))


def _quotients(curve: Curve) -> Iterator[CurveForm]:
    """The best quotients of sums of powers."""
    size = float(np.abs(curve.index).max())
    powers = [(curve.index / size) ** n for n in range(DEGREE + 1)]
    weights, found = curve.turns / curve.errors, []
    lengths = range(1, LONGEST_QUOTIENT)
    sides = [list(each) for n in lengths for each in combinations(range(DEGREE + 1), n)]
    for above in sides:
        for below in sides:
            # Others are a sum of powers, or have a power to cancel.
            fits = len(above) + len(below) <= LONGEST_QUOTIENT and len(below) > 1
            if not fits or (above[0] > 0 and below[0] > 0):
                continue
            columns = [powers[n] for n in above] + [-curve.values * powers[n] for n in below]
            table, divisor = np.stack(columns, axis=1) * weights[:, None], np.ones_like(weights)
            vector = np.ones(len(columns))
            for _ in range(3):
                vector = np.linalg.svd(table / divisor[:, None], full_matrices=False)[2][-1]
                divisor = np.abs(np.stack([powers[n] for n in below], 1) @ vector[len(above) :])
                divisor = np.maximum(divisor, 1e-3 * max(float(divisor.max()), 1e-300))
            loss = float((((table / divisor[:, None]) @ vector) ** 2).mean())
            scale = float(size ** below[-1] / vector[-1]) if vector[-1] else np.inf
            numbers = vector * scale / size ** np.array([*above, *below], dtype=float)
            if np.isfinite(numbers).all() and numbers.all():
                found.append((loss, above, below, numbers))
    yardstick = _yardstick(curve.values * weights)
    found.sort(key=lambda one: float(yardstick(one[0], 4 * len(one[3]))))
    for _, above, below, numbers in found[:WIDTH]:
        draft = Draft()
        first, rest = numbers[: len(above)], numbers[len(above) : -1]
        # A factor before, so that it may turn out to be 1.
        factor = draft.hole(float(first[-1] if len(above) == 1 else first[0]))
        top = [_power(n) for n in above[:1]] + [
            apply("mul", draft.hole(float(number / first[0])), _power(n))
            for n, number in zip(above[1:], first[1:], strict=True)
        ]
        bottom = [_power(below[-1])] + [
            apply("mul", draft.hole(float(number)), _power(n)) if n else draft.hole(float(number))
            for n, number in zip(below[:-1], rest, strict=True)
        ]
        yield CurveForm.of(*draft.done(
            apply("mul", factor, apply("div", sum_of(top), sum_of(bottom)))
        ))  # fmt: skip


def _yardstick(target: FloatArray) -> Yardstick:
    """For losses in units of the errors: what is below 1 is noise."""
    return Yardstick(len(target), max(1.0, NEAR * float(((target - target.mean()) ** 2).mean())))


def _power(exponent: int) -> Tree:
    if exponent == 0:
        return constant(1)
    return variable(0) if exponent == 1 else apply("pow", variable(0), constant(exponent))


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
    """The formula of `name` that a curve follows; None for fewer than eight points."""
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
        """Logarithm of the mean square that a form leaves over, on top of the known errors."""
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
