"""Whether a formula is the expected concept. It knows the answers, and nothing that reads a network
imports it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.same_concept import same_concept
from closedform.expressions.complexity import constant_values, fitted_positions
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.tree import Constant, Tree, apply, constant
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.misalignment import weighted_mean
from closedform.field.alignment.refit import refit
from closedform.field.gradient_field import GradientField
from closedform_bench.paper.answers import ANSWERS
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS

Status = Literal["proved", "numerical", "approximate", "different"]
STATUSES: tuple[Status, ...] = ("proved", "numerical", "approximate", "different")
"""From best to worst; all but the last count as recovered."""

CLOSE = 1e-3
"""Largest misalignment between an approximate formula and the truth."""

TOLERANCE = 0.1
"""How far each constant of an approximate formula may be from the one that makes it true, as a
share.
"""

PARALLEL = 1e-12
"""Misalignment of a formula with refitted constants that is the truth but for rounding."""

FINITE = 0.99
"""Share of the data on which a formula has to be defined."""

ITERATIONS = 100
MOST_POINTS = 1000


@dataclass(frozen=True, slots=True)
class Score:
    """How a formula compares with the expected concept.

    Attributes
    ----------
    status : {'proved', 'numerical', 'approximate', 'different'}
        The first two as in `closedform.same_concept`, on the data and modulo what the experiment
        holds constant. Approximate: with its constants refitted the formula is the same concept,
        each of them is within 10% of its refitted value, and the misalignment between formula and
        truth is below 1e-3.
    misalignment : float
        Between formula and truth, on the data.
    reason : str
    """

    status: Status
    misalignment: float
    reason: str

    @property
    def is_recovered(self) -> bool:
        """Whether the formula counts as found."""
        return self.status != "different"


def expected(number: int) -> Expression:
    """The concept that a network should have learned.

    Examples
    --------
    >>> str(expected(9))
    'v**2/2 + sin(x)'
    """
    return parse(ANSWERS[number].expression, EXPERIMENTS[number].inputs)


def expected_text(number: int) -> str:
    """The same as it is usually written."""
    return ANSWERS[number].expression


def score(number: int, found: Expression | None, points: FloatArray) -> Score:
    """Compare a formula with the expected concept where the data are.

    Parameters
    ----------
    number : int
        Of the experiment.
    found : Expression or None
    points : ndarray, shape (n_points, n_inputs)
        Data of the experiment; the first 1,000 are used.

    Examples
    --------
    >>> points = EXPERIMENTS[7].split("test", 300, seed=0)[:, 0]
    >>> [
    ...     score(7, parse(text, ["x", "v"]), points).status
    ...     for text in ("1/(x**2 + v**2)", "x**2 + 0.99*v**2", "x**2")
    ... ]
    ['proved', 'approximate', 'different']
    """
    if found is None:
        return Score("different", 1.0, "There is no formula.")
    points = points[:MOST_POINTS]
    names, truth = EXPERIMENTS[number].inputs, expected(number)
    formula = found.rename(names)
    share = float(np.isfinite(formula.gradient(points)).all(axis=1).mean())
    if share < FINITE:
        return Score("different", 1.0, f"The formula is defined at {100 * share:.0f}% of the data.")
    held = EXPERIMENTS[number].held
    field = GradientField.from_arrays(points, truth.gradient(points), names=names, constraints=held)
    misalignment = weighted_mean(field_misalignment(formula, field), field.weights)
    if misalignment >= CLOSE:
        return Score(
            "different", misalignment, f"The misalignment to the truth is {misalignment:.2g}."
        )
    same = same_concept(formula, truth, names, points=points)
    if held and not same:  # the constraints are no help to a proof that does not need them
        same = same_concept(formula, truth, names, constraints=held, points=points)
    if same.status in ("proved", "numerical"):
        return Score(same.status, misalignment, same.reason)
    if same.dependent:
        return Score("different", misalignment, same.reason)
    return approximate_score(formula, truth, field, misalignment)


def best_score(
    number: int, formulas: Sequence[Expression], points: FloatArray
) -> tuple[int | None, Score]:
    """The place of the formula that scores best, the first of equals, and its score."""
    scores = [score(number, formula, points) for formula in formulas]
    if not scores:
        return None, score(number, None, points)
    place = min(range(len(scores)), key=lambda i: STATUSES.index(scores[i].status))
    return place, scores[place]


def approximate_score(
    formula: Expression, truth: Expression, field: GradientField, misalignment: float
) -> Score:
    """Refit the fitted constants to the truth; if that is not enough, also those that were rounded
    to plain numbers.
    """
    formula = Expression(_with_numbers_worked_out(formula.tree), formula.names)
    fitted = fitted_positions(formula.tree)
    for positions in dict.fromkeys((fitted, _constants(formula.tree))):
        if not positions:
            continue
        (refitted,), (left,) = refit([formula], field, iterations=ITERATIONS, positions=[positions])
        before, after = (np.array(constant_values(e.tree, positions)) for e in (formula, refitted))
        away = float(np.max(np.abs(before - after) / np.maximum(np.abs(after), 1e-300)))
        if left < PARALLEL and away <= TOLERANCE and _keeps_order(refitted, truth, field):
            return Score(
                "approximate",
                misalignment,
                f"Its constants are within {100 * away:.2g}% of the true ones.",
            )
    return Score(
        "different",
        misalignment,
        "No constants within 10% of those found make it the same concept.",
    )


def _with_numbers_worked_out(tree: Tree) -> Tree:
    """The tree with one number for each part without inputs: 1.6% of 0.984 are all of log(0.984),
    which may be a whole term.
    """

    def node(name: str, *operands: Tree) -> Tree:
        whole = apply(name, *operands)
        value = float(Expression(whole, ())(np.zeros((1, 0)))[0]) if whole.is_constant else np.nan
        return constant(value) if np.isfinite(value) else whole

    return tree.fold(lambda token: Tree((token,)), node)


def _constants(tree: Tree) -> tuple[int, ...]:
    """Positions of the numbers that could be fitted: all but plain exponents, which belong to the
    form.
    """
    tokens, fitted = tree.tokens, fitted_positions(tree)
    return tuple(
        i
        for i, token in enumerate(tokens)
        if isinstance(token, Constant)
        and (i in fitted or not (i + 1 < len(tokens) and tokens[i + 1] == "pow"))
    )


def _keeps_order(formula: Expression, truth: Expression, field: GradientField) -> bool:
    """Whether the values run one way, as they do not for x and x**2."""
    values = formula(field.points)[np.argsort(truth(field.points))]
    steps = np.diff(values[np.isfinite(values)])
    rounding = 1e-5 * np.ptp(values[np.isfinite(values)])
    return bool((steps > -rounding).all() or (steps < rounding).all())
