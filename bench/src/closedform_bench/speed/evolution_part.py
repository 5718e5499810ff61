"""Evolution against the bare kernel on the same batches."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.progress import Silent
from closedform.expressions.tape import TapeBatch
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.evolution.evolution_engine import Evolution, EvolutionRun
from closedform.searching.evolution.survival import HallOfFame
from closedform.searching.evolution.tree_facts import TreeFacts
from closedform.searching.space import SearchSpace
from closedform_bench.speed.known_fields import FIELDS, MATRICES
from closedform_bench.speed.part import Effort, Numbers, Part
from closedform_bench.speed.tables import table

NEVER = 10**9
"""Evaluations without a gain after which a run would end by itself."""


@dataclass(slots=True)
class TimedHall(HallOfFame):
    """Judges every batch once more by the bare kernel, and keeps the time that this takes."""

    judge: Callable[[TapeBatch], Any] = field(default=lambda tapes: None, kw_only=True)
    seconds: float = 0.0
    trees: int = 0

    def offer(self, tapes: TapeBatch, misalignments: FloatArray, structure: TreeFacts) -> None:
        """Time the bare kernel on the same batch."""
        start = time.process_time()
        self.judge(tapes)
        self.seconds += time.process_time() - start
        self.trees += tapes.n_trees
        HallOfFame.offer(self, tapes, misalignments, structure)


def throughput(field: GradientField, engine: Evolution, evaluations: int) -> tuple[float, float]:
    """Evaluations per second of a run, and of the bare kernel on the batches of that run.

    Parameters
    ----------
    field : GradientField
    engine : Evolution
    evaluations : int
        After which the run ends, if the engine does not end it.
    """
    run = EvolutionRun(
        engine, field, SearchSpace(), np.arange(field.n_points), np.random.default_rng(0)
    )
    hall = TimedHall(run.hall.space, run.hall.names)
    hall.judge = partial(run.comparison.misalignments, give_up=engine.give_up)
    run.hall = hall
    for island in run.islands:
        island.hall = hall
    start = time.process_time()
    clock = Budget(evaluations=evaluations).start()
    run.go(clock, Silent())
    seconds = time.process_time() - start - hall.seconds
    return clock.evaluations / seconds, hall.trees / hall.seconds


def measure(effort: Effort) -> Numbers:
    """Run with and without fitted constants."""
    evaluations = 4000 if effort.is_short else 40_000
    fields = {"determinant": FIELDS["determinant"]} | ({} if effort.is_short else MATRICES)
    rows = []
    for name, known in fields.items():
        for fitted in (0.0, Evolution().fitted):
            engine, field = Evolution(fitted=fitted, settle=NEVER), known.plain_field()
            throughput(field, engine, 3000)
            rate, bare = throughput(field, engine, evaluations)
            rows.append({"field": name, "fitted": fitted, "rate": rate, "kernel": bare})
    return {"rows": rows}


def show(numbers: Numbers, folder: Path) -> str:
    """A sentence and a table."""
    rows = [
        (
            row["field"],
            f"{row['fitted']:.0%}",
            f"{row['rate']:,.0f}",
            f"{row['kernel']:,.0f}",
            f"{row['kernel'] / row['rate']:.2f}",
        )
        for row in numbers["rows"]
    ]
    return (
        "Every batch that evolution judges is judged once more by the kernel alone. The ratio is "
        "what breeding, decoding, fitting of constants and book-keeping cost on top; constants "
        "are fitted in the stated share of the offspring.\n\n"
    ) + table(("field", "fitted", "evolution, trees/s", "kernel, trees/s", "ratio"), rows)


EVOLUTION = Part("evolution", "Evolution against the bare kernel", measure, show)
