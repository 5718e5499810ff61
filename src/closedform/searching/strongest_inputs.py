"""Of many inputs those that hold most of the field: a search runs on them, and its formulas are
judged on the whole field.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from closedform.expressions.complexity import complexity
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.tape import compile_tapes
from closedform.field.alignment.comparison import comparison_of
from closedform.field.gradient_field import GradientField
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace


@dataclass(frozen=True, slots=True)
class StrongestInputs:
    """Some inputs of a field, by column."""

    field: GradientField
    columns: tuple[int, ...]

    @property
    def are_all(self) -> bool:
        """Whether no input is left out."""
        return len(self.columns) == len(self.field.names)

    @property
    def labels(self) -> list[str]:
        """Their names."""
        return [self.field.names[column] for column in self.columns]

    def reduced(self) -> GradientField:
        """The field over these inputs."""
        columns = list(self.columns)
        jacobian = np.swapaxes(self.field.directions[:, columns, :], 1, 2)
        return GradientField.from_arrays(
            self.field.points[:, columns],
            jacobian,
            names=self.labels,
            tangent="none",
            weights=self.field.weights,
        )

    def restrict(self, space: SearchSpace) -> SearchSpace:
        """The space over these inputs, with the user's terms and guesses in them alone."""

        def kept(items: Sequence[Expression | str]) -> list[Expression]:
            names = self.field.names
            read = [
                parse(item, names) if isinstance(item, str) else item.rename(names)
                for item in items
            ]
            return [
                item.rename(self.labels) for item in read if item.tree.variables <= {*self.columns}
            ]

        return replace(
            space.over(self.labels), terms=kept(space.terms), guesses=kept(space.guesses)
        )

    def rewritten(self, front: Front, space: SearchSpace) -> Front:
        """Candidates over all inputs, judged on the whole field: what was left out counts again."""
        written = [candidate.expression.rename(self.field.names) for candidate in front.all]
        if not written:
            return Front()
        tapes = compile_tapes([expression.tree for expression in written])
        values, _ = comparison_of(self.field).misalignments(tapes)
        return Front.of(
            Candidate(expression, value, complexity(expression.tree, space.costs), found.engine)
            for expression, value, found in zip(written, values.tolist(), front.all, strict=True)
            if value < 1
        )


def strongest_inputs(field: GradientField, most: int) -> StrongestInputs:
    """The inputs that hold most of the field, at most so many; all where the data's tangent space
    is not the whole space, for there an input's share of a direction means nothing by itself.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    >>> field = GradientField.from_arrays(points, points * [1.0, 0.01, 5.0], names=["x", "y", "z"])
    >>> strongest_inputs(field, 2).columns
    (0, 2)
    """
    columns = np.arange(len(field.names))
    if len(columns) > most and field.tangent.kind == "none":
        shares = np.einsum("n,ndk->d", field.weights, field.frames**2)
        columns = np.sort(np.argsort(-shares, kind="stable")[:most])
    return StrongestInputs(field, tuple(columns.tolist()))
