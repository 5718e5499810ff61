"""Structure before search: inputs that the field does not depend on, and inputs that enter only
through one combination.

Both are read off the directions and make the space smaller: a search runs on fewer inputs, and its
expressions are written in the user's inputs again. Nothing is shrunk where the data's tangent space
is not the whole space, for there an input's share of a direction means nothing by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.tree import Tree, Variable, apply, constant, variable
from closedform.field.gradient_field import GradientField
from closedform.searching.space import SearchSpace

IRRELEVANT = 1e-12
"""An input with a smaller share of the directions' energy does not matter. Noise hides this: a weak
input must not be lost.
"""

PARALLEL = 1e-12
"""Two inputs whose slopes are proportional up to this (a squared sine) enter through one
combination.
"""


@dataclass(frozen=True, slots=True)
class InputStructure:
    """What the directions say about the concept.

    Attributes
    ----------
    names : tuple of str
        The field's inputs.
    groups : tuple of tuple of (int, float)
        The reduced inputs: each is a sum of inputs (by column) with coefficients; most are a single
        input with coefficient 1.
    sentences : tuple of str
        What was found, in words.
    """

    names: tuple[str, ...]
    groups: tuple[tuple[tuple[int, float], ...], ...]
    sentences: tuple[str, ...] = ()

    @property
    def is_trivial(self) -> bool:
        """Whether every input stays as it is."""
        return len(self.groups) == len(self.names)

    def reduce(self, field: GradientField) -> GradientField:
        """The field over the reduced inputs."""
        if self.is_trivial:
            return field
        points = np.column_stack(
            [sum(c * field.points[:, j] for j, c in group) for group in self.groups]
        )
        columns = [
            sum(c * field.directions[:, j, :] for j, c in group) / sum(c * c for _, c in group)
            for group in self.groups
        ]
        jacobian = np.swapaxes(np.stack(columns, axis=1), 1, 2)
        labels = [self.names[group[0][0]] for group in self.groups]
        return GradientField.from_arrays(
            points, jacobian, names=labels, tangent="none", weights=field.weights
        )

    def restrict(self, space: SearchSpace) -> SearchSpace:
        """The space over the reduced inputs: the user's terms and guesses in them, where they can
        be written so.
        """
        labels = [self.names[group[0][0]] for group in self.groups]
        single = {self.names[group[0][0]] for group in self.groups if len(group) == 1}

        def reduced(items: Sequence[Expression | str]) -> list[Expression]:
            read = [
                parse(item, self.names) if isinstance(item, str) else item.rename(self.names)
                for item in items
            ]
            return [
                item.rename(labels)
                for item in read
                if {self.names[i] for i in item.tree.variables} <= single
            ]

        return replace(
            space.over(labels), terms=reduced(space.terms), guesses=reduced(space.guesses)
        )

    def expand(self, expression: Expression) -> Expression:
        """An expression over the reduced inputs, in the user's inputs."""
        if self.is_trivial:
            return expression
        parts = [_sum(group) for group in self.groups]

        def leaf(token: object) -> Tree:
            return parts[token.index] if isinstance(token, Variable) else Tree((token,))  # type: ignore[arg-type]

        return Expression(expression.tree.fold(leaf, apply), self.names)


def find_structure(field: GradientField) -> InputStructure:
    """Look for inputs to leave out and inputs to take together.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    >>> slopes = np.cos(points[:, :1] + 2 * points[:, 1:2]) * [1.0, 2.0, 0.0]
    >>> structure = find_structure(GradientField.from_arrays(points, slopes, names=["x", "y", "z"]))
    >>> structure.groups
    (((0, 1.0), (1, 2.0)),)
    """
    whole = strongest_inputs(field, len(field.names))
    counted = field.weights > 0
    if field.tangent.kind != "none" or counted.sum() < 10:
        return whole
    scaled = field.frames[counted]
    shares = (scaled**2).sum(axis=2).mean(axis=0) / field.rank
    relevant = [column for column in range(len(field.names)) if shares[column] > IRRELEVANT]
    if not relevant:
        return whole
    groups = _groups(scaled, relevant, field.scale)
    return InputStructure(
        field.names, tuple(groups), tuple(_sentences(field.names, relevant, groups))
    )


def strongest_inputs(field: GradientField, most: int) -> InputStructure:
    """The inputs that hold most of the field, at most so many.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    >>> field = GradientField.from_arrays(points, points * [1.0, 0.01, 5.0], names=["x", "y", "z"])
    >>> strongest_inputs(field, 2).groups
    (((0, 1.0),), ((2, 1.0),))
    """
    columns = range(len(field.names))
    if len(columns) > most and field.tangent.kind == "none":
        shares = np.einsum("n,ndk->d", field.weights, field.frames**2)
        columns = np.sort(np.argsort(-shares, kind="stable")[:most]).tolist()
    return InputStructure(field.names, tuple(((column, 1.0),) for column in columns))


def _groups(
    scaled: FloatArray, relevant: Sequence[int], scale: FloatArray
) -> list[tuple[tuple[int, float], ...]]:
    """Take together inputs whose slopes are proportional at all points (one latent only: frames
    have a free rotation else).
    """
    if scaled.shape[2] > 1 or len(relevant) == 1:
        return [((column, 1.0),) for column in relevant]
    left = list(relevant)
    groups: list[tuple[tuple[int, float], ...]] = []
    while left:
        first = left.pop(0)
        base = scaled[:, first, 0]
        members = [(first, 1.0)]
        for other in list(left):
            slopes = scaled[:, other, 0]
            product = base @ slopes / (base @ base)
            sine = 1 - (base @ slopes) ** 2 / ((base @ base) * (slopes @ slopes))
            if sine < PARALLEL:
                members.append((other, _rounded(product * scale[first] / scale[other])))
                left.remove(other)
        groups.append(tuple(members))
    # If every input enters through one combination, that combination is the concept; nothing is
    # left to search for.
    return groups


def _rounded(number: float) -> float:
    """The nearest simple fraction, if it is near."""
    simple = Fraction(number).limit_denominator(12)
    return (
        float(simple)
        if abs(float(simple) - number) < 1e-5 * abs(number)
        else float(f"{number:.12g}")
    )


def _sum(group: tuple[tuple[int, float], ...]) -> Tree:
    total: Tree | None = None
    for column, coefficient in group:
        term = (
            variable(column)
            if abs(coefficient) == 1
            else apply("mul", constant(abs(coefficient)), variable(column))
        )
        total = term if total is None else apply("add" if coefficient > 0 else "sub", total, term)
    assert total is not None
    return total


def _sentences(
    names: tuple[str, ...], relevant: Sequence[int], groups: Sequence[tuple[tuple[int, float], ...]]
) -> list[str]:
    sentences = []
    dropped = [name for column, name in enumerate(names) if column not in relevant]
    if dropped:
        sentences.append(
            f"The concept does not depend on {', '.join(dropped)}; left out of the search."
        )
    for group in groups:
        if len(group) > 1:
            text = " + ".join(f"{c:g}*{names[j]}" for j, c in group)
            sentences.append(
                f"The inputs {', '.join(names[j] for j, _ in group)} enter only as {text}; "
                f"searched as one input."
            )
    return sentences
