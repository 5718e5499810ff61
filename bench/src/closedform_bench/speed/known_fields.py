"""The fields that the parts measure on: exact directions of known concepts."""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.testing import KnownField

RIGHT = 1e-6
"""A formula is right if 1 - cos^2 of its gradient and the truth's is below this at all fresh
points.
"""


@dataclass(frozen=True, slots=True)
class TimedField(KnownField):
    """One concept, read without a distortion, and whether a formula is right."""

    @property
    def concept(self) -> Expression:
        """The truth as an expression."""
        (concept,) = self.concepts
        return concept

    def points(self, count: int, seed: int = 0) -> FloatArray:
        """Random points, shape (count, n_inputs)."""
        rng = np.random.default_rng(seed)
        return rng.uniform(self.low, self.high, (count, len(self.names)))

    def plain_field(self, count: int = 1000, seed: int = 0, noise: float = 0.0) -> GradientField:
        """The field at random points; noise is relative to the gradients' lengths."""
        points = self.points(count, seed)
        gradients = self.concept.gradient(points)
        lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
        turned = np.random.default_rng(seed + 1).normal(size=gradients.shape) * lengths
        return GradientField.from_arrays(points, gradients + noise * turned, names=self.names)

    def is_right(self, formula: Expression) -> bool:
        """Whether a formula's gradient has the truth's direction at fresh points.

        Examples
        --------
        >>> from closedform.expressions.parse import parse
        >>> square = TimedField("x**2 + y**2", ("x", "y"))
        >>> square.is_right(parse("exp(x**2 + y**2)")), square.is_right(parse("x**2 + 1.1*y**2"))
        (True, False)
        """
        points = self.points(2000, seed=999)
        with np.errstate(all="ignore"):
            found = formula.rename(self.names).gradient(points)
        return worst_angle(found, self.concept.gradient(points)) < RIGHT


def worst_angle(found: FloatArray, true: FloatArray) -> float:
    """The largest 1 - cos^2 of two gradients, shape (n_points, n_inputs); 1 where one is not
    finite or zero.
    """
    with np.errstate(all="ignore"):
        first, second = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (found, true))
        outside = first - second * (first * second).sum(axis=1)[:, None]
        angles = (outside**2).sum(axis=1)
    return float(np.where(np.isfinite(angles), angles, 1.0).max())


def _matrix(size: int) -> tuple[str, ...]:
    return tuple(f"a{i}{j}" for i in range(1, size + 1) for j in range(1, size + 1))


FIELDS = {
    "pendulum": TimedField("v**2/2 - cos(x)", ("x", "v")),
    "epidemic": TimedField("i + s - log(s)/2", ("s", "i"), 0.1, 2.0),
    "determinant": TimedField("a*d - b*c", ("a", "b", "c", "d")),
    "interval": TimedField("t**2 - x**2 - y**2 - z**2", ("t", "x", "y", "z")),
    "E.B": TimedField("e1*b1 + e2*b2 + e3*b3", ("e1", "e2", "e3", "b1", "b2", "b3")),
}
"""What is read."""

MATRICES = {
    "second invariant": TimedField(
        "a11*a22 + a11*a33 + a22*a33 - a12*a21 - a13*a31 - a23*a32", _matrix(3)
    ),
    "determinant of 3 x 3": TimedField(
        "a11*(a22*a33 - a23*a32) - a12*(a21*a33 - a23*a31) + a13*(a21*a32 - a22*a31)", _matrix(3)
    ),
}
"""Longer formulas, for engines that do not end at once."""
