"""Fit the free constants of expressions to a field; numbers that belong to their form stay."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.complexity import fitted_positions, number_positions, with_numbers
from closedform.expressions.expression import Expression
from closedform.expressions.tape import TapeBatch, compile_tapes, node_positions
from closedform.field.alignment.comparison import Comparison, comparison_of, fit_constants
from closedform.field.alignment.tolerances import MOST_FITTED
from closedform.field.gradient_field import GradientField


@dataclass(frozen=True, slots=True)
class Tapes:
    """Expressions ready to be fitted and judged many times."""

    expressions: tuple[Expression, ...]
    batch: TapeBatch
    is_free: NDArray[np.bool_]  # (n_nodes,)
    positions: tuple[tuple[int, ...], ...]  # for each expression the tokens that may change
    places: tuple[NDArray[np.int64], ...]  # the nodes of these tokens

    @classmethod
    def of(
        cls, expressions: Sequence[Expression], positions: Sequence[Sequence[int]] | None = None
    ) -> "Tapes":
        """Write expressions on tapes. `positions` are the tokens of constants that may change, by
        default the fitted ones; only ten can, and not an exponent that is a function of its own on
        the tape.
        """
        free = [fitted_positions(e.tree) for e in expressions] if positions is None else positions
        nodes_of = [node_positions(expression.tree) for expression in expressions]
        chosen = tuple(
            tuple(number_positions(expression.tree, places)[:MOST_FITTED])
            for expression, places in zip(expressions, free, strict=True)
        )
        batch = compile_tapes([expression.tree for expression in expressions])
        is_free = np.zeros(len(batch.codes), dtype=bool)
        places: list[NDArray[np.int64]] = []
        for nodes, tokens, start in zip(nodes_of, chosen, batch.starts, strict=False):
            places.append(
                np.asarray([start + nodes[position] for position in tokens], dtype=np.int64)
            )
            is_free[places[-1]] = True
        return cls(tuple(expressions), batch, is_free, chosen, tuple(places))

    def fit(self, comparison: Comparison, iterations: int) -> tuple["Tapes", FloatArray]:
        """The same expressions with their free constants fitted, and their misalignments."""
        steps = np.asarray([iterations if len(places) else 0 for places in self.places])
        numbers, misalignments, _ = fit_constants(
            comparison, self.batch, steps, is_free=self.is_free
        )
        return replace(self, batch=self.batch.with_numbers(numbers)), misalignments

    def judge(self, comparison: Comparison) -> FloatArray:
        """Misalignments with the constants as they are."""
        return comparison.misalignments(self.batch)[0]

    def constants(self) -> list[FloatArray]:
        """The free constants of each expression."""
        return [self.batch.numbers[places] for places in self.places]

    def read(self) -> list[Expression]:
        """The expressions with the constants of the tapes."""
        return [
            Expression(with_numbers(expression.tree, positions, values.tolist()), expression.names)
            for expression, positions, values in zip(
                self.expressions, self.positions, self.constants(), strict=True
            )
        ]


def refit(
    expressions: Sequence[Expression],
    field: GradientField,
    *,
    iterations: int = 20,
    positions: Sequence[Sequence[int]] | None = None,
) -> tuple[list[Expression], FloatArray]:
    """Fit constants to a field: the fitted expressions and their misalignments."""
    if not expressions:
        return [], np.empty(0)
    fitted, misalignments = Tapes.of(expressions, positions).fit(comparison_of(field), iterations)
    return fitted.read(), misalignments
