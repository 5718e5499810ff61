"""What an answer holds, as one record: for one concept, for several, and for several networks.

How it shows itself is in `answer_text`, and what else it can do in `answer`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from closedform.arrays import FloatArray, as_points
from closedform.errors import ConceptError, ShapeError
from closedform.expressions.expression import Expression
from closedform.expressions.legality import units_sentences
from closedform.expressions.units import Units
from closedform.field.findings import Quality
from closedform.interpretation.evidence import (
    Alignment,
    ConstantEstimate,
    Directions,
    Faithfulness,
    FrontEntry,
    HypothesisResult,
    InputNeed,
    Misfit,
    Phi,
    Provenance,
    Rival,
)
from closedform.interpretation.verdict import Verdict
from closedform.searching.engine import Decomposition


@dataclass(frozen=True, slots=True)
class SeedAgreement:
    """What several seeds lead to."""

    count: int  # seeds that were tried
    agree: int  # those that lead to the answer's formula, as the same concept
    formulas: tuple[str, ...]  # what each of them leads to; empty where it found nothing

    @property
    def share(self) -> float:
        """The share of seeds that agree."""
        return self.agree / self.count

    def __str__(self) -> str:
        return f"{self.agree} of {self.count} seeds lead to this answer."


@dataclass(frozen=True, slots=True)
class JointEvidence:
    """What several concepts say about several latents."""

    rank: int  # how many independent concepts the latents hold
    read: int  # how many were read
    spectrum: tuple[float, ...]
    """What the rank was read off: pooled singular values of the Jacobians, relative to the
    largest."""
    is_rank_ambiguous: bool  # whether that spectrum has no clear gap
    outside: float
    """Share of the concepts' directions that lies outside those of the latents, without the worst
    5% of the points."""
    missing: float  # share of the latents' directions that no concept explains, likewise
    chance: float  # what random directions would leave outside
    r2: tuple[float, ...] = ()
    """For each latent the share of its held-out variance that a smooth function of the concepts
    explains; empty without values of the latents."""
    explained: float | None = None  # the same for all latents together

    @property
    def sentence(self) -> str:
        """The counts in words."""
        return f"rank {self.rank}, read {self.read}"


@dataclass(frozen=True, slots=True)
class NetworkReading:
    """A common concept on one of several networks."""

    name: str
    concepts: tuple[Expression, ...]
    """The common ones, a number before every term but one, fitted to this network alone."""
    verdicts: tuple[Verdict, ...]  # one for each
    misalignments: tuple[float, ...]  # on held-out points of this network
    constants: tuple[tuple[float, ...], ...]
    """The numbers of each concept, in the order in which they are written."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A constant over several networks."""

    mean: float
    error: float
    """Standard error of the mean: the spread over networks divided by the root of their number."""
    values: tuple[float, ...]


def spreads(readings: Sequence[NetworkReading], concept: int = 0) -> tuple[Spread, ...]:
    """The constants of one concept over networks."""
    # Their spread is the only honest error bar against a network's own bias.
    table = np.array([reading.constants[concept] for reading in readings], dtype=np.float64)
    if len(table) < 2:
        return ()
    errors = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    return tuple(
        Spread(float(f"{mean:.12g}"), float(f"{error:.12g}"), tuple(column.tolist()))
        for mean, error, column in zip(table.mean(axis=0), errors, table.T, strict=True)
    )


def agreement(readings: Sequence[NetworkReading]) -> str:
    """What all networks agree on, in a sentence."""
    if not readings:
        return ""
    counts = [
        sum(reading.verdicts[place].status == "verified" for reading in readings)
        for place in range(len(readings[0].verdicts))
    ]
    total = len(readings)
    if all(count == total for count in counts):
        what, them = "this formula", "it"
        if len(counts) > 1:
            what, them = f"these {len(counts)} formulas", "them"
        said = f"each verifies {them} with constants of its own"
        return f"All {total} networks agree on {what}: {said}."
    parts = [f"formula {place + 1}: {count} of {total}" for place, count in enumerate(counts)]
    said = parts[0].split(": ")[1] if len(parts) == 1 else "; ".join(parts)
    return f"The networks do not all verify what was read together: {said} do."


@dataclass(frozen=True, slots=True, repr=False)
class AnswerData:
    """The fields of an `Interpretation`, which describes them."""

    names: tuple[str, ...]
    verdict: Verdict
    field_quality: Quality
    provenance: Provenance
    concept: Expression | None = None
    concepts: tuple[Expression, ...] = ()
    confidence: float | None = None
    front: tuple[FrontEntry, ...] = ()
    chosen: int | None = None
    steepest_drop: int | None = None
    choice_reason: str = ""
    floor: float = 1.0
    alignment: Alignment | None = None
    phi: Phi | None = None
    rivals: tuple[Rival, ...] = ()
    fit: Misfit | None = None
    constants: tuple[ConstantEstimate, ...] = ()
    inputs: tuple[InputNeed, ...] = ()
    faithfulness: Faithfulness | None = None
    hypothesis: HypothesisResult | None = None
    directions: Directions | None = None
    structure: Decomposition | None = None
    parts: tuple[Self, ...] = ()
    together: JointEvidence | None = None
    networks: tuple[NetworkReading, ...] = ()
    units: Units | None = None
    seeds: SeedAgreement | None = None
    origin: Any = field(default=None, compare=False)

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The concept, or the concepts; none if there is none."""
        return self.concepts or (() if self.concept is None else (self.concept,))

    @property
    def agreement(self) -> str:
        """What several networks agree on, in a sentence; empty for one."""
        return agreement(self.networks)

    @property
    def alternatives(self) -> tuple[Expression, ...]:
        """Other forms that fit as well as anything found; the truth may be none of them."""
        return self.verdict.alternatives

    @property
    def unit_notes(self) -> tuple[str, ...]:
        """The unit of the concept and of its constants, in words; empty without stated units."""
        if self.units is None or self.concept is None:
            return ()
        return units_sentences(self.concept, self.units)

    @property
    def entry(self) -> FrontEntry | None:
        """The concept's place on the front."""
        return None if self.chosen is None else self.front[self.chosen]


def predicted(answer: AnswerData, points: Any) -> FloatArray:
    """phi(concept) at some points."""
    if answer.concept is None:
        raise ConceptError(
            "The search found no formula, so that nothing can be predicted; answer.next_steps says "
            "what to try."
        )
    if answer.phi is None:
        why = (
            "it is about several latents"
            if len(answer.concepts) > 1
            else "the latent's values were not known"
        )
        raise ConceptError(
            f"The answer has no phi, since {why}. answer.concept(points) has the formula's own "
            f"values, and answer.replace_in(model, inputs) fits phi in the network."
        )
    return answer.phi(answer.concept(as_points(_in_order(points, answer.names), len(answer.names))))


def _in_order(points: Any, names: tuple[str, ...]) -> Any:
    """The columns of a table that the formula is about; anything else as it is."""
    columns = list(getattr(points, "columns", ()))
    if not any(name in columns for name in names):
        return points
    missing = [name for name in names if name not in columns]
    if missing:
        raise ShapeError(
            f"The table has no column {missing[0]!r}; the formula is about {', '.join(names)}."
        )
    return points[list(names)]
