"""A reading against the sum of its parts, and where its time goes."""

from pathlib import Path

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.gradient_field import GradientField
from closedform.judge.select_stage import select
from closedform.judge.verify_stage import verify
from closedform.reading.one_field import compile_all, interpret_field
from closedform.reading.settings import SEARCH_SHARE
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.search_stage import search
from closedform_bench.speed.icicle import draw_icicle
from closedform_bench.speed.known_fields import FIELDS, TimedField
from closedform_bench.speed.part import Effort, Numbers, Part
from closedform_bench.speed.stacks import StackSampler, innermost, tree_of
from closedform_bench.speed.tables import table
from closedform_bench.speed.timing import timed

BUDGET = Budget(seconds=30.0)
"""Of the processor; these readings end long before."""

N_POINTS = 1000
STAGES = ("field", "search", "select", "verify")
PICTURE = "images/speed_icicle.svg"
LEAST, MOST_NAMED = 0.01, 4
"""Smallest share that the picture shows, and functions that the page names."""


def measure(effort: Effort) -> Numbers:
    """Read fields as a whole and step by step, in turn; then once more with a look at the stack."""
    names = ["determinant"] if effort.is_short else list(FIELDS)
    rounds = 1 if effort.is_short else 5
    compile_all()
    with processor_seconds():
        rows = [{"name": name, **_least(FIELDS[name], rounds)} for name in names]
        with StackSampler() as sampler:
            for name in names:
                read_whole(FIELDS[name], *_arrays(FIELDS[name]))
    return {
        "rows": rows,
        "tree": tree_of(sampler.stacks, LEAST),
        "innermost": innermost(sampler.stacks)[:MOST_NAMED],
    }


def _arrays(known: TimedField) -> tuple[FloatArray, FloatArray]:
    points = known.points(N_POINTS)
    return points, known.concept.gradient(points)


def _least(known: TimedField, rounds: int) -> dict[str, float]:
    """Seconds of the whole and of each step, the least of several rounds after a first one."""
    arrays = _arrays(known)
    read_whole(known, *arrays)
    seconds = [
        {"whole": timed(lambda: read_whole(known, *arrays))[0]} | read_in_steps(known, *arrays)
        for _ in range(rounds)
    ]
    return {key: min(one[key] for one in seconds) for key in seconds[0]}


def read_whole(known: TimedField, points: FloatArray, gradients: FloatArray) -> None:
    """From arrays to an answer, as users do it."""
    field = GradientField.from_arrays(points, gradients, names=known.names)
    interpret_field(field, budget=BUDGET, rng=0, progress=False)


def read_in_steps(known: TimedField, points: FloatArray, gradients: FloatArray) -> dict[str, float]:
    """Processor seconds of each step, with the seeds and budgets of a reading."""
    first, second, third = np.random.default_rng(0).spawn(3)
    making, field = timed(lambda: GradientField.from_arrays(points, gradients, names=known.names))
    searching, found = timed(
        lambda: search(field, budget=BUDGET.share(SEARCH_SHARE), rng=first, progress=False)
    )
    selecting, selection = timed(lambda: select(found, field, rng=second))
    verifying, _ = timed(
        lambda: verify(
            selection, field, budget=BUDGET.share(1 - SEARCH_SHARE), rng=third, progress=False
        )
    )
    return dict(zip(STAGES, (making, searching, selecting, verifying), strict=True))


def show(numbers: Numbers, folder: Path) -> str:
    """A table, a picture, and the functions in which most time is spent."""
    rows = [
        (
            row["name"],
            f"{row['whole']:.2f}",
            *(f"{row[stage]:.2f}" for stage in STAGES),
            f"{row['whole'] / sum(row[stage] for stage in STAGES):.2f}",
        )
        for row in numbers["rows"]
    ]
    draw_icicle(numbers["tree"], folder / PICTURE)
    return (
        f"{N_POINTS:,} points from arrays to the verdict (`GradientField.from_arrays` and "
        "`interpret_field`), against its steps called one by one with the same seeds; processor "
        "seconds.\n\n"
        + table(("concept", "whole", *STAGES, "whole / sum"), rows)
        + "\nThe picture shows which function called which; the width is the share of processor "
        "time.\n\n"
        f"```{{image}} {PICTURE}\n"
        ":alt: Which function of a reading called which, by share of processor time\n"
        ":width: 100%\n```\n"
    )


READING = Part("reading", "A reading against the sum of its parts", measure, show)
