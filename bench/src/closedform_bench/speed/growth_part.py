"""How seconds and memory grow with points, inputs, terms and latents."""

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from closedform_bench.speed.growth_child import LATENT_INPUTS, LIBRARY_INPUTS
from closedform_bench.speed.growth_fit import fit_growth
from closedform_bench.speed.part import Effort, Numbers, Part
from closedform_bench.speed.tables import table

SIZES: dict[str, tuple[int, ...]] = {
    "points": (10**2, 10**3, 10**4, 10**5, 10**6),
    "inputs": (2, 4, 8, 16, 32, 64),
    "library": (10, 30, 100, 300, 1000, 3000, 10_000),
    "latents": (1, 2, 4, 8),
}
LARGE = {"points": (10**7,)}
"""Sizes that are run only if asked for."""

SHORT: dict[str, tuple[int, ...]] = {"points": (100, 300, 1000), "library": (10, 30, 100)}

STEPS = ("field", "reading", "library", "search")
ROUNDS = 3
"""Processes for each size that takes less than ONCE seconds; of the others one."""

ONCE = 5.0

TITLES = {
    "points": "points (4 inputs)",
    "inputs": "inputs (1,000 points)",
    "library": f"terms ({LIBRARY_INPUTS} inputs)",
    "latents": f"latents ({LATENT_INPUTS} inputs)",
}


def measure(effort: Effort) -> Numbers:
    """Each size in processes of its own."""
    sizes = SHORT if effort.is_short else SIZES
    rows = []
    for kind, numbers in sizes.items():
        for size in (*numbers, *(LARGE.get(kind, ()) if effort.is_large else ())):
            runs = [_run(kind, size)]
            while not effort.is_short and len(runs) < ROUNDS and _seconds(runs[0]) < ONCE:
                runs.append(_run(kind, size))
            middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
            rows.append({"kind": kind, "size": size, **middle})
    return {"rows": rows}


def _run(kind: str, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "closedform_bench.speed.growth_child", kind, str(size)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def _seconds(run: dict[str, float]) -> float:
    return sum(seconds for step, seconds in run.items() if step != "memory")


def exponents(rows: Sequence[Numbers]) -> list[tuple[str, str, str, str, str, str]]:
    """A row of the page for each kind and step: sizes, seconds, and the exponent with its
    interval.
    """
    found = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        mine = [row for row in rows if row["kind"] == kind]
        for step in [key for key in mine[0] if key not in ("kind", "size", "memory")]:
            seconds = [row[step] for row in mine]
            growth = fit_growth([row["size"] for row in mine], seconds)
            found.append(
                (
                    TITLES[kind],
                    step,
                    f"{mine[0]['size']:,} to {mine[-1]['size']:,}",
                    f"{seconds[0]:.2f} to {seconds[-1]:.2f}",
                    f"{growth.exponent:.2f} ({growth.low:.2f} to {growth.high:.2f})",
                    f"{growth.last:.2f}",
                )
            )
    return found


def show(numbers: Numbers, folder: Path) -> str:
    """The exponents."""
    head = ("what grows", "step", "sizes", "seconds", "exponent (95%)", "last two sizes")
    return (
        "Processor seconds grow like a power of the size; the exponent is the slope through the "
        "logarithms of all sizes, with its 95% interval, and between the two largest sizes. The "
        "fields are exact: a determinant at ever more points; x0*(x0 + 2*x1) among ever more "
        "inputs that matter by 1e-9; a library of ever more terms, made (`library`) and searched "
        "for a sum of three (`search`); mixtures of ever more products.\n\n"
        + table(head, exponents(numbers["rows"]))
    )


def show_sizes(numbers: Numbers, folder: Path) -> str:
    """Every size with its memory."""
    lines = [
        (
            TITLES[row["kind"]],
            f"{row['size']:,}",
            *(f"{row[step]:.2f}" if step in row else "" for step in STEPS),
            f"{row['memory']:,.0f}",
        )
        for row in numbers["rows"]
    ]
    return (
        "Each size ran in processes of its own; memory is the most that one had, Python and "
        "the packages included.\n\n"
        + table(("what grows", "size", *(f"{step}, s" for step in STEPS), "memory, MB"), lines)
    )


GROWTH = Part("growth", "Growth with size", measure, show)
EVERY_SIZE = Part("growth", "Growth with size, every size", measure, show_sizes)
"""The same measurement in full."""
