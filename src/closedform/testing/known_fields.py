"""Gradient fields whose concept is known, for engines to be tried on."""

from dataclasses import dataclass

import numpy as np

from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField


@dataclass(frozen=True, slots=True)
class KnownField:
    """A concept and where its inputs lie.

    Attributes
    ----------
    truth : str
        The concept; several are separated by semicolons.
    names : tuple of str
    low, high : float
        Range of every input.
    """

    truth: str
    names: tuple[str, ...]
    low: float = -2.0
    high: float = 2.0

    @property
    def concepts(self) -> tuple[Expression, ...]:
        """The concepts as expressions."""
        return tuple(parse(text, self.names) for text in self.truth.split(";"))

    def field(
        self, rng: np.random.Generator, n_points: int = 400, noise: float = 0.0
    ) -> GradientField:
        """Exact gradients behind a random distortion, each turned by a random angle of this size
        (radians).
        """
        points = rng.uniform(self.low, self.high, (n_points, len(self.names)))
        jacobian = np.stack([concept.gradient(points) for concept in self.concepts], axis=1)
        mixing = rng.normal(size=(n_points, jacobian.shape[1], jacobian.shape[1]))
        jacobian = mixing @ jacobian
        if noise:
            turned = rng.normal(size=jacobian.shape) * np.linalg.norm(
                jacobian, axis=2, keepdims=True
            )
            jacobian = jacobian + noise * turned / np.sqrt(len(self.names))
        return GradientField.from_arrays(points, jacobian, names=self.names, tangent="none")


KNOWN_FIELDS = {
    "sum": KnownField("x + 2*y", ("x", "y")),
    "energy": KnownField("v**2/2 + sin(x)", ("x", "v")),
    "determinant": KnownField("a*d - b*c", ("a", "b", "c", "d")),
    "interval": KnownField("t**2 - x**2 - y**2", ("t", "x", "y")),
}
"""Easy concepts that every engine finds in seconds."""
