"""The suites `paper` and `speed` in the words of the benchmark; what they measure is measured
elsewhere.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from closedform.expressions.parse import parse
from closedform.expressions.tape import compile_tapes
from closedform.field.alignment.comparison import prepare
from closedform_bench.invariants.field_track import FieldTask
from closedform_bench.invariants.outcome import Row
from closedform_bench.invariants.system import System
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.reproduction import ReproductionSettings, reproduce

SPEED_SYSTEMS = ("sir", "saddle", "nose-hoover", "quadratic-form", "rock-paper-scissors")
"""Systems whose reading is timed: all are found by the first search."""

KERNEL = "kernel"
_KERNEL_FORMULA = "(x*y - z**2)*sin(w) + exp(x/2) - y*sqrt(w**2 + z**2)/(1 + x**2)"
_N_TREES, _N_POINTS, _ROUNDS = 1000, 256, 15


def read_experiment(number: int, budget: float, seed: int) -> Row:
    """One of the paper's experiments from its shipped network."""
    outcome = reproduce(
        number, ReproductionSettings("checkpoint", Path(), budget=budget, seed=seed)
    )
    row = outcome.row()
    is_claimed = row["verdict"] == "verified"
    is_right = outcome.score.is_recovered
    return Row(
        name=EXPERIMENTS[number].name,
        dim=len(EXPERIMENTS[number].inputs),
        expected=[row["expected"]],
        found=[row["found"]] if is_claimed and row["found"] is not None else [],
        recovered=int(is_claimed and is_right),
        of=1,
        false=int(is_claimed and not is_right),
        seconds=round(row["search_seconds"] or 0.0, 2),
        seed=seed,
        rank=1,
        verdict=row["verdict"],
        outside=[outcome.score.misalignment] if is_claimed else [],
        unclaimed=[]
        if is_claimed
        else [
            {"concept": row["found"], "why": row["verdict"], "outside": outcome.score.misalignment}
        ],
    )


def time_reading(system: System, budget: float, seed: int) -> Row:
    """Read a clean field without a lower limit of time: seconds are what counts."""
    return FieldTask(0.0, budget, seed).run(system)


def time_kernel(seed: int) -> Row:
    """Seconds in which the compiled kernel judges a thousand formulas of 24 nodes at 256 points of
    four inputs.
    """
    rng = np.random.default_rng(seed)
    points, directions = rng.normal(size=(2, _N_POINTS, 4))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    comparison = prepare(points, directions[:, :, None])
    tapes = compile_tapes([parse(_KERNEL_FORMULA, ["x", "y", "z", "w"]).tree] * _N_TREES)
    comparison.misalignments(tapes)
    seconds = statistics.median(
        _timed(lambda: comparison.misalignments(tapes)) for _ in range(_ROUNDS)
    )
    return Row(
        name=KERNEL, dim=4, expected=[], found=[], recovered=0, of=0, false=0,
        seconds=round(seconds, 5), seed=seed, rank=1,
        verdict="none", outside=[], unclaimed=[],
    )  # fmt: skip


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
