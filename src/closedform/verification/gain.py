"""Gain: how much better than the next simpler formula the concept is.

A smooth function without a closed form is followed by sums, and each further part of a sum gains a little. The last part of a
true concept gains much, unless something simpler happens to be near it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.selection.contenders import count_parts
from closedform.verification.stability import have_same_form


@dataclass(frozen=True, slots=True)
class Simpler:
    """The best formula of another form that is simpler than the concept.

    Attributes
    ----------
    expression : Expression
    misalignment : float
        On held-out points.
    """

    expression: Expression
    misalignment: float


def next_simpler(
    concept: Expression, complexity: int, others: Sequence[tuple[Expression, int, float]], field: GradientField
) -> Simpler | None:
    """The best candidate that is simpler, has no more terms and free constants, and is not the concept with other numbers.

    Parameters
    ----------
    concept : Expression
    complexity : int
        The concept's.
    others : sequence of (Expression, int, float)
        Candidates with their complexities and misalignments.
    field : GradientField
        Points at which forms are compared.

    Examples
    --------
    >>> import numpy as np, closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    >>> field = cf.GradientField.from_arrays(points, points, names=["x", "v"])
    >>> first, second, third = (cf.parse(text, names=["x", "v"]) for text in ("x**2 + 0.9*v**2", "x**2 + v**2", "x + v"))
    >>> print(next_simpler(first, 11, [(second, 7, 0.003), (third, 3, 0.2)], field).expression)
    x + v
    """
    parts = count_parts(concept.tree)
    for expression, size, misalignment in sorted(others, key=lambda other: (other[2], other[1])):
        is_simpler = size < complexity and count_parts(expression.tree) <= parts
        if is_simpler and not have_same_form(concept, expression, field):
            return Simpler(expression, misalignment)
    return None
