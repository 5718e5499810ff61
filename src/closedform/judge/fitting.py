"""Fit a formula's constants on both witnesses, each by its own error, and judge every region with
constants that have not seen it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.complexity import (
    constant_values,
    fitted_positions,
    number_positions,
    with_numbers,
)
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import values_and_gradients
from closedform.expressions.tape import TapeBatch, compile_tapes, node_positions
from closedform.expressions.tolerances import STEP
from closedform.expressions.tree import Constant
from closedform.field.alignment.tolerances import LARGEST_FITTED, MOST_FITTED
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import ConstantEstimate
from closedform.judge.confidence import weighing
from closedform.judge.neighbours.same_form import free_positions
from closedform.judge.regions import Pair, divide
from closedform.judge.witnesses import Heard, Witnesses, typical

STEPS, SMALL_STEP = 6, 0.02
"""Steps of a fit at most, and the gain in nats below which it ends: the search has fitted by
directions already."""

BIAS = 1.5
"""How many times larger errors of constants are than the jackknife says: regions share some of a
network's bias, and what all share does not scatter."""

_DAMPING, _STEEPEST, _FAR = 1e-3, 1e20, 10.0


@dataclass(frozen=True, slots=True)
class Fitted:
    """A formula whose constants both witnesses have fitted."""

    expression: Expression
    heard: Heard  # each region judged with constants that were fitted without it
    errors: tuple[float, ...]  # standard errors of these constants, from the regions (jackknife)
    positions: tuple[int, ...]  # where they stand


