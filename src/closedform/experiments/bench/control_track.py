"""Controls, one at a time: whatever is claimed as a law of them is false."""

from dataclasses import dataclass

from closedform.experiments.bench.control import FieldControl
from closedform.experiments.bench.field_track import Reader, read_with_closedform
from closedform.experiments.bench.outcome import Row
from closedform.search.budget import Budget


@dataclass(frozen=True, slots=True)
class ControlTask:
    """How controls of the track `field` are read.

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
        """Read a control; it expects nothing."""
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
            unclaimed=[{"concept": str(concept), "why": why, "outside": 1.0} for concept, why in claims.others],
        )
