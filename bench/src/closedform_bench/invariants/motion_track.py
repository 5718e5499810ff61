"""The tracks `flow` and `pairs`, one system at a time: no network, and what is claimed is what
`closedform.conserved` verifies.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.tangent_space import robust_spread
from closedform.reading.laws.finding import conserved
from closedform.searching.budget import Budget
from closedform_bench.invariants.claims import Claims
from closedform_bench.invariants.outcome import Row, score_claims
from closedform_bench.invariants.system import System

N_POINTS, N_PAIRS = 3000, 5000


@dataclass(frozen=True, slots=True)
class MotionTask:
    """How a system is read from its motion.

    Attributes
    ----------
    kind : {'flow', 'pairs'}
    noise : float
        Per cent: of the root mean square of each component of the velocity, or of the spread of
        each input for both points of a pair.
    budget : float or Budget
    seed : int
        Of points, noise and search.
    """

    kind: Literal["flow", "pairs"]
    noise: float = 0.0
    budget: float | Budget = 60.0
    seed: int = 0

    def run(self, system: System) -> Row:
        """Make the data, read them, and score what is verified."""
        clock = (
            self.budget if isinstance(self.budget, Budget) else Budget(seconds=self.budget)
        ).start()
        given, points = self._data(system)
        found = conserved(
            **given,
            names=system.inputs,
            constraints=system.constraints,
            budget=self.budget,
            rng=self.seed,
            progress=False,
        )
        others = tuple(
            (law.concept, law.verdict.sentence)
            for law in found.laws
            if law.verdict.status != "verified"
        )
        verdict = "verified" if found.verified else "none"
        claims = Claims(found.concepts, others, verdict, found.count.lower, clock.seconds)
        return score_claims(system, claims, points, self.seed)

    def _data(self, system: System) -> tuple[dict[str, Any], FloatArray]:
        if self.kind == "pairs":
            pairs = noisy_pairs(system, self.noise, self.seed, N_PAIRS)
            return {"pairs": pairs}, pairs[:, 0]
        rng = np.random.default_rng([self.seed, sum(system.name.encode()), 1])
        points = system.points(N_POINTS, rng)
        assert system.velocity is not None
        velocities = system.velocity(points)
        size = np.sqrt(np.mean(velocities**2, axis=0))
        velocities = velocities + self.noise / 100 * size * rng.normal(size=points.shape)
        return {"flow": velocities, "points": points}, points


def noisy_pairs(system: System, noise: float, seed: int, count: int) -> FloatArray:
    """Pairs of a system; the same for every tool that reads them."""
    rng = np.random.default_rng([seed, 9])
    pairs = system.pairs(count, rng)
    if noise == 0:
        return pairs
    scale = robust_spread(pairs[:, 0])
    return pairs + noise / 100 * scale * np.random.default_rng([seed, 10]).normal(size=pairs.shape)
