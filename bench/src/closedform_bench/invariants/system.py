"""What a system of the benchmark is: inputs, how points are drawn, what moves them, and what the
motion keeps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse

Points = Callable[[int, np.random.Generator], FloatArray]
"""From a number and a generator to points, shape (n, n_inputs)."""

Move = Callable[[FloatArray, np.random.Generator], FloatArray]
"""From points to other points of the same orbits, by a random time or a random element of a group,
row by row.
"""

Velocity = Callable[[FloatArray], FloatArray]
"""From points to the velocities of the flow there, both of shape (n, n_inputs)."""


@dataclass(frozen=True, slots=True)
class System:
    """A system with known invariants.

    Attributes
    ----------
    name : str
        One word, as on the command line.
    title : str
        What it is.
    kind : {'dynamics', 'algebraic', 'control'}
    inputs : tuple of str
    invariants : tuple of str
        Independent of each other on the data; every function of them is an invariant.
    points : callable
        Draws points where the system is looked at.
    move : callable
        Moves points along their orbits.
    constraints : tuple of str
        What is the same at all points, such as ``"g1**2 + g2**2 + g3**2 = 1"``: told to whoever
        reads.
    velocity : callable or None
        The flow of a dynamical system.
    further : tuple of str
        Functions that the motion keeps beside the functions of `invariants`; finding one is no
        mistake, and is not asked for.

    Examples
    --------
    >>> from closedform_bench.invariants.system_catalogue import SYSTEMS
    >>> SYSTEMS["sir"].inputs, SYSTEMS["sir"].invariants
    (('s', 'i'), ('i + s - log(s)/2',))
    """

    name: str
    title: str
    kind: Literal["dynamics", "algebraic", "control"]
    inputs: tuple[str, ...]
    invariants: tuple[str, ...]
    points: Points
    move: Move
    constraints: tuple[str, ...] = ()
    velocity: Velocity | None = None
    further: tuple[str, ...] = ()

    def pairs(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Pairs of points of one orbit, shape (n, 2, n_inputs)."""
        first = self.points(n, rng)
        return np.stack([first, self.move(first, rng)], axis=1)

    def truths(self) -> tuple[Expression, ...]:
        """The invariants as expressions of the inputs."""
        return tuple(parse(text, self.inputs) for text in self.invariants)

    def conserved(self) -> tuple[Expression, ...]:
        """All that the motion is known to keep."""
        return (*self.truths(), *(parse(text, self.inputs) for text in self.further))
