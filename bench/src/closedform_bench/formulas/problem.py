"""A formula to be found, where its inputs lie, and the field or network that hides it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import closedform as cf
from closedform.arrays import FloatArray

Ranges = dict[str, tuple[float, float]]

N_POINTS = 1000
"""Directions that a reading gets."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A formula and the ranges of its inputs.

    Attributes
    ----------
    name : str
    truth : str
    ranges : dict of str to (float, float)
        In the order of the inputs; some may not occur in the formula.
    kind : str
        Its class, if the suite has some.
    """

    name: str
    truth: str
    ranges: Ranges
    kind: str = ""

    @property
    def names(self) -> list[str]:
        """The inputs."""
        return list(self.ranges)

    def formula(self) -> cf.Expression:
        """The truth as an expression of all inputs."""
        return cf.parse(self.truth, names=self.names)

    def points(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Inputs drawn uniformly from their ranges."""
        return np.column_stack(
            [rng.uniform(low, high, count) for low, high in self.ranges.values()]
        )


Extract = Callable[[Problem, np.random.Generator], cf.GradientField]
"""From a problem to the field that is read."""


def exact_field(
    problem: Problem, rng: np.random.Generator, *, degrees: float = 0.0
) -> cf.GradientField:
    """The truth's own directions, each turned by a random angle of so many degrees (root mean
    square, scaled inputs).
    """
    points = problem.points(N_POINTS, rng)
    gradients, scale = problem.formula().gradient(points), points.std(axis=0)
    if degrees:
        units = gradients * scale
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        sideways = rng.normal(size=units.shape)
        sideways -= (sideways * units).sum(axis=1, keepdims=True) * units
        sideways *= np.deg2rad(degrees) / np.sqrt(max(units.shape[1] - 1, 1))
        gradients = (units + sideways) / scale
    return cf.GradientField.from_arrays(points, gradients, names=problem.names, tangent="none")
