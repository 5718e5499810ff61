"""Controls, one at a time: whatever is claimed as a law of them, but for what is conserved, is
false.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from closedform.searching.budget import Budget
from closedform_bench.invariants.control import FieldControl
from closedform_bench.invariants.field_track import Reader, read_with_closedform
from closedform_bench.invariants.outcome import Row, score_claims

if TYPE_CHECKING:
    from closedform_bench.invariants.system import System

N_POINTS, N_TEST = 2000, 1000


@dataclass(frozen=True, slots=True)
class ControlTask:
    """How controls are read.

    Attributes
    ----------
    budget : float or Budget
    seed : int
        Of field and search.
    reader : callable
    """

    budget: float | Budget = 60.0
    seed: int = 0
    reader: Reader = read_with_closedform

    def run(self, control: FieldControl) -> Row:
        """Read a field without a closed form."""
        claims = self.reader(control.field(self.seed), self.budget, self.seed)
        return Row(
            name=control.name,
            dim=control.n_inputs,
            expected=[],
            found=[str(concept) for concept in claims.verified],
            recovered=0,
            of=0,
            false=len(claims.verified),
            seconds=round(claims.seconds, 2),
            seed=self.seed,
            rank=claims.rank,
            verdict=claims.verdict,
            outside=[1.0] * len(claims.verified),
            unclaimed=[
                {"concept": str(concept), "why": why, "outside": 1.0}
                for concept, why in claims.others
            ],
        )

    def run_network(self, system: "System") -> Row:
        """Read a shipped network of a control, and test what is claimed on pairs."""
        from closedform_bench.invariants.control_networks import load_control  # brings torch
        from closedform_bench.invariants.network_track import laws_among
        from closedform_bench.invariants.pair_networks import latent_field

        rng = np.random.default_rng([self.seed, 18])
        field = latent_field(
            load_control(system.name, self.seed),
            system,
            system.points(N_POINTS, rng),
            seed=self.seed,
        )
        claims, changes = laws_among(
            self.reader(field, self.budget, self.seed), system.pairs(N_TEST, rng)
        )
        row = score_claims(system, claims, field.points, self.seed)
        row["changes"] = changes
        return row
