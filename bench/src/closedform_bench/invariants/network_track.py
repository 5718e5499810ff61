"""The track `network`, one system at a time: pairs, training, reading, and the direct test of what
was read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.misalignment import chance_level, trimmed_mean
from closedform.field.gradient_field import GradientField
from closedform.judge.thresholds import Thresholds
from closedform.searching.budget import Budget
from closedform_bench.invariants.claims import Claims
from closedform_bench.invariants.field_track import Reader, read_with_closedform
from closedform_bench.invariants.independence import FUNCTION
from closedform_bench.invariants.laws import LAW, change_in_pairs
from closedform_bench.invariants.outcome import Row, score_claims
from closedform_bench.invariants.pair_networks import (
    N_POINTS,
    N_TEST,
    latent_field,
    train_on_pairs,
    training_options,
)
from closedform_bench.invariants.system import System

Cause = Literal[
    "", "network did not learn it", "field too noisy", "search missed it", "verdict refused it"
]


@dataclass(frozen=True, slots=True)
class NetworkTask:
    """How a system is learned and read.

    Attributes
    ----------
    directory : Path
        Where networks are kept.
    budget : float or Budget
        Of the reading.
    seed : int
        Of data, training and search.
    reader : callable
    """

    directory: Path
    budget: float | Budget = 60.0
    seed: int = 0
    reader: Reader = read_with_closedform

    def run(self, system: System) -> Row:
        """Train or load the network, read it, test what is claimed on held-out pairs, and score
        it.
        """
        file = self.directory / f"{system.name}_{self.seed}.safetensors"
        module = train_on_pairs(
            system.pairs, training_options(len(system.invariants)), file, seed=self.seed
        )
        rng = np.random.default_rng([self.seed, 8])
        field = latent_field(module, system, system.points(N_POINTS, rng), seed=self.seed)
        claims, changes = laws_among(
            self.reader(field, self.budget, self.seed), system.pairs(N_TEST, rng)
        )
        row = score_claims(system, claims, field.points, self.seed)
        carried = misalignments(system, field)
        row["changes"], row["carried"] = changes, carried
        row["cause"] = cause(row, carried)
        return row


def laws_among(claims: Claims, pairs: FloatArray) -> tuple[Claims, list[float]]:
    """Claims of which only those that hold on held-out pairs are laws, and the change of each
    verified concept within pairs.
    """
    changes = [change_in_pairs(concept, pairs) for concept in claims.verified]
    laws = tuple(
        concept for concept, change in zip(claims.verified, changes, strict=True) if change <= LAW
    )
    encoded = tuple(
        (concept, f"verified, but no law: it changes within pairs by {change:.2g}")
        for concept, change in zip(claims.verified, changes, strict=True)
        if change > LAW
    )
    return replace(claims, verified=laws, others=(*encoded, *claims.others)), [
        float(f"{change:.3g}") for change in changes
    ]


def misalignments(system: System, field: GradientField) -> list[float]:
    """How badly the field carries each invariant: trimmed misalignment, relative to chance."""
    chance = chance_level(field.rank, field.tangent.rank)
    values = [
        trimmed_mean(field_misalignment(truth, field), field.weights) for truth in system.truths()
    ]
    return [float(f"{min(value / max(chance, 1e-12), 9.99):.3g}") for value in values]


def cause(row: Row, carried: Sequence[float], lines: Thresholds | None = None) -> Cause:
    """Why invariants are missing: the first stage at which the best of them was lost.

    An invariant that was read and not claimed was refused by the verdict. Else, if some that was
    not found is carried well enough to be verified, the search missed it; if it could be
    approximate at best, the field is too noisy; else the network has not learned it.
    """
    limits = Thresholds() if lines is None else lines
    if row["recovered"] == row["of"]:
        return ""
    if any(other["outside"] < FUNCTION for other in row["unclaimed"]):
        return "verdict refused it"
    ranked = sorted(carried)
    best = ranked[min(row["recovered"], len(ranked) - 1)]
    if row["rank"] <= row["recovered"] or best > limits.approximate:
        return "network did not learn it"
    return "search missed it" if best <= limits.span else "field too noisy"