class Adjustable(Protocol):
    """Something with numbers that a fit may move: a formula, or any function of the inputs."""

    @property
    def numbers(self) -> FloatArray:
        """Where the fit begins, shape (n_numbers,)."""
        ...

    def differences(self, numbers: FloatArray) -> FloatArray:
        """Steps by which each number is moved to see what it does."""
        ...

    def evaluate(self, numbers: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values (1 + n_numbers, n_points) and gradients (1 + n_numbers, n_points, n_inputs):
        with these numbers, and with each of them moved by its difference.
        """
        ...

    def moved(self, numbers: FloatArray, step: FloatArray) -> FloatArray | None:
        """The numbers after a step; None where they must not go."""
        ...


@dataclass(frozen=True, slots=True)
class Settled:
    """Where a fit ended."""

    numbers: FloatArray
    heard: Heard  # each region judged with numbers that were fitted without it
    errors: tuple[float, ...]  # standard errors of the numbers, from the regions (the jackknife)
    # How far each number may move until the loss has risen by half a nat: its standard error if
    # every witness counts as many pieces of evidence as the fitter says.
    widths: tuple[float, ...]
    loss: float  # nats, over all points


@dataclass(frozen=True, slots=True)
class Fitter:
    """Fits formulas at the points of the witnesses."""

    witnesses: Witnesses
    labels: NDArray[np.int64]  # regions, from 0 on; points of label -1 belong to none
    scales: Pair  # typical squared errors of directions and values
    counts: Pair  # how many independent pieces of evidence each witness has

    def fit(
        self, expression: Expression, positions: Sequence[int] | None = None, steps: int = STEPS
    ) -> Fitted:
        """Fit the constants at some positions, those that nobody would write by default."""
        formula = _Formula.of(expression, positions)
        if not formula.nodes:
            return Fitted(expression, self.witnesses.hear(expression.tree), (), ())
        found = self.settle(formula, steps)
        return Fitted(formula.read(found.numbers), found.heard, found.errors, formula.positions)

    def settle(self, formula: Adjustable, steps: int = STEPS) -> Settled:
        """Move the numbers to where both witnesses want them."""
        if not len(formula.numbers):
            values, gradients = formula.evaluate(formula.numbers, self.witnesses.field.points)
            heard = self.witnesses.heard(values[0], gradients[0])
            loss = float(np.dot(self.counts, self.witnesses.means(heard, self.scales)))
            return Settled(formula.numbers, heard, (), (), loss)
        state = self._state(formula, formula.numbers)
        damping = _DAMPING
        for _ in range(steps):
            following = None
            for _ in range(4):
                moved = formula.moved(state.numbers, state.step(damping))
                trial = None if moved is None else self._state(formula, moved)
                if trial is not None and trial.loss < state.loss:
                    following = trial
                    break
                damping *= 10
            if following is None:
                break
            gain, state, damping = state.loss - following.loss, following, damping / 10
            if gain < SMALL_STEP:
                break
        heard, errors = state.left_out(self.labels)
        return Settled(state.numbers, heard, errors, state.widths(), state.loss)

    def _state(self, formula: Adjustable, numbers: FloatArray) -> "_State":
        values, gradients = formula.evaluate(numbers, self.witnesses.field.points)
        heard = self.witnesses.heard(values[0], gradients[0])
        squares = heard.squares()
        steps = formula.differences(numbers)
        direction_changes, value_changes = [], []
        for place, step in enumerate(steps, start=1):
            left, _ = self.witnesses.direction_errors(values[place], gradients[place])
            direction_changes.append(_change(heard.directions, left, step))
            value_changes.append(_change(values[0], values[place], step))
        # Weights by which a step of least squares lowers the sum of logarithms.
        of_directions = self.counts[0] * self.witnesses.weights / (squares[0] + self.scales[0])
        blocks = [(heard.directions, np.stack(direction_changes, axis=2), of_directions)]
        if squares[1] is not None:
            share = self.counts[1] / heard.values.shape[1]
            of_values = share * self.witnesses.steepness / (squares[1] + self.scales[1])
            changes = self._value_changes(heard, values[0], np.column_stack(value_changes))
            blocks.append((heard.values, changes, of_values))
        # What a step has to lower: over all points, whatever inputs are held.
        logs = zip(self.counts, self.witnesses.logs(heard, self.scales), strict=False)
        loss = float(sum(count * weights @ each for count, (each, weights) in logs))
        return _State(numbers, heard, blocks, loss)

    def _value_changes(self, heard: Heard, values: FloatArray, changes: FloatArray) -> FloatArray:
        """How what phi leaves changes with each constant: by its slope, less what a new phi would
        take up again. Shape (n_points, n_latents, n_constants).
        """
        if heard.phi is None:
            return np.zeros((*heard.values.shape, changes.shape[1]))
        slopes = heard.phi.slopes(values)
        return np.stack(
            [-heard.phi.beyond(slopes[:, [latent]] * changes) for latent in range(slopes.shape[1])],
            axis=1,
        )


@dataclass(frozen=True, slots=True)
class _Formula:
    """A formula on a tape, once for itself and once for each constant that moves."""

    expression: Expression
    positions: tuple[int, ...]
    nodes: tuple[int, ...]
    batch: TapeBatch
    numbers: FloatArray

    @classmethod
    def of(cls, expression: Expression, positions: Sequence[int] | None) -> "_Formula":
        tree = expression.tree
        free = fitted_positions(tree) if positions is None else positions
        nodes = node_positions(tree)
        chosen = number_positions(tree, free)[:MOST_FITTED]
        batch = compile_tapes([tree] * (1 + len(chosen)))
        places = tuple(nodes[place] for place in chosen)
        return cls(expression, tuple(chosen), places, batch, batch.numbers[list(places)].copy())

    def differences(self, numbers: FloatArray) -> FloatArray:
        return STEP * np.maximum(np.abs(numbers), STEP)

    def evaluate(self, numbers: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        written, starts, nodes = self.batch.numbers.copy(), self.batch.starts, list(self.nodes)
        for start in starts[:-1]:
            written[start + np.array(nodes)] = numbers
        for place, step in enumerate(self.differences(numbers)):
            written[starts[place + 1] + nodes[place]] += step
        with np.errstate(all="ignore"):
            values, gradients, _ = values_and_gradients(self.batch.with_numbers(written), points)
        return values, gradients

    def moved(self, numbers: FloatArray, step: FloatArray) -> FloatArray | None:
        new = numbers + step
        is_fine = np.isfinite(new).all() and bool((np.abs(new) <= LARGEST_FITTED).all())
        return new if is_fine else None

    def read(self, numbers: FloatArray) -> Expression:
        tree = with_numbers(self.expression.tree, self.positions, numbers.tolist())
        return Expression(tree, self.expression.names)


@dataclass(frozen=True, slots=True)
class _State:
    """Constants, with what the witnesses say and how that changes."""

    numbers: FloatArray
    heard: Heard
    blocks: list[tuple[FloatArray, FloatArray, FloatArray]]
    loss: float

    def rows(self) -> tuple[FloatArray, FloatArray]:
        """Products of changes with changes, and with errors, at each point."""
        count, n_points = len(self.numbers), len(self.heard.directions)
        matrix, slope = np.zeros((n_points, count, count)), np.zeros((n_points, count))
        for errors, changes, weights in self.blocks:
            weighted = weights[:, None, None] * changes
            matrix += np.swapaxes(weighted, 1, 2) @ changes
            slope += np.einsum("ndc,nd->nc", weighted, errors)
        return matrix, slope

    def step(self, damping: float) -> FloatArray:
        """Where least squares leads."""
        matrix, slope = (each.sum(axis=0) for each in self.rows())
        return -_solved(matrix, slope, damping)

    def widths(self) -> tuple[float, ...]:
        """From the loss's curvature, which is twice the sum of products of changes."""
        matrix = 2 * self.rows()[0].sum(axis=0)
        if not np.isfinite(matrix).all():
            return (np.inf,) * len(self.numbers)
        return tuple(np.sqrt(np.abs(np.diagonal(np.linalg.pinv(matrix, hermitian=True)))).tolist())

    def left_out(self, labels: NDArray[np.int64]) -> tuple[Heard, tuple[float, ...]]:
        """Every region with the constants that one step away from it gives, and how far these
        scatter.
        """
        matrix, slope = self.rows()
        count = len(self.numbers)
        regions = np.arange(int(labels.max(initial=-1)) + 1)
        is_in = (labels == regions[:, None]).astype(float)
        own, pulls = np.tensordot(is_in, matrix, 1), is_in @ slope
        moves = [_solved(matrix.sum(axis=0) - a, b, 1e-9) for a, b in zip(own, pulls, strict=True)]
        # Where a constant hardly matters a step may lead anywhere; none is fitted beyond this.
        bounded = np.clip(moves, -LARGEST_FITTED, LARGEST_FITTED) if moves else np.zeros((0, count))
        table = np.vstack([bounded, np.zeros(count)])
        shifts = table[labels]
        new = [
            errors + np.einsum("ndc,nc->nd", changes, shifts) for errors, changes, _ in self.blocks
        ]
        n_moves = max(len(moves), 1)
        scatter = bounded - bounded.mean(axis=0) if moves else table
        errors = np.sqrt((n_moves - 1) / n_moves * (scatter**2).sum(axis=0))
        values = self.heard.values
        if len(new) > 1:
            values = np.clip(np.nan_to_num(new[1], nan=1.0), -_FAR, _FAR)
        heard = Heard(_at_most_one(new[0]), values, self.heard.is_turned, self.heard.phi)
        return heard, tuple(errors.tolist())


def _solved(matrix: FloatArray, slope: FloatArray, damping: float) -> FloatArray:
    damped = matrix + np.diag(damping * np.diagonal(matrix) + 1e-300)
    if not (np.isfinite(damped).all() and np.isfinite(slope).all()):
        return np.zeros(len(slope))
    return np.asarray(np.linalg.lstsq(damped, slope, rcond=1e-14)[0], dtype=np.float64)


def _change(before: FloatArray, after: FloatArray, step: float) -> FloatArray:
    """How fast something changes; 0 where it is not finite, or beyond all bounds."""
    with np.errstate(all="ignore"):
        change = (after - before) / step
    return np.where(np.abs(change) < _STEEPEST, change, 0.0)


def _at_most_one(vectors: FloatArray) -> FloatArray:
    """A linear step may lead further than a sine can be, and anywhere where there is no slope."""
    bounded = np.clip(np.nan_to_num(vectors, nan=1.0), -_FAR, _FAR)
    return bounded / np.maximum(np.linalg.norm(bounded, axis=1, keepdims=True), 1.0)


def number_places(formula: Expression) -> list[int]:
    """Where the numbers of a formula stand that a fit may move; pi and log(2) are constants too,
    but none of these.
    """
    return [
        place
        for place in free_positions(formula.tree, formula.names)
        if isinstance(formula.tree.tokens[place], Constant)
    ]


def estimate_constants(
    concept: Expression, field: GradientField, rng: np.random.Generator
) -> tuple[ConstantEstimate, ...]:
    """All constants that a fit may move, fitted at once on both witnesses, with the jackknife over
    regions, into which the generator divides the points.
    """
    own = concept.rename(field.names)
    numbers = number_places(own)
    labels, witnesses = divide(field, rng), Witnesses.of(field)
    if not numbers or labels.max() < 1:
        return ()
    scales = typical(witnesses.hear(own.tree))
    counts = weighing(has_values=witnesses.has_values).most
    found = Fitter(witnesses, labels, scales, counts).fit(own, numbers)
    is_fitted = set(fitted_positions(own.tree))
    return tuple(
        ConstantEstimate(value, best, BIAS * error, position not in is_fitted)
        for position, value, best, error in zip(
            found.positions,
            constant_values(own.tree, found.positions),
            constant_values(found.expression.tree, found.positions),
            found.errors,
            strict=True,
        )
    )
