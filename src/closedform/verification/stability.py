"""Stability: do two halves of the data, searched with other seeds, lead to the same form?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from closedform.alignment.misalignment import point_misalignment, weighted_mean
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import skeleton
from closedform.field.gradient_field import GradientField

SAME = 1e-8
"""Two concepts with a smaller misalignment to each other are one, however they are written."""


@dataclass(frozen=True, slots=True)
class Stability:
    """What the halves said.

    Attributes
    ----------
    concepts : tuple of Expression
        Chosen on each half.
    same_form : tuple of bool
        Whether each has the form of the concept: equal but for the values of its constants.
    distances : tuple of float
        Misalignment of each to the concept.
    """

    concepts: tuple[Expression, ...]
    same_form: tuple[bool, ...]
    distances: tuple[float, ...]

    @property
    def is_stable(self) -> bool:
        """Whether every half has led to the same form."""
        return all(self.same_form)


def compare_halves(concept: Expression, halves: Sequence[Expression], field: GradientField) -> Stability:
    """Compare what was chosen on halves of the data with the concept.

    Parameters
    ----------
    concept : Expression
    halves : sequence of Expression
    field : GradientField
        Points at which the formulas are compared.
    """
    distances = [mutual_misalignment(concept, half, field) for half in halves]
    same = [
        skeleton(concept.tree) == skeleton(half.tree) or distance < SAME
        for half, distance in zip(halves, distances, strict=True)
    ]
    return Stability(tuple(halves), tuple(same), tuple(distances))


def mutual_misalignment(first: Expression, second: Expression, field: GradientField) -> float:
    """Misalignment of two formulas' gradients to each other on the points of a field, inside the tangent space.

    Examples
    --------
    >>> import numpy as np, closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    >>> field = cf.GradientField.from_arrays(points, points, names=["x", "v"])
    >>> mutual_misalignment(cf.parse("x*v", names=["x", "v"]), cf.parse("log(x) + log(v)", names=["x", "v"]), field) < 1e-12
    True
    """
    return weighted_mean(points_apart(first, second, field), field.weights)


def points_apart(first: Expression, second: Expression, field: GradientField) -> FloatArray:
    """Misalignment of two formulas at each point; 1 where either has no gradient."""
    reference = field.project(first.rename(field.names).gradient(field.points))
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(reference, axis=1)
        usable = np.isfinite(lengths) & (lengths > 0)
        frames = np.where(usable[:, None], reference / np.where(usable, lengths, 1.0)[:, None], 0.0)[:, :, None]
    gradients = second.rename(field.names).gradient(field.points) * field.scale
    return point_misalignment(gradients, frames, field.tangent.basis)
