"""The track `field`, one system at a time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform_bench.invariants.claims import Claims, read_claims
from closedform_bench.invariants.fields import N_POINTS, exact_field
from closedform_bench.invariants.outcome import Row, score_claims
from closedform_bench.invariants.system import System

Reader = Callable[[GradientField, float | Budget, int], Claims]
"""From a field, a budget and a seed to what is claimed: how another tool enters the benchmark."""


def read_with_closedform(field: GradientField, budget: float | Budget, seed: int) -> Claims:
    """The package's own reader."""
    return read_claims(field, budget=budget, seed=seed)


@dataclass(frozen=True, slots=True)
class FieldTask:
    """How a system is read in this track.

    Attributes
    ----------
    noise : float
        Degrees by which directions are turned.
    budget : float or Budget
        Seconds for everything.
    seed : int
        Of points, noise and search.
    n_points : int
    reader : callable
    """

    noise: float = 0.0
    budget: float | Budget = 60.0
    seed: int = 0
    n_points: int = N_POINTS
    reader: Reader = read_with_closedform

    def field(self, system: System) -> GradientField:
        """The field of a system."""
        rng = np.random.default_rng([self.seed, sum(system.name.encode())])
        points = system.points(self.n_points, rng)
        return exact_field(
            system.truths(),
            points,
            system.inputs,
            constraints=system.constraints,
            degrees=self.noise,
            rng=rng,
        )

    def run(self, system: System) -> Row:
        """Make the field, read it, and score what is claimed."""
        field = self.field(system)
        return score_claims(
            system, self.reader(field, self.budget, self.seed), field.points, self.seed
        )
