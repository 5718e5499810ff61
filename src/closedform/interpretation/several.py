"""The evidence for several concepts together, and for one concept on several networks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from closedform.expressions.expression import Expression
from closedform.interpretation.verdict import Verdict


@dataclass(frozen=True, slots=True)
class SeedAgreement:
    """What several seeds lead to.

    Examples
    --------
    >>> print(SeedAgreement(5, 4, ()))
    4 of 5 seeds lead to this answer.
    """

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
    """The constants of one concept over networks: the only honest error bar against a network's own
    bias.
    """
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
